#!/usr/bin/env python3
"""Usage: .ci/libraries.py [PART...]   The OCaml libraries of Debian 12.

  programs  Builds and runs the programs of tests/users/libraries. Each uses a library from Rust, without OCaml code of its own.

FILTER=re,sqlite3 picks programs. OCAMLOPT is Debian's, /usr/bin/ocamlopt, unless it is set.
"""
import os
from pathlib import Path
from support import ROOT, attempt, fail, main, passed, say

os.environ.setdefault("OCAMLOPT", "/usr/bin/ocamlopt")
PROGRAMS = Path("tests/users/libraries")
SETTINGS = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
CRATES = "ocaml-boxroot", "ocaml-boxroot-sys"


def picked(names):
    chosen = [name for name in os.environ.get("FILTER", "").split(",") if name]
    return [name for name in names if name in chosen or not chosen]


def built(manifest, crate):
    """The status of a program's run, and what it and cargo printed."""
    patches = [word for name in CRATES for word in ("--config", f'patch.crates-io.{name}.path="{ROOT / name}"')]
    return attempt("cargo run -q --target-dir target/libraries --manifest-path", manifest, "-p", crate, patches, env=SETTINGS)


def programs():
    failed = []
    for name in picked(sorted(path.parent.name for path in PROGRAMS.glob("*/Cargo.toml"))):
        status, output = built(PROGRAMS / "Cargo.toml", f"uses-{name}")
        if status == 0:
            passed(f"a program with {name}")
        else:
            failed.append(name)
            say(f"a program with {name}: failed: {status}\n{output}")
    if failed:
        fail(f"programs that failed: {', '.join(failed)}")


main({"programs": programs})

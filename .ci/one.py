#!/usr/bin/env python3
"""Runs all tests of one name: `make one T=many_roots_survive`. The name is that of a function, of a program in tests/users/async, or
of a mutant in boxroot-c/test/mutants. RUNS=200 repeats a test of tests/c_api or tests/safe, each time in a new process. Needs
OCAMLOPT."""
import re, sys
from support import fail, run, say, tracked

FUNCTION = r"\bfn {}\("
PLACES = (
    # files, the pattern that defines a test there, the command
    ("tests/c_api/*.rs", r"\btest!\(\s*{}\b", "cargo test -q --test c_api -- {name}"),
    ("tests/safe/model.rs", FUNCTION, "cargo test -q --test {stem} -- {name}"),
    ("tests/safe/shared.rs", FUNCTION, "cargo test -q --test {stem} -- {name}"),
    ("tests/safe/*.rs", r"\btest!\(\s*{}\b", "cargo test -q --test safe -- {name}"),
    ("boxroot-c/test/test_*.c", r"^void test_{}\(", "make -s --no-print-directory -C boxroot-c one T={name}"),
    ("boxroot-c/test/mutants/*.patch", None, "make --no-print-directory mutants ONLY=named FILTER={name}"),
    ("ocaml-boxroot/src/*.rs", FUNCTION, "cargo test -q -p ocaml-boxroot --features link-runtime --lib -- {name}"),
    ("ocaml-boxroot/tests/*.rs", FUNCTION, "cargo test -q -p ocaml-boxroot --features link-runtime --test {stem} -- {name}"),
    ("ocaml-boxroot-sys/tests/bindings/*.rs", FUNCTION,
     "cargo test -q -p ocaml-boxroot-sys --features build --test bindings -- {name}"),
    ("ocaml-boxroot-sys/tests/*.rs", FUNCTION, "cargo test -q -p ocaml-boxroot-sys --features build --test {stem} -- {name}"),
    ("tests/users/interop/ocaml-*/*.rs", FUNCTION,
     "cargo test -q --manifest-path {folder}/Cargo.toml --target-dir target/interop -- {name}"),
    ("tests/users/async/*.rs", None, "cargo test -q --manifest-path {folder}/Cargo.toml --target-dir target/async --test {name}"),
)


def defined(path, pattern):
    """The names of the tests in a file."""
    if pattern is None:
        return {path.stem}
    text = path.read_text()
    if pattern == FUNCTION:
        return set(re.findall(r"#\[test\]\s+" + pattern.format(r"(\w+)").removeprefix(r"\b"), text))
    return set(re.findall(pattern.format(r"(\w+)"), text, re.M))


def main(name):
    commands, similar, seen = [], set(), set()
    for files, pattern, command in PLACES:
        for path in tracked(files):
            if path in seen:  # git's * also matches folders: the first row that matches counts
                continue
            seen.add(path)
            names = defined(path, pattern)
            if name in names:
                commands.append(command.format(name=name, stem=path.stem, folder=path.parent))
            similar |= {n for n in names if name in n}
    if not commands:
        fail(f"no test is called {name!r}" + (f"; there are {', '.join(sorted(similar))}" if name and similar else ""))
    for command in commands:
        say(f"one: {command}")
        run(command, shown=True)


main(sys.argv[1] if len(sys.argv) > 1 else "")

#!/usr/bin/env python3
"""Usage: .ci/defects.py VERSION...   Finds out which of OCaml's defects (docs/known-of-ocaml.md) the programs in tests/ocaml_defects
still show.

Prints a table: a row for each program, a column for each version. Fails if a defect is seen on a version that its program does
not list, or is missing on one that it lists (unless it is marked "By chance"). FILTER=NAME,... picks programs.

The first comment of a program has fields. "Seen: 5.0-5.4" lists versions, or ranges; "glibc 2.43" means from that version on.
"Effect: crash" tells how the program ends if OCaml has the defect: crash (by a signal), hang (for ten seconds), or wrong (with a
status other than 0). "By chance" means that a run may miss it. "Compile:" has options of ocamlopt, "Run:" has variables,
"Memory:" has a limit in KiB. A program that names Domain or Effect is for OCaml 5. NAME_stubs.c, NAME_lexer.mll and
NAME_parser.mly belong to NAME.ml.
"""
import contextlib, os, platform, re, shutil, signal, sys
from pathlib import Path
from support import ROOT, attempt, fail, run, say, scratch

PROGRAMS = ROOT / "tests/ocaml_defects"


def numbers(version):
    return [int(part) for part in version.split(".")]


def listed(seen, version):
    """Whether a list of versions, such as "5.0-5.4 5.5.1", includes this version."""
    versions, _, glibc = seen.partition(" glibc ")
    if glibc and numbers(platform.libc_ver()[1]) < numbers(glibc):
        return False
    for item in versions.split():
        first, _, last = item.partition("-")
        last = numbers(last or first)
        if numbers(first) <= numbers(version) and numbers(version)[:len(last)] <= last:
            return True
    return False


def compiled(name, tools, options):
    """Compiles the program in the current folder."""
    for file in PROGRAMS.glob(f"{name}*"):
        shutil.copy(file, ".")
    others = []
    if Path(f"{name}_stubs.c").exists():
        others.append(f"{name}_stubs.c")
    if Path(f"{name}_lexer.mll").exists():
        run(tools / "ocamllex", "-q", f"{name}_lexer.mll")
        others.append(f"{name}_lexer.ml")
    if Path(f"{name}_parser.mly").exists():
        run(tools / "ocamlyacc", f"{name}_parser.mly")
        others += [f"{name}_parser.mli", f"{name}_parser.ml"]
    run(tools / "ocamlopt", options, "-I +unix -I +threads -I +str unix.cmxa threads.cmxa str.cmxa", others, f"{name}.ml -o program")


def cell(name, version, tools):
    """The table's entry for a program on a version. Capital letters mean that the program's list is wrong."""
    text = Path(PROGRAMS, f"{name}.ml").read_text()
    comment = text.partition("*)")[0]
    fields = dict(re.findall(r"(\w+): (.*?)\. ", comment))
    if version.startswith("4.") and re.search(r"\b(Domain|Effect)\.", text):
        return "–"
    with scratch():
        compiled(name, tools, fields.get("Compile", "").split())
        limit = f"ulimit -c 0; ulimit -v {fields.get('Memory', 'unlimited')}; echo $$ >group; exec ./program"
        variables = dict(part.split("=", 1) for part in fields.get("Run", "").split())
        seconds = 10 if fields["Effect"] == "hang" else 120
        status, output = attempt("bash -c", [limit], timeout=seconds, env=variables, start_new_session=True)
        with contextlib.suppress(ProcessLookupError):  # none of its children is left
            os.killpg(int(Path("group").read_text()), signal.SIGKILL)
    effect = "hang" if status is None else "crash" if status < 0 else "wrong" if status else None
    if effect and effect not in fields["Effect"].split():
        fail(f"{name} on {version}: {effect} ({status}), which its first comment does not name\n{output}")
    if listed(fields["Seen"], version):
        return "seen" if effect else "not seen this time" if "By chance" in comment else "NOT SEEN"
    return "SEEN" if effect else "not seen"


names = sorted(file.stem for file in PROGRAMS.glob("*.ml"))
names = [name for name in names if name in os.environ.get("FILTER", ",".join(names)).split(",")]
toolchains = {version: Path(run(".ci/toolchain", version, stderr=None).strip()).parent for version in sys.argv[1:]}
say(f"| defect | {' | '.join(toolchains)} |\n|{'---|' * (len(toolchains) + 1)}")
failures = 0
for name in names:
    row = " | ".join(cell(name, version, tools) for version, tools in toolchains.items())
    failures += row.count("SEEN")
    say(f"| {name} | {row} |")
if failures:
    fail(f"{failures} differ from what the programs list")

#!/usr/bin/env python3
"""Usage: .ci/coverage.py VERSION...   Finds the lines of boxroot-c/src and of its inlined functions that the tests do not run.

Runs the tests of `make test` that compile these files, on each version of OCaml, the unit tests, and the mistakes. A line counts as
run if it ran on one of the versions. Prints a table, and the lines that did not run. Fails below 98 %. Needs gcc and gcov.
"""
import json, os, re, sys
from pathlib import Path
from subprocess import DEVNULL
from support import ROOT, run, say

LEAST = 98
FOLDER = ROOT / "target/coverage"
LIBRARY = ROOT / "boxroot-c"
FLAGS = "-O0 --coverage -fprofile-update=atomic"

# Processes that call _exit after a fork also count, and so do processes that a mistake aborts.
EXIT = """
extern void __gcov_dump(void), __real__exit(int), __real_abort(void);
void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
void __wrap_abort(void) {
  __gcov_dump();
  __real_abort();
}
"""
LINK = "--coverage", "-Wl,--wrap=_exit,--wrap=abort", str(FOLDER / "exit.o")
# gcov reports some declarations as code that never runs.
DECLARATION = re.compile(r"\s*(struct \w+ \*?\w+;|\w+ \w+;|union \{|\(void\)\w+;)")


def run_tests(version):
    os.environ["OCAMLOPT"] = ocamlopt = run(".ci/toolchain", version, stderr=None).strip()
    host = re.search(r"^host: (.*)", run("rustc -vV"), re.M).group(1)
    link = ", ".join(f"'-Clink-arg={flag}'" for flag in LINK)

    def cargo(tests):
        run(f"cargo test --quiet --target {host} --target-dir", FOLDER / version, ["--config", f"target.{host}.rustflags=[{link}]"],
            tests, timeout=3000, env={"CC": "gcc", "CFLAGS": FLAGS})

    def build(*programs):
        folder = FOLDER / f"unit-{version}"
        programs = [folder / program for program in programs]
        run(["make", "--no-print-directory", "-s", "-C", LIBRARY, f"BUILD={folder}", f"CC=gcc {FLAGS}", "LEVEL=-O0",
             " ".join([f"OCAMLOPT={ocamlopt}", *(f"-ccopt {flag}" for flag in LINK)]), *programs])
        return programs

    cargo("--test c_api --test safe --test model")
    cargo("--features debug-checks --test safe")
    run(build("unit"))
    if version.startswith("4."):
        run(build("thread_exit/thread_exit"))
    run("python3", LIBRARY / "test/mistakes/mistakes.py", build("mistakes/plain", "mistakes/checked"), "none")


def counted():
    """How often each line ran, by file and number."""
    counts = {}
    for data in sorted(FOLDER.rglob("*.gcda")):
        for document in run("gcov --json-format --stdout", data, stderr=DEVNULL, cwd=data.parent).splitlines():
            unit = json.loads(document)
            for file in unit["files"]:
                path = Path(unit["current_working_directory"], file["file"]).resolve()
                if LIBRARY / "src" not in path.parents and LIBRARY / "include" not in path.parents:
                    continue
                lines = counts.setdefault(path, {})
                for line in file["lines"]:
                    lines[line["line_number"]] = lines.get(line["line_number"], 0) + line["count"]
    return counts


def report(counts):
    """Prints the table and the lines that did not run. Returns whether these are few enough."""
    missed, total, covered = [], 0, 0

    def row(name, lines, ran):
        say(f"| {name} | {lines} | {ran} | {100 * ran / lines:.1f} % |")

    say("\n| file | lines | run | |\n|---|---|---|---|")
    for path, lines in sorted(counts.items()):
        name = path.relative_to(LIBRARY)
        text = path.read_text().splitlines()
        lines = {number: count for number, count in lines.items() if count or not DECLARATION.match(text[number - 1])}
        ran = sum(count > 0 for count in lines.values())
        row(f"`{name}`", len(lines), ran)
        total, covered = total + len(lines), covered + ran
        missed += [f"{name}:{number}: {text[number - 1].strip()}" for number in sorted(lines) if lines[number] == 0]
    row("all", total, covered)
    say("\n" + "\n".join(missed))
    return 100 * covered >= LEAST * total


FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.rglob("*.gcda"):
    old.unlink()
run("gcc -O1 -fPIC -x c -c - -o", FOLDER / "exit.o", input=EXIT)
for version in sys.argv[1:]:
    run_tests(version)
say(f"OCaml {', '.join(sys.argv[1:])}; {run('gcc --version').splitlines()[0]}")
sys.exit(not report(counted()))

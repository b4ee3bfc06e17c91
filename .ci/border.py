#!/usr/bin/env python3
"""Usage: .ci/border.py [PART]   The costs of calls and conversions, with our crate and with two others.

  instructions  Counts the instructions of each measure of benches/border with valgrind, and prints
                a table. Fails if ours takes 2 % more than in the table of docs/instructions, which
                UPDATE=1 replaces.
  times         Compares times. Only prints a table.
  programs      Builds the programs. Prints the name of each crate, and the path of its program.

FILTER=list picks the measures whose names contain `list`. Needs OCAMLOPT.
"""
import math, os, re, resource, statistics, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from support import fail, need, ocaml, run, say, version

OURS = "ours"
# Each crate, and its folder in benches/border. ocaml-interop is for OCaml 5 only.
CRATES = {OURS: "ours", "ocaml-interop": "ocaml_interop", "ocaml": "ocaml_rs"}
if version().startswith("4"):
    del CRATES["ocaml-interop"]
TABLE = Path(f"docs/instructions/border-{version()}.md")
SLACK = 1.02
ROUNDS = 7
# The minor heap is small, so that each measure that allocates much includes collections.
ENVIRONMENT = {"OCAMLRUNPARAM": "s=32k"}


def number(measure):
    """The number of runs of a measure that makes its count exact."""
    kinds = {"1M": 8, "records_1000": 30, "list|floats|panic": 200}
    return next((n for kind, n in kinds.items() if re.search(kind, measure)), 2000)


def build(folder):
    """The program in a folder of benches/border."""
    target = Path(f"target/border/{version()}/{folder}")
    # The crates find OCaml in different ways.
    environment = {"PATH": f"{ocaml().parent}:{os.environ['PATH']}", "OCAMLOPT": str(ocaml())}
    manifest = Path(f"benches/border/{folder}/Cargo.toml")
    run("cargo build -q --release --target-dir", target, "--manifest-path", manifest,
        env=environment)
    return target.resolve() / "release" / f"border-{folder}"


def counted(program, measure, n):
    # A file that valgrind may overwrite, and that is never read.
    with tempfile.TemporaryDirectory() as folder:
        output = run("valgrind --tool=callgrind", [f"--callgrind-out-file={folder}/out"], program,
                     measure, str(n), env=ENVIRONMENT, timeout=300)
    return int(re.search(r"Collected : (\d+)", output)[1])


def counted_once(program, measure):
    """The instructions of one operation: the difference of two runs, so that work that happens once does not count."""
    n = number(measure)
    return (counted(program, measure, 2 * n) - counted(program, measure, n)) / n


def timed(program, measure, n):
    """The processor time of a run, in nanoseconds for each operation."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    run(program, measure, str(n), env=ENVIRONMENT, timeout=300)
    return (spent() - before) / n * 1e9


def in_turn(programs, measure):
    """The times of each program in some rounds. The programs take turns."""
    n = number(measure)
    while timed(next(iter(programs.values())), measure, n) * n < 1e8:
        n *= 2
    times = {crate: [] for crate in programs}
    for _ in range(ROUNDS):
        for crate, program in programs.items():
            times[crate].append(timed(program, measure, n))
    return times


def counts(pool, programs, measure):
    """The future count of each program."""
    return {crate: pool.submit(lambda program=program: [counted_once(program, measure)])
            for crate, program in programs.items()}


def table(unit, found):
    """The rows, and the geometric mean of the ratios of ours to the best of the others."""
    lines = [f"| {unit} | {' | '.join(CRATES)} | ours/best |", "|---" * (len(CRATES) + 2) + "|"]
    ratios = []
    for measure, figures in found.items():
        medians = {crate: statistics.median(figures[crate]) for crate in figures}
        cells = [f"{medians[crate]:.1f}" if crate in medians else "" for crate in CRATES]
        others = [crate for crate in figures if crate != OURS]
        ratio = ""
        if others and OURS in figures:
            best = figures[min(others, key=medians.get)]
            ratios.append(statistics.median(a / b for a, b in zip(figures[OURS], best)))
            ratio = f"{ratios[-1]:.2f}"
        lines.append(f"| {measure} | {' | '.join(cells)} | {ratio} |")
    if ratios:
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        lines.append(f"| geometric mean |{' |' * len(CRATES)} {mean:.2f} |")
    return "\n".join(lines) + "\n"


def head():
    rustc, cc = run("rustc --version").split()[1], run("cc --version").splitlines()[0]
    return f"""# Calls and conversions, OCaml {version()}

Made by `make bench-instructions ONLY=border OCAML={version()} UPDATE=1` with rustc {rustc} and
{cc}, on {os.uname().machine}: instructions per operation, with ours, `ocaml-interop`
0.12.0 and `ocaml` 1.3.0. [Benchmarks](../benchmarks/README.md#calls-and-conversions) explains
the measures.

"""


def compare(found):
    """Fails if ours takes more instructions than in the repository's table."""
    if not TABLE.exists():
        fail(f"there is no {TABLE} to compare with; UPDATE=1 makes it")
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \|", TABLE.read_text(), re.M)
    limits = {name: float(count) for name, count in rows}
    problems = []
    for name, figures in found.items():
        [count] = figures.get(OURS, [0])
        if name in limits and count > SLACK * limits[name]:
            problems.append(f"{name} takes {count:.1f}, and took {limits[name]}")
    if problems:
        fail("\n".join([*problems, f"If this is intended, UPDATE=1 replaces {TABLE}."]))


def measures(programs):
    """The measures that FILTER picks: for each, the programs that have it."""
    part, having = os.environ.get("FILTER", ""), {}
    for crate, program in programs.items():
        for measure in run(program, "--list").split():
            if part in measure:
                having.setdefault(measure, {})[crate] = program
    return having or fail(f"no measure has {part!r} in its name")


def instructions(programs):
    need("valgrind", "apt-get install valgrind")
    replaces = os.environ.get("UPDATE", "")
    if replaces and os.environ.get("FILTER", ""):
        fail("UPDATE=1 replaces the whole table: leave out FILTER")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {measure: counts(pool, these, measure)
                   for measure, these in measures(programs).items()}
        found = {measure: {crate: future.result() for crate, future in these.items()}
                 for measure, these in futures.items()}
    text = table("instructions", found)
    say(text)
    if replaces:
        TABLE.write_text(head() + text)
    else:
        compare(found)


def times(programs):
    found = {measure: in_turn(these, measure) for measure, these in measures(programs).items()}
    say(table("nanoseconds", found).rstrip())


def paths(programs):
    for crate, program in programs.items():
        say(f"{crate} {program}")


def main():
    parts = {"instructions": instructions, "times": times, "programs": paths}
    [part] = sys.argv[1:] or ["instructions"]
    if part not in parts:
        fail(f"no part {part}; there are {', '.join(parts)}")
    parts[part]({crate: build(folder) for crate, folder in CRATES.items()})


main()

"""Named mutants: the patches of boxroot-c/test/mutants. Each breaks one rule, and its first lines say:

    Breaks: the rule
    OCaml: the versions to use: 5, or from a minor version on (5.2), or up to one (5-5.4)
    Fails: NAME                the test of tests/c_api that must fail
    Found-by: fuzz stress      the random testers that also find it
"""
import concurrent.futures, os, shutil, sys, time

import support
from programs import (C, NEEDS_DEBUG_INFORMATION, OCAMLOPT, VERSION, WORK, build_c_tests, build_rust_tests, compile_all,
                      compile_copy, copy_sources, limits, link_c_tests, link_rust_tests, run, rust_tests)
from support import attempt

PATCHES = C / "test/mutants"
CLEAN = WORK / "clean-named"
# Two pools are enough for a hand-over, because many tests have few roots.
FLAGS = ["-DBXR_HAND_OVER_FROM=2"]
RUNS = 3


def numbers(version):
    return tuple(map(int, version.split(".")))


class Mutant:
    def __init__(self, path):
        head, _, _ = path.read_text().partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        self.path, self.name, self.changed = path, path.stem, None
        self.breaks, self.found_by = fields.pop("Breaks"), fields.pop("Found-by", "").split()
        self.first, _, self.last = fields.pop("OCaml").partition("-")
        self.test = fields.pop("Fails")
        assert not fields, f"{path}: what is {fields}?"

    def is_for_this_ocaml(self):
        last = numbers(self.last or self.first[0])
        here = numbers(VERSION)
        return numbers(self.first) <= here and here[: len(last)] <= last

    def apply(self, folder):
        """The files that the patch changes, in a copy of include and src; None if it does not apply."""
        status, output = attempt("patch -p2 -F0 --no-backup-if-mismatch -d", folder, "-i", self.path)
        if status:
            print(f"mutants: {self.name} does not apply:\n{output}", file=sys.stderr)
            return None
        return [C / line.split()[2] for line in output.splitlines() if line.startswith("patching file")]


def applying(mutants):
    """Whether all patches apply. Prints those that do not."""
    folder = WORK / "applies"
    for mutant in mutants:
        copy_sources(folder)
        mutant.changed = mutant.apply(folder)
    shutil.rmtree(folder)
    return all(mutant.changed for mutant in mutants)


# ---- the tests that must fail ----


def link(objects, folder):
    program = folder / "test.exe"
    assert link_rust_tests(objects, program), f"{folder.name}: the tests do not link"
    return program


class Baseline:
    """The tests without a fault: the command and the time of each."""

    def __init__(self, mutants):
        objects = compile_all(CLEAN, FLAGS)
        build_rust_tests()
        folder = WORK / "baseline-named"
        folder.mkdir(exist_ok=True)
        program = link(objects, folder)
        self.names = {name.split("::")[-1]: name for name in rust_tests(program)}
        self.times, self.broken = {}, []
        for test in {mutant.test: None for mutant in mutants}:
            end, cpu, wall = run(self.command(test, program), 600, 600, folder=folder)
            self.times[test] = cpu, wall
            if end:
                self.broken.append(f"{test} {end} without a fault")

    def command(self, test, program):
        return [program, "--exact", self.names[test]]

    def limits(self, test):
        return limits(*self.times[test])


def notice(mutant, baseline):
    """The run in which the mutant's test fails, and how it fails; or that it does not fail."""
    folder = WORK / mutant.name
    try:
        copy_sources(folder)
        mutant.apply(folder)
        compiled = compile_copy(folder, mutant.changed, CLEAN, FLAGS)
        assert compiled is not None, f"{mutant.name} does not compile"
        command = baseline.command(mutant.test, link(compiled[0], folder))
        for number in range(1, RUNS + 1):
            end, _, _ = run(command, *baseline.limits(mutant.test), folder=folder)
            if end:
                return True, f"{mutant.test}: {end} in run {number} of {RUNS}"
        return False, f"{mutant.test}: passes"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- the random testers that also find it ----

LIMIT = int(os.environ.get("LIMIT") or 120)  # seconds for each


def fuzz(mutant):
    folder = WORK / f"fuzz-{mutant.name}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(C, folder, ignore=shutil.ignore_patterns("build"))
    mutant.apply(folder)
    build = folder / "build" / VERSION / "fuzz"
    support.run("make -s -C", folder, "fuzz-driver", [f"OCAMLOPT={OCAMLOPT}"])
    end, _, wall = run([build / "driver", "1000000000000"], LIMIT, LIMIT, folder=build, memory=None)
    shutil.rmtree(folder)
    return end == "fails", f"fuzz: {wall:.0f} s"


def walk_settings(seed):
    """Settings of a walk: one domain or several, with or without lives and a teardown."""
    kind = seed % 4
    return {"SEED": seed, "ROOTS": 8000, "DOMAINS": 1 + seed % 3, "THREADS": seed % 2, "LOCKLESS": 1, "PERIODS": 12,
            "LIVES": 50 if kind == 1 else 0, "TEARDOWN": kind // 2, "OPERATIONS": 60000 if kind // 2 else 300000}


def stress(mutant):
    folder = WORK / f"stress-{mutant.name}"
    copy_sources(folder)
    mutant.apply(folder)
    objects, _ = compile_copy(folder, mutant.changed, CLEAN, FLAGS)
    program = folder / "stress.exe"
    assert link_c_tests("stress", objects, program), f"{mutant.name}: the walk does not link"
    start, seed, end = time.monotonic(), 0, None
    while not end and time.monotonic() - start < LIMIT:
        seed += 1
        environment = {name: str(number) for name, number in walk_settings(seed).items()}
        end, _, _ = run([program], 120, 60, environment, folder)
    shutil.rmtree(folder)
    return end is not None, f"stress: seed {seed}, {time.monotonic() - start:.0f} s"


# ---- all ----


def without_ranges():
    """Checks that the tests also pass if each root is marked alone, except tests that need barrier hits."""
    folder = WORK / "slot-by-slot"
    program = link(compile_all(folder, ["-DBXR_MARK_SLOT_BY_SLOT"]), folder)
    skipped = ("barrier_hits_are_counted", "deletes_wait_for_the_marker", "modify_moves_a_root", "short_cycles",
               NEEDS_DEBUG_INFORMATION)
    status, output = attempt(program, *(f"--skip {name}" for name in skipped))
    result = [line for line in output.splitlines() if "test result" in line]
    print(f"slot by slot: {output if status else result[0]}")
    return status == 0


def main(tester=None):
    """Tries the mutants with the tests, or with a random tester those that it should find."""
    mutants = [Mutant(path) for path in sorted(PATCHES.glob("*.patch"))]
    if not applying(mutants):
        return 1
    chosen = [m for m in mutants if m.is_for_this_ocaml() and os.environ.get("FILTER", "") in m.name]
    if tester:
        chosen = [mutant for mutant in chosen if tester in mutant.found_by or os.environ.get("FILTER")]
    if tester == "fuzz":
        check = fuzz
    elif tester == "stress":
        compile_all(CLEAN, FLAGS)
        build_c_tests()
        check = stress
    else:
        baseline = Baseline(chosen)
        if baseline.broken:
            print("\n".join(baseline.broken), file=sys.stderr)
            return 1
        check = lambda mutant: notice(mutant, baseline)
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
        for mutant, (noticed, how) in zip(chosen, pool.map(check, chosen)):
            missed += not noticed
            print(f"{mutant.name}: {how}{'' if noticed else ' (nothing notices that this is broken: ' + mutant.breaks + ')'}", flush=True)
    print(f"OCaml {VERSION}: {len(chosen) - missed} mutants are noticed, {missed} are not")
    ranges = tester or VERSION[0] == "4" or without_ranges()
    return 0 if ranges and not missed else 1

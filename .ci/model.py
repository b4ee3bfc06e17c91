#!/usr/bin/env python3
"""Usage: .ci/model.py [FILTER]   Checks the models of boxroot-c/test/model: each configuration must hold, each mutant must be found.

With FILTER, checks only the lines of `.ci/model.py --list` that match this pattern. JOBS=2 checks two at a time; LIMIT is the
time for one, in seconds. Needs spin, a C compiler, and cargo; no OCaml.
"""
import os, re, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from support import ROOT, attempt, fail, need, run, say

MODELS = ROOT / "boxroot-c/test/model"
WEAK = ROOT / "target/model/release/boxroot-model-weak"
LIMIT = int(os.environ.get("LIMIT") or 900)

# ---- what is checked ----

POOL = "ONE_POOL=1 BATCHES=1 LIVENESS=1"
DOMAINS = "OWNER2=1 SLOTS=1"
TEARDOWN = "SLOTS=1 YOUNG=1 TEARDOWN=1 BATCHES=1"
# A model; a configuration of it that holds; its definitions; and its mutants. Each mutant adds a definition, or several with a +
# between them. SEEN_... is a witness: it is found because the event happens. Rows without the name of a configuration have only
# mutants. In `remote` (deletes), A1 and B1 are the slots, as bits, that deleter 1 deletes in pools 1 and 2.
SPIN = [
    ("remote", "three deleters of one pool, three domains end", "A1=1 A2=2 A3=4 ENDS=3", ""),
    ("remote", "two deleters of two pools, records come back", "A1=1 A2=2 B1=1 B2=2 ENDS=2", ""),
    ("remote", "two deleters of two pools, drains stop early", "A1=1 A2=2 B1=1 B2=2 ENDS=2 STOPS=1", "FORGETS_TAKEN"),
    ("remote", "pools of two records", "A1=1 A2=2 B3=1 OWNER2=1 ENDS=2", ""),
    ("remote", "batches", "A1=3 A2=4 B3=1 SPLIT=1 ENDS=1", "ANNOUNCE_ONE NO_FLUSH"),
    ("remote", "a pool is unmapped, and mapped again", "A1=1 A2=2 A3=4 LATE=1 ENDS=2", "SEEN_REMAPPING"),
    ("remote", "fork", "A1=1 A2=2 B3=1 FORK=1 ENDS=1", "FORK_KEEPS_LISTS FORK_KEEPS_COUNTS FORK_FORGETS_LISTS"),
    # These two changes are not mutants, because the model holds with them: unmapping ignores `announced` (an empty pool has none,
    # as is asserted), and a deleter that pushes a pool posts its bits before the push.
    ("remote", "three deleters of two pools, records come back", "A1=1 A2=2 B3=1 ENDS=2",
     "NO_RESCUE NO_REREAD NO_MERGES COUNT_BEFORE_OWNERS COUNT_LAST NO_ORPHAN_DRAIN BIT_FIRST NO_PUT_BACK PUSH_ALWAYS "
     "DRAIN_ANY_OWNER RESCUE_DROPS_REST UNMAP_PENDING SEEN_RESCUE"),
    ("remote", "", "A1=1 ENDS=2", "SEEN_COME_BACK"),
    ("marking", "one domain", "", ""),
    ("marking", "roots above the range that is handed over", "EXTENT=1", ""),
    ("marking", "one pool, deletes are freed", POOL,
     "FREE_AT_ONCE MODIFY_IN_PLACE DRAIN_DOES_NOT_WAIT DONE_TOO_EARLY FAST_OWNER_OPEN UNCOUNTED_OPEN "
     "UNCOUNTED_ALWAYS CURRENT_NOT_HANDED RANGE_TOO_SHORT UNMAP_HANDED RIPE_IF_CLOSED RIPE_BY_STATE OPEN_EMPTY "
     "JOINS_RIPE JOINS_RIPE+STAMP_OF_THE_FIRST NO_DRAIN"),
    ("marking", "two domains, one ends, deletes are freed", f"{DOMAINS} BATCHES=1 LIVENESS=1", ""),
    ("marking", "two domains, one ends, young values", f"{DOMAINS} YOUNG=1", ""),
    ("marking", "", DOMAINS,
     "NOT_FINISHED DONE_OF_ANY DRAIN_IN_DARKEN TAKE_IN_DARKEN"),
    ("marking", "", f"{DOMAINS} LIVENESS=1", "WAITING_FORGOTTEN"),
    ("marking", "young values, teardown", TEARDOWN, "TEARDOWN_KEEPS_YOUNG ONE_STEP_IN_CLOSED"),
]
# Weak memory: a scenario, variants of it that hold ("-" is itself), and mutants. `adopt` and `come_back` lose nothing without
# sequential consistency, nor with relaxed owners.
LOOM = [
    ("drain", "-", "announce_relaxed announce_release post_relaxed harvest_relaxed subtract_relaxed push_relaxed take_relaxed"),
    ("batch", "-", ""),
    ("adopt", "- acquire_and_release owners_relaxed", "push_relaxed take_relaxed read_merges_relaxed count_merge_relaxed"),
    ("adopt_two", "-", ""),
    ("come_back", "- acquire_and_release owners_relaxed", ""),
]


def lines():
    """Lines EXPECTED|MODEL|NAME|DEFINITIONS, which are checked one at a time."""
    for model, name, definitions, mutants in SPIN:
        values = {f"{deleter}{pool}": "0" for deleter in "AB" for pool in (1, 2, 3)} if model == "remote" else {}
        values.update(definition.split("=") for definition in definitions.split())
        defined = " ".join(f"-D{key}={value}" for key, value in values.items())
        if name:
            yield f"holds|{model}|{name}|{defined}"
        for mutant in mutants.split():
            kind = "witness" if mutant.startswith("SEEN_") else "mutant"
            yield f"found|{model}|{kind} {mutant}|{defined} -D{mutant.replace('+', ' -D')}"
    for scenario, variants, mutants in LOOM:
        for variant in variants.split():
            yield f"holds|loom|{scenario}|{variant.strip('-')}"
        for mutant in mutants.split():
            yield f"found|loom|{scenario}|{mutant}"


# ---- one line ----

def check_spin(expected, model, definitions):
    """The result of a verifier, the reason or the number of states, and its output if that is useful."""
    with tempfile.TemporaryDirectory() as folder:
        # Most mutants are found in less time than they take to compile.
        optimise = "-O0" if expected == "found" else "-O2"
        # A depth-first search runs deep in marking.pml. Partial order reduction gains nothing there, because everything is one
        # process.
        reduction = "-DNOREDUCE" if model == "marking" else ""
        for command in (["spin", "-a", *definitions.split(), MODELS / f"{model}.pml"],
                        f"cc -w {optimise} -DSAFETY -DCOLLAPSE -DMEMLIM=2700 {reduction} -o verifier pan.c"):
            status, output = attempt(command, cwd=folder)
            if status != 0:
                return "does not compile", "", output
        options = "-E" if "FORK=1" in definitions else ""  # in the child, other processes stop
        _, output = attempt(f"{folder}/verifier", options, "-m15000000 -w24", timeout=LIMIT, cwd=folder)
    states = re.search(r"^ *([0-9.e+]+) states, stored", output, re.M)
    violated = re.search(r"assertion violated *(.*) \(at depth", output)
    why = f"{states.group(1) if states else '?'} states" + (f": {violated.group(1)}" if violated else "")
    if re.search("too small|MEMLIM|out of memory", output):
        return "incomplete", why, ""
    if "errors: 0" in output:
        return "holds", why, ""
    return "found" if "assertion violated" in output else "failed", why, ""


def check_loom(scenario, mutant):
    """As above, by loom."""
    status, output = attempt([WEAK, scenario, *mutant.split()], timeout=LIMIT)
    why = re.search(r"^(Causality violation: [^.]*|assertion .*)", output, re.M)
    last = "\n".join(output.splitlines()[-5:])
    if status == 0:
        return "holds", f"{output.splitlines()[-1]} executions", last
    # 101 is a panic. Its message must be one of the known ones: a panic for another reason is a failure.
    return "found" if status == 101 and why else "failed", why.group(1) if why else "", last


def check(line):
    """Prints the result of one line. Returns whether it is the expected result."""
    expected, model, name, definitions = line.split("|")
    started = time.monotonic()
    if model == "loom":
        got, why, output = check_loom(name, definitions)
        name += f", {definitions}" if definitions else ""
    else:
        got, why, output = check_spin(expected, model, definitions)
    seconds = f"{time.monotonic() - started:.0f} s"
    if got == expected:
        say(f"{got:8} {model:18} {name:66} {why}, {seconds}")
    else:
        say(f"FAILED   {model:18} {name} {definitions}: {got} instead of {expected} after {seconds}; {why}\n{output}")
    return got == expected


def main(pattern):
    if pattern == "--list":
        say("\n".join(lines()))
        return
    need("spin", "apt-get install spin")
    need("cc", "apt-get install gcc")
    need("cargo", "see https://rustup.rs")
    chosen = [line for line in lines() if re.search(pattern, line)]
    if not chosen:
        fail(f"nothing matches '{pattern}'")
    if any("|loom|" in line for line in chosen):
        run("cargo build --quiet --release --manifest-path", MODELS / "weak/Cargo.toml", "--target-dir target/model",
            env={"RUSTFLAGS": "--cfg loom"})
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or 1)) as pool:
        if not all(list(pool.map(check, chosen))):
            fail("FAILED")
    say("model: all is well")


main(sys.argv[1] if len(sys.argv) > 1 else "")

"""Mutants: changes one place of the allocator at a time, and expects a test to fail. Needs OCAMLOPT.

  python3 .ci/mutants --named [fuzz | stress]

takes the patches of boxroot-c/test/mutants. Their first lines say which rule they break, and which test must fail (named.py).
Fails at once if a patch no longer applies, if a test fails without a patch, or if none of three runs of a test fails with a
patch. With the name of a random tester, runs that tester on the patches that it has found before, for LIMIT=120 seconds each.
FILTER picks patches by a part of their names; JOBS=2 takes two at a time.

  python3 .ci/mutants [--list]

generates mutants by rules (faults.py), in the order of files and lines; none is stored. For each mutant, its object is compiled
(for a header: all objects, and those of the tests, into which it is inlined). The object is linked with the rest into the unit
tests, the tests in Rust (each alone, the fast ones first), and the random walk of boxroot-c/test/stress. The first failure, or a
time-out, catches the mutant. Mutants that do not compile, or compile to the same object, do not count. Prints a table, and the
survivors. Mutants that boxroot-c/test/mutants.txt explains are not run. Fails if any other mutant survives. Settings, in the
environment:
    COUNT=200       how many, or all; those with the least hashes, so that the choice stays when lines move
    FILES="a.c …"   all mutants of these files
    MUTANTS=1-40    only these numbers of the choice
    AFTER=5.3.0     mutants that survived on that version, or are the same there, and files that are only for this version
    JOBS=2          how many at a time
    EXPLAINED=1     also those that boxroot-c/test/mutants.txt explains; prints which of them a test detects nevertheless
    AGAIN=1         also those in target/mutants/VERSION/results; without it, a run continues after these
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))  # for `support`

import faults

for text in faults.without_faults():
    sys.exit(f"mutants: this is in boxroot-c/test/mutants.txt, and no mutant any more: {text}")
if sys.argv[1:2] == ["--named"]:
    import named

    sys.exit(named.main(*sys.argv[2:]))
import generated

sys.exit(generated.main("--list" in sys.argv))

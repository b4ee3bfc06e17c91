#!/usr/bin/env python3
"""Usage: mistakes.py PLAIN CHECKED ASAN [CPP]   Checks what users see when they make mistakes: with the plain flavour of the library,
with the checked flavour (also under the address sanitizer and valgrind), and in C++ with the checked flavour. The arguments are
programs; ASAN may be missing. SHOW=1 prints everything that users see."""
import os, re, shutil, subprocess, sys
from pathlib import Path

NOTHING, DUPLICATE = "boxroot_validate: nothing", "free list.*was a root deleted twice"
DEAD = "boxroot: {operation} at {here} of a root that was created at {created} and deleted at {deleted}"
# The reports of asan and valgrind contain the stacks of the mistake, of the delete, and of the
# create.
ASAN = "heap-use-after-free(.|\n)*{here}(.|\n)*freed by(.|\n)*{deleted}(.|\n)*allocated by(.|\n)*{created}"
VALGRIND = "Invalid read(.|\n)*{here}(.|\n)*free'd(.|\n)*{deleted}(.|\n)*alloc'd(.|\n)*{created}"
VALUE = "boxroot: create at {here} with"
ADDRESS = r"\S*\+0x[0-9a-f]+"


def row(plain, checked, asan=None, valgrind=None, operation=""):
    return {"plain": plain, "checked": checked.replace("{operation}", operation), "asan": asan or checked, "valgrind": valgrind or checked}


def used(plain, operation):
    return row(plain, DEAD, ASAN, VALGRIND, operation)


TABLE = {
    "deleted_twice": used(DUPLICATE, "delete"),
    "read_after_delete": used(NOTHING, "get"),
    "modified_after_delete": used(NOTHING, "modify"),
    "copied_before_modify": row(
        NOTHING, "boxroot: get at {here} of an old handle: the root, created at {created}, .* modified at {deleted}", ASAN, VALGRIND),
    "read_of_null": row("signal 11", "boxroot: get_ref at {here} of NULL"),
    "deleted_pointer": row("signal 11|" + NOTHING, "boxroot: delete at {here} of a pointer that is not a root of this copy of the library"),
    "root_of_exception": row(NOTHING, VALUE + " an invalid OCaml value; is it the exception result"),
    "root_of_zero": row(NOTHING, VALUE + " 0, which is not an OCaml value"),
    "read_without_lock": row(NOTHING, "boxroot: get at {here} on a thread that does not hold the OCaml lock"),
    "domain_without_lock": row(NOTHING, "boxroot: create_in at {here} with a domain whose lock this thread does not hold"),
    "read_after_teardown": row(NOTHING, "boxroot: get at {here} after boxroot_teardown"),
    "leaked": row("boxroot: 3 live roots; the checked flavour", "boxroot: 3 live roots were created at {created}"),
    "through_a_pointer": row(
        DUPLICATE, f"boxroot: delete at {ADDRESS} of a root that was created at {ADDRESS} and deleted at {ADDRESS}", ASAN, VALGRIND),
    "without_sites": row(
        DUPLICATE, f"boxroot: delete at {ADDRESS} of a root that was created at {ADDRESS} and deleted at {ADDRESS}", ASAN, VALGRIND),
    "leaked_in_headers": row(
        "boxroot: 0 live roots; the checked flavour",
        r"boxroot: 2 live roots were created at a.h:1\n(.*1 live root was created at (a.h:2|b.h:1|ab.h:1)\n){3}" + NOTHING),
    "no_mistake": row(
        r"^boxroot: 0 live roots; .*\n" + NOTHING, "^" + NOTHING, valgrind=r"==.*\n" + NOTHING + r"\n(.|\n)*ERROR SUMMARY: 0 errors"),
}
NOT_TOLD = "through_a_pointer", "without_sites", "leaked_in_headers", "no_mistake"
CPP = {
    "adopted_twice": f"boxroot: delete at {ADDRESS} of a root that was created at {{created}} and deleted at {ADDRESS}",
    "read_of_empty": "boxroot: get at {here} of NULL",
    "exception_stored": "boxroot: modify at {here} with an invalid OCaml value",
    "lost": "boxroot: 2 live roots were created at {created}",
}


def seen(command, name):
    """A program's output, and how it ends."""
    ended = subprocess.run([*command, name], capture_output=True, text=True, errors="replace", timeout=120,
                           env={"ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0", "PATH": os.environ["PATH"]})
    return ended.stderr + (f"signal {-ended.returncode}\n" if ended.returncode < 0 else "")


def lines(name):
    """The lines of a mistake's comments, by their words."""
    return {word: rf"\S*{file.name}:{number}\b" for file in Path(__file__).parent.glob("*.c*")
            for number, line in enumerate(file.read_text().splitlines(), 1)
            for word in re.findall(rf"/[*/] {name} (\w+)", line)}


def is_seen(name, way, command, expected):
    got = seen(command, name)
    pattern = expected
    for word, place in lines(name).items():
        pattern = pattern.replace(f"{{{word}}}", place)
    right = re.search(pattern, got) is not None
    if os.environ.get("SHOW") or not right:
        print(f"---- {name}, {way}\n{got}", end="")
    if not right:
        print(f"mistakes: {name}, {way}: this is not there: {pattern}")
    return right


def is_told(name, checked, guide):
    """Whether the guide contains the message, with other line numbers."""
    def general(text):
        return re.sub(r"\S+:[0-9]+", "PLACE", text)
    message = general(seen([checked], name).splitlines()[0])
    told = f"`{message}`" in general(guide)
    if not told:
        print(f"mistakes: the guide (debugging.md) does not show this: {message}")
    return told


def main(plain, checked, asan, cpp=None):
    ways = {"plain": [plain], "checked": [checked], "asan": [asan], "valgrind": ["valgrind", "--max-stackframe=65536", checked]}
    for way in "asan", "valgrind":
        if not shutil.which(ways[way][0]):
            del ways[way]
            print(f"mistakes: {way} is missing and not tested")
    right = [is_seen(name, way, command, row[way]) for name, row in TABLE.items() for way, command in ways.items()]
    right += [is_seen(name, "C++", [cpp], expected) for name, expected in CPP.items() if cpp]
    guide = Path(__file__).parents[3] / "docs/guide/debugging.md"
    if guide.exists():
        right += [is_told(name, checked, guide.read_text()) for name in TABLE if name not in NOT_TOLD]
    if not all(right):
        sys.exit(1)
    print(f"mistakes: {len(right)} reports are right: {', '.join(ways)}{', C++' if cpp else ''}")


main(*sys.argv[1:])

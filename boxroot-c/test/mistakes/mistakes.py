#!/usr/bin/env python3
"""Usage: mistakes.py PLAIN CHECKED ASAN [NAME...]   What users see of mistakes, with the plain flavour of the library, the checked one,
that one under the address sanitizer, and under valgrind. The arguments are programs; ASAN may be missing. --show prints everything."""
import re, shutil, subprocess, sys
from pathlib import Path

NOTHING, DUPLICATE = "boxroot_validate: nothing", "free list.*was a root deleted twice"
DEAD = "boxroot: {operation} at {here} of a root that was created at {created} and deleted at {deleted}"
# The asan and valgrind reports have the stacks of the mistake, of the delete, and of the create.
ASAN = "heap-use-after-free(.|\n)*{here}(.|\n)*freed by(.|\n)*{deleted}(.|\n)*allocated by(.|\n)*{created}"
VALGRIND = "Invalid read(.|\n)*{here}(.|\n)*free'd(.|\n)*{deleted}(.|\n)*alloc'd(.|\n)*{created}"
VALUE = "boxroot: create at {here} with"
ADDRESS = r"\S*checked\+0x[0-9a-f]+"


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
    "deleted_pointer": row("signal 11", "boxroot: delete at {here} of what is not a root"),
    "root_of_exception": row(NOTHING, VALUE + " what is no OCaml value: an exception that"),
    "root_of_zero": row(NOTHING, VALUE + " 0, which is no OCaml value"),
    "read_without_lock": row(NOTHING, "boxroot: get at {here} on a thread that does not hold the OCaml lock"),
    "domain_without_lock": row(NOTHING, "boxroot: create_in at {here} with a domain whose lock this thread does not hold"),
    "read_after_teardown": row(NOTHING, "boxroot: get at {here} after boxroot_teardown"),
    "leaked": row("boxroot: 3 live roots; the checked flavour", "boxroot: 3 live roots were created at {created}"),
    "through_a_pointer": row(
        DUPLICATE, f"boxroot: delete at {ADDRESS} of a root that was created at {ADDRESS} and deleted at {ADDRESS}", ASAN, VALGRIND),
}


def seen(command, name):
    """What a program says, and how it ends."""
    ended = subprocess.run([*command, name], capture_output=True, text=True, errors="replace", timeout=120,
                           env={"ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0", "PATH": "/usr/bin:/bin"})
    return ended.stderr + (f"signal {-ended.returncode}\n" if ended.returncode < 0 else "")


def main(plain, checked, asan, *names):
    show = "--show" in names
    names = [name for name in names if name != "--show"]
    source = Path(__file__).with_suffix(".c").read_text().splitlines()
    ways = {"plain": [plain], "checked": [checked]}
    if Path(asan).exists():
        ways["asan"] = [asan]
    if shutil.which("valgrind"):
        ways["valgrind"] = ["valgrind", "--max-stackframe=65536", checked]
    for way in {"asan", "valgrind"} - set(ways):
        print(f"mistakes: {way} is missing and not tested")
    failed = 0
    for name, expected in TABLE.items():
        if names and name not in names:
            continue
        places = {word: rf"\S*mistakes\.c:{number}" for number, line in enumerate(source, 1)
                  for word in re.findall(rf"/\* {name} (\w+) \*/", line)}
        for way, command in ways.items():
            got = seen(command, name)
            pattern = re.sub(r"\{(\w+)\}", lambda found: places[found[1]] + r"\b", expected[way])
            if show or not re.search(pattern, got):
                print(f"---- {name}, {way}\n{got}", end="")
            if not re.search(pattern, got):
                failed += 1
                print(f"mistakes: {name}, {way}: this is not there: {pattern}")
    if failed:
        sys.exit(1)
    print(f"mistakes: {len(names or TABLE)} mistakes are found: {', '.join(ways)}")


main(*sys.argv[1:])

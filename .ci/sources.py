#!/usr/bin/env python3
"""Usage: .ci/sources.py [PART...]   Checks rules for the sources that compilers do not check. `make lint` runs all parts.

  dialects  The C sources and the public headers compile without warnings in each standard that they support, in strict mode, with
            more warnings than most users ask for. Checked with gcc and clang, if installed. The headers also compile with the
            warnings of C++ users. Needs OCAMLOPT.
  levels    Each file of the allocator includes only files of lower levels in the table of boxroot-c/DESIGN.md, so there is no
            circle. `levels --draw` prints the includes of each file, from the bottom up. Also, boxroot-c/boxroot.c includes each
            C file of the allocator, and ocaml-boxroot/src/c/obx.c each other file of its folder.
  places    Only the files that boxroot-c/DESIGN.md names depend on the OCaml version.
  versions  Several files have the same version of the allocator: the C header (CMake and the Makefile read it), the crate
            ocaml-boxroot-sys, and the OCaml package. The Rust versions for users and for contributors also agree in all files.
  macros    In the exported macros of ocaml-boxroot, or of the files that `macros FILE...` names, every name means the same at the
            call of a macro as at its definition: all paths begin with $crate or with a name from the user, and no function is
            called as a method.
  columns   No comment in Rust exceeds 100 columns, except rows of tables and the messages that tests expect from rustc (`//~`).
  packaged  The Rust package contains each C file. Needs cargo.
"""
import re, shutil, sys
from pathlib import Path
from support import attempt, fail, main, run, say, tracked, where


def check(problems):
    """Fails with the problems, if there are any."""
    if problems:
        fail("\n".join(problems))


def lines(paths):
    """Each line, with its place in front."""
    for path in paths:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield f"{path}:{number}:", line


# ---- dialects ----

def dialects():
    warnings = "-Wall -Wextra -Wpedantic -Wshadow -Wredundant-decls -Werror"
    c = f"{warnings} -Wstrict-prototypes -Wmissing-prototypes"
    cpp = f"{warnings} -Wold-style-cast -Wnon-virtual-dtor"
    variables = "-Wmissing-variable-declarations"
    sources = [Path("boxroot-c/boxroot.c"), *sorted(Path("boxroot-c/src").glob("*.c"))]
    include = ["-I", "boxroot-c/include", "-isystem", where()]
    checked = 0

    def compiles(*command):
        nonlocal checked
        run(*command, include, "-DUNIT=one -fsyntax-only")
        checked += 1

    def there(*compilers):
        for compiler in compilers:
            if shutil.which(compiler):
                yield compiler
            else:
                print(f"sources: {compiler} is missing and not tested", file=sys.stderr)

    for compiler in there("gcc", "clang"):
        more = variables if compiler == "clang" else ""
        for standard in "c99", "c11", "c17", "c2x", "gnu11":
            for file in [Path("boxroot-c/test/headers.c")] + (sources if standard != "c99" else []):
                for flavour in "0", "1":
                    compiles(compiler, f"-std={standard} -DBOXROOT_CHECKED={flavour}", c, more, file)
    for compiler in there("g++", "clang++"):
        more = variables if compiler == "clang++" else "-Wuseless-cast"
        for standard in "c++17", "c++20", "c++2b":
            for options in "", "-fno-exceptions", "-DBOXROOT_CHECKED=1", "-DBOXROOT_CHECKED=1 -fno-exceptions":
                compiles(compiler, f"-std={standard}", cpp, more, options, "boxroot-c/test/headers.cpp")
    say(f"dialects: {checked} compilations are clean")


# ---- levels ----

def levels(draw=False):
    level = {}
    table = Path("boxroot-c/DESIGN.md").read_text()
    for number, names in re.findall(r"^\| ([0-9]+) \| (`[^|]*`) \|", table, re.M):
        level.update((Path(name).stem, int(number)) for name in re.findall(r"`([^`]*)`", names))
    texts = {}
    for file in [*Path("boxroot-c/src").glob("*.c"), *Path("boxroot-c/src").glob("*.h")]:
        texts[file.stem] = texts.get(file.stem, "") + file.read_text()
    problems = []
    for name in sorted(texts, key=lambda name: (level.get(name, 0), name)):
        included = sorted(set(re.findall(r'^#include "([a-z0-9_]*)\.h"$', texts[name], re.M)) - {name})
        if name not in level:
            problems.append(f"{name} is not in the table of boxroot-c/DESIGN.md")
            continue
        problems += [f"{name} uses {other}.h, which is not below it" for other in included if level.get(other, 99) >= level[name]]
        if draw:
            say(f"{level[name]} {name} uses {' '.join(included)}")
    for whole, parts in ("boxroot-c/boxroot.c", "src/*.c"), ("ocaml-boxroot/src/c/obx.c", "*.c"):
        whole = Path(whole)
        there = {str(file.relative_to(whole.parent)) for file in whole.parent.glob(parts) if file != whole}
        included = set(re.findall(r'^#include "(.*\.c)"', whole.read_text(), re.M))
        problems += [f"{whole} does not include {name}" for name in sorted(there - included)]
    check(problems)


# ---- places ----

def places():
    allowed = re.compile(
        r"boxroot-c/src/runtime|boxroot-c/include/boxroot/lock.h|ocaml-boxroot/src/c/|"
        r"ocaml-boxroot-sys/src/fast.rs|boxroot-c/test/(stress/hooks|test_(scan|setup|waiting)).c"
    )
    condition = re.compile(r" *# *(el)?if.*OCAML_VERSION")
    folders = ["boxroot-c/src", "boxroot-c/include", "boxroot-c/test", "ocaml-boxroot-sys/src", "ocaml-boxroot/src"]
    there = [path for path in tracked(*folders) if not path.is_symlink() and path.suffix in (".c", ".h", ".rs")]
    found = [place for place, line in lines(there) if condition.match(line) or re.search("cfg.*ocaml5", line)]
    if not found:
        fail("nothing depends on the OCaml version: the pattern that looks for that is wrong")
    problems = [f"{place} depends on the OCaml version, too" for place in found if not allowed.match(place)]
    problems += [
        f"{place} a test for one version has a setting in `test!`, or belongs into multicore_*.ml"
        for place, line in lines(tracked("tests/*.c", "tests/*.h"))
        if condition.match(line)
        and not (place.startswith("tests/support/stubs.c:") and ">= 50000" in line)
        and not place.startswith("tests/link/copies/later.c:")
    ]
    check(problems)


# ---- versions ----

def versions():
    def of(file, pattern):
        return ".".join(re.findall(pattern, Path(file).read_text(), re.M))

    found = {
        "crate": of("ocaml-boxroot-sys/Cargo.toml", r'^version = "(.*)"'),
        "header": of("boxroot-c/include/boxroot.h", r"^#define BOXROOT_VERSION_(?:M[AI][JN]OR|PATCH) (.*)"),
        "opam": of("boxroot-c/boxroot.opam", r'^version: "(.*)"'),
        "dune": of("boxroot-c/dune-project", r"^\(version (.*)\)"),
    }
    told = ", ".join(f"{file} {version}" for file, version in found.items())
    if len(set(found.values())) != 1 or not found["crate"]:
        fail(f"the versions differ: {told}")
    # The version for users is `rust-version` in Cargo.toml; the version for tests and tools is in CONTRIBUTING.md.
    oldest = of("Cargo.toml", r'^rust-version = "(.*)"')
    newer = of("CONTRIBUTING.md", r"^You need Rust ([\d.]+)")
    places = r'^rust-version = "(.*)"|\bRust (1\.\d+)|\$\(call need_rust,(\d+)\)'
    problems = []
    for place, line in lines(tracked("*Cargo.toml", "*.md", "Makefile")):
        for found_here in re.findall(places, line):
            rust = "".join(found_here)
            rust = rust if rust.startswith("1.") else f"1.{rust}"
            if rust != oldest and not (rust == newer and place.startswith(("CONTRIBUTING.md", "Makefile"))):
                problems.append(f"{place} Rust {rust}: users need {oldest}, and contributors {newer}")
    check(problems)
    # A separate file, because the OCaml package consists of that folder alone.
    if Path("LICENSE").read_bytes() != Path("boxroot-c/LICENSE").read_bytes():
        fail("LICENSE and boxroot-c/LICENSE differ")
    say(f"versions: {told}; Rust {oldest}, for contributors {newer}")


# ---- macros ----

# A name that does not come from the user (`$name`), with nothing before it.
NAME = r'(?<![\w:$"`@])'
# Names that the macros define themselves, and patterns that match only names.
OWN = r'(?!(?:Self|OCamlBoxrootResult|OCamlBoxrootTypes|FUNCTION|VALUE|CONSTRUCTORS|CHECKED|IS_FLOAT|OCAML_BOXROOT_BODY|OCAML_BOXROOT_COMPARED)\b|Result<(?:\$result:ty|\(\))|C" fn)'
FORBIDDEN = {
    "a macro without $crate": NAME + r"[a-z_]\w*!(?!=)",
    "a path without $crate": NAME + r"(?!(?:clippy|Self|super)::)\w+::|(?<![\w>)])(?<!\$\()::",
    "a type, trait, constant or constructor without $crate": NAME + OWN + r"[A-Z]\w*",
    "a primitive type without $crate": NAME + r"(?:bool|char|str|[iu](?:8|16|32|64|128|size)|f32|f64)\b",
    "a function without $crate": NAME + r"(?<!fn )(?<!\.)(?!(?:fn|allow|doc|derive|inline|ocaml_boxroot_entry|ocaml_boxroot_interface)\b)[a-z_]\w*\(",
    "a method": r"\.\s*\w+\s*(?:\(|::)",
    "an attribute that may not be the language's": r"#\[(?!(?:doc|derive|allow|inline|track_caller|no_mangle|export_name)\b|(?:\$\()?\$attribute)",
}


def exported_macros(paths):
    """The lines of exported macros, without comments and without the content of strings."""
    inside = False
    for place, line in lines(paths):
        if place.endswith(":1:"):
            inside = False
        if line.startswith("macro_rules!"):
            continue
        if inside:
            yield place, re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]
        if line.startswith("#[macro_export]"):
            inside = True
        elif line.startswith("}"):
            inside = False


def macros(*files):
    found = list(exported_macros([Path(file) for file in files] or tracked("ocaml-boxroot/src/*.rs")))
    if not found:
        fail("there are no exported macros")
    check([f"{place} {what}: {line.strip()}" for what, pattern in FORBIDDEN.items()
           for place, line in found if re.search(pattern, line, re.A)])


# ---- columns ----

def columns():
    check([f"{place} over 100 columns" for place, line in lines(tracked("*.rs"))
           if len(line) > 100 and re.match(r'(?:[^"\']|"(?:[^"\\]|\\.)*")*?//(?!~|[/!]? \|)', line) and "//~" not in line])


# ---- packaged ----

def packaged():
    crate = set(run("cargo package -p ocaml-boxroot-sys --list --allow-dirty").splitlines())
    sources = sorted(file for folder in ("src", "include") for file in Path("boxroot-c", folder).rglob("*.[ch]"))
    vendored = ["LICENSE", "vendor/boxroot.c", *(f"vendor/{file.relative_to('boxroot-c')}" for file in sources)]
    check([f"{file} is not in the package of ocaml-boxroot-sys" for file in vendored if file not in crate])


PARTS = {"dialects": dialects, "levels": levels, "places": places, "versions": versions, "macros": macros, "columns": columns, "packaged": packaged}
if sys.argv[1:] == ["levels", "--draw"]:
    levels(draw=True)
elif sys.argv[1:2] == ["macros"] and sys.argv[2:]:
    macros(*sys.argv[2:])
else:
    main(PARTS)

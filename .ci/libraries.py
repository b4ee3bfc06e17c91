#!/usr/bin/env python3
"""Usage: .ci/libraries.py [PART...]   The OCaml libraries of Debian 12.

  programs  Builds and runs the programs of tests/users/libraries. Each uses an OCaml library from Rust, without any other OCaml
            code.
  packages  Binds all modules of each package in tests/users/libraries/packages.txt, builds a program with it, and starts the
            program. Prints rows of a table: the functions and other values that are bound, the items that are left out, reasons,
            seconds. Fails if a package of docs/libraries.md no longer builds, or if more of its items are left out. UPDATE=1
            replaces the rows.

FILTER=re,lwt.unix picks packages and programs. OCAMLOPT is Debian's, /usr/bin/ocamlopt, unless it is set.
"""
import collections, os, re, time
from pathlib import Path
from support import ROOT, attempt, fail, main, passed, run, say, version, where

os.environ.setdefault("OCAMLOPT", "/usr/bin/ocamlopt")
PROGRAMS = Path("tests/users/libraries")
TABLE = Path("docs/libraries.md")
PROJECTS = Path("target/libraries/projects")
SETTINGS = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
CRATES = "ocaml-boxroot", "ocaml-boxroot-sys"
LARGEST = 3 # reasons in a row


def picked(names):
    chosen = [name for name in os.environ.get("FILTER", "").split(",") if name]
    return [name for name in names if name in chosen or not chosen]


def built(manifest, crate):
    """The status of a program's run, and the output of the program and of cargo."""
    patches = [word for name in CRATES for word in ("--config", f'patch.crates-io.{name}.path="{ROOT / name}"')]
    return attempt("cargo run --target-dir target/libraries --manifest-path", manifest, "-p", crate, patches, env=SETTINGS)


def listed():
    """The packages, each with the name of Debian's package."""
    lines = (PROGRAMS / "packages.txt").read_text().splitlines()
    packages = (line.split() for line in lines if not line.startswith("#"))
    return {name: debian or [f"lib{name.split('.')[0].lower().replace('_', '-')}-ocaml-dev"] for name, *debian in packages}


def installed(debian):
    """The versions of these Debian packages, which must all be installed."""
    needed = sorted(set(debian))
    _, output = attempt("dpkg-query -W -f", ["${Package} ${db:Status-Status} ${Version}\n"], needed)
    lines = [line.split() for line in output.splitlines()]
    versions = {words[0]: upstream(words[2]) for words in lines if words[1:2] == ["installed"]}
    missing = [name for name in needed if name not in versions]
    if missing:
        fail(f"packages are missing. Run: apt-get install {' '.join(missing)}")
    if not Path(where(), "METAS").exists():
        fail(f"the OCaml of {where()} is not Debian's: OCAMLOPT must be /usr/bin/ocamlopt")
    return versions


def upstream(debian):
    """The part 1.2.3 of a version such as 2:1.2.3+dfsg-1+b1."""
    return re.sub(r"^\d+:|([+~](dfsg|ds).*)?-[^-]*$", "", debian)


def programs():
    names = picked(sorted(path.parent.name for path in PROGRAMS.glob("*/Cargo.toml")))
    installed(package for name in names for package in listed()[name])
    failed = []
    for name in names:
        status, output = built(PROGRAMS / "Cargo.toml", f"uses-{name}")
        if status == 0:
            passed(f"a program with {name}")
        else:
            failed.append(name)
            say(f"a program with {name}: failed: {status}\n{output}")
    if failed:
        fail(f"programs that failed: {', '.join(failed)}")


# ---- packages ----

def project(name):
    crate = "binds-" + re.sub(r"\W", "-", name).lower()
    folder = PROJECTS / crate
    (folder / "src").mkdir(parents=True, exist_ok=True)
    write(folder / "Cargo.toml", f"""[package]
name = "{crate}"
version = "0.0.0"
edition = "2021"

[dependencies]
ocaml-boxroot = "0.1"

[build-dependencies]
ocaml-boxroot-sys = {{ version = "0.4.1", default-features = false, features = ["build"] }}
""")
    write(folder / "build.rs", f"""use ocaml_boxroot_sys::build::{{Error, Program}};

fn main() -> Result<(), Error> {{
    Program::new().library("threads").package("{name}").bind_all("{name}").link()
}}
""")
    write(folder / "src/main.rs", """ocaml_boxroot::include_bindings!();

fn main() {
    ocaml_boxroot::Runtime::start().unwrap();
    println!("started with {}", concat!(env!("OUT_DIR"), "/ocaml_bindings.rs"));
}
""")
    return crate


def write(path, text):
    """Does nothing if the file has this text already: cargo looks at its time."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def counted(bindings):
    """The number of functions and other values in a generated file, and how often each reason leaves an item out."""
    bound, reasons = 0, collections.Counter()
    for item in re.findall(r"(?:^ *//(?!/).*\n)+", bindings, re.MULTILINE):
        why = re.search(r"// is left out: (.*)", item)
        if why:
            reasons[general(why[1])] += 1
        elif re.match(r" *// (val|external) ", item):
            bound += 1
    return bound, reasons


def general(why):
    """A reason without the name of its item."""
    return re.sub(r'"[^"]*"', '"…"', why)


def measured(name, crate, package_version):
    """A row of the table."""
    begin = time.monotonic()
    status, output = built(PROJECTS / "Cargo.toml", crate)
    seconds = time.monotonic() - begin
    started = re.search("^started with (.*)", output, re.MULTILINE)
    if status != 0 or not started:
        first = next((line for line in output.splitlines() if "error" in line), f"status {status}")
        say(f"{name}: fails\n{output[-3000:]}")
        return [name, package_version, "fails", "", "", first.strip().replace("|", "/")[:100]]
    bound, reasons = counted(Path(started[1]).read_text())
    for why in re.findall(r"is not bound: (.*)", output):
        reasons[general(why)] += 1
    out = reasons.total()
    largest = "; ".join(f"{why}: {count}" for why, count in reasons.most_common(LARGEST))
    row = [name, package_version, str(bound), str(out), share(bound, out), largest]
    say(" | ".join(row) + f" | {seconds:.0f} s")
    return row


def table(rows):
    works = [row for row in rows if row[2].isdigit()]
    bound, out = (sum(int(row[column]) for row in works) for column in (2, 3))
    return f"""# OCaml libraries, bound as a whole

All modules of {len(rows)} packages of Debian {release()}, with OCaml {version()}: the build script says `bind_all`
and names no item. {len(works)} packages build, link and start, with {bound} functions and other values.
{out} items are left out: {share(bound, out)}.

`UPDATE=1 make clients ONLY=libraries` writes this file. *Bound* counts functions and other values;
*left out* counts types, exceptions, classes and modules, too. The last column has the {LARGEST} commonest
reasons. `bind("…")` *binds it* is said of another name of a module that is not bound here, often
one of another library. [Bindings](guide/bindings.md) explains the others.

| package | version | bound | left out | share | why |
|---|---|---|---|---|---|
""" + "".join(f"| `{row[0]}` | {' | '.join(row[1:])} |\n" for row in rows)


def release():
    return Path("/etc/debian_version").read_text().strip()


def share(bound, out):
    return f"{100 * out / max(1, bound + out):.1f} %"


def rows(text):
    """The rows of the table, by package."""
    cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `"))
    return {row[0].strip("`"): [row[0].strip("`"), *row[1:]] for row in cells}


def packages():
    debian = listed()
    names = picked(debian) or fail(f"{PROGRAMS}/packages.txt has no such package")
    versions = installed(package for name in names for package in debian[name])
    PROJECTS.mkdir(parents=True, exist_ok=True)
    write(PROJECTS / "Cargo.toml", '[workspace]\nresolver = "2"\nmembers = ["*"]\n')
    crates = {name: project(name) for name in debian}
    now = {name: measured(name, crates[name], versions[debian[name][0]]) for name in names}
    before = rows(TABLE.read_text()) if TABLE.exists() else {}
    if os.environ.get("UPDATE"):
        known = {**before, **now}
        TABLE.write_text(table([known[name] for name in debian if name in known]))
    else:
        worse = [name for name in names if is_worse(before.get(name), now[name])]
        if worse:
            fail(f"worse than in {TABLE}, or not there: {', '.join(worse)}")
        say(f"libraries: {len(names)} packages are as in {TABLE}, or better")


def is_worse(before, now):
    if before is None:
        return True
    if not before[2].isdigit():
        return False
    return not now[2].isdigit() or int(now[3]) > int(before[3])


main({"programs": programs, "packages": packages})

#!/usr/bin/env python3
"""Usage: .ci/debian SUITE .ci/libraries.py [PART...]   The OCaml libraries of a Debian: bookworm (12) or trixie (13).

  programs  Builds and runs the programs of tests/users/libraries. Each uses an OCaml library from Rust, without any other OCaml
            code.
  packages  Binds all modules of each package in tests/users/libraries/packages.txt, builds a program with it, and starts the
            program. Prints rows of a table: the functions and other values that are bound, the items that are left out, reasons,
            seconds. Fails if a package of docs/libraries.md no longer builds, or if more of its items are left out. UPDATE=1
            replaces the rows.

FILTER=re,lwt.unix picks packages and programs. Debian's packages are installed by apt.
"""
import collections, os, re, time
from pathlib import Path
from support import ROOT, attempt, fail, main, passed, run, say, version

os.environ["OCAMLOPT"] = "/usr/bin/ocamlopt"
RELEASE = Path("/etc/debian_version").read_text().split(".")[0]
PROGRAMS = Path("tests/users/libraries")
TABLE = Path("docs/libraries.md")
TARGET = Path(f"target/libraries/{RELEASE}")
PROJECTS = TARGET / "projects"
SETTINGS = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
CRATES = "ocaml-boxroot", "ocaml-boxroot-sys"
LARGEST = 3 # reasons in a row


def picked(names):
    chosen = [name for name in os.environ.get("FILTER", "").split(",") if name]
    return [name for name in names if name in chosen or not chosen]


def built(manifest, crate):
    """The status of a program's run, and the output of the program and of cargo."""
    patches = [word for name in CRATES for word in ("--config", f'patch.crates-io.{name}.path="{ROOT / name}"')]
    return attempt("cargo run --target-dir", TARGET, "--manifest-path", manifest, "-p", crate, patches, env=SETTINGS)


def listed():
    """The packages of this release, each with the names of Debian's packages."""
    lines = (PROGRAMS / "packages.txt").read_text().splitlines()
    packages = (line.split() for line in lines if not line.startswith("#"))
    of_this = ((name.rpartition(":"), debian) for name, *debian in packages)
    return {name: debian or [f"lib{name.split('.')[0].lower().replace('_', '-')}-ocaml-dev"]
            for (release, _, name), debian in of_this if release in ("", RELEASE)}


def installed(debian):
    """Installs these Debian packages, and returns their versions."""
    needed = sorted(set(debian))
    run("apt-get -q update")
    run("apt-get -q --yes --no-install-recommends install", needed, env={"DEBIAN_FRONTEND": "noninteractive"})
    lines = run("dpkg-query -W -f", ["${Package} ${Version}\n"], needed).splitlines()
    return {name: upstream(version) for name, version in map(str.split, lines)}


def upstream(debian):
    """The part 1.2.3 of a version such as 2:1.2.3+dfsg-1+b1."""
    return re.sub(r"^(\d+:)?(.*\+really)?|([+~](dfsg|ds).*)?-[^-]*$", "", debian)


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
    *needed, bound = name.split("+")
    packages = "".join(f'.package("{package}")' for package in [*needed, bound])
    write(folder / "build.rs", f"""use ocaml_boxroot_sys::build::{{Error, Program}};

fn main() -> Result<(), Error> {{
    Program::new().library("threads"){packages}.bind_all("{bound}").link()
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
        elif re.match(r" *// (val|external|method|new) ", item):
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


HEAD = f"""# OCaml libraries, bound as a whole

All modules of a fixed list of Debian's packages, with Debian's OCaml: the build script says
`bind_all` and names no item.

`UPDATE=1 make clients ONLY=libraries` writes this file. *Bound* counts functions and other values;
*left out* also counts types, exceptions, classes and modules. The last column has the {LARGEST} commonest
reasons. The reason `bind("…")` *binds it* means that the item is another name of a module that is
not bound here, often a module of another library. [Bindings](guide/bindings.md) explains the others."""


def tables():
    """The part of the document for each release."""
    text = TABLE.read_text() if TABLE.exists() else ""
    parts = re.split(r"^(?=## Debian (\d+)$)", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2])))


def table(rows):
    works = [row for row in rows if row[2].isdigit()]
    bound, out = (sum(int(row[column]) for row in works) for column in (2, 3))
    return f"""## Debian {RELEASE}

OCaml {version()}: {len(works)} of {len(rows)} packages build, link and start, with {bound} functions and other
values. {out} items are left out: {share(bound, out)}.

| package | version | bound | left out | share | why |
|---|---|---|---|---|---|
""" + "\n".join(f"| `{row[0]}` | {' | '.join(row[1:])} |" for row in rows)


def share(bound, out):
    return f"{100 * out / max(1, bound + out):.1f} %"


def rows(text):
    """The rows of a table, by package."""
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
    releases = tables()
    before = rows(releases.get(RELEASE, ""))
    if os.environ.get("UPDATE"):
        known = {**before, **now}
        releases[RELEASE] = table([known[name] for name in debian if name in known])
        TABLE.write_text("\n\n".join([HEAD, *(releases[release] for release in sorted(releases))]) + "\n")
    else:
        worse = [name for name in names if is_worse(before.get(name), now[name])]
        if worse:
            fail(f"worse than in {TABLE} for Debian {RELEASE}, or not there: {', '.join(worse)}")
        say(f"libraries: {len(names)} packages are as in {TABLE} for Debian {RELEASE}, or better")


def is_worse(before, now):
    if before is None:
        return True
    if not before[2].isdigit():
        return False
    return not now[2].isdigit() or int(now[3]) > int(before[3])


main({"programs": programs, "packages": packages})

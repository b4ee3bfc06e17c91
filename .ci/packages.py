#!/usr/bin/env python3
"""Usage: .ci/packages.py [PART...]   Tests the packages in the form in which other projects get them. Needs OCAMLOPT.

  c        The C library: installed, found by pkg-config and by CMake, inside another CMake project, and in the stub library of an OCaml
           library. The projects are tests/users/packages/c and tests/link/alone, and those in pages of docs/guide. Needs a C and a C++
           compiler, pkg-config, cmake.
  ocaml    The OCaml package boxroot (boxroot-c/boxroot.opam), with dune: C stubs with roots in native code, bytecode and loaded
           by Dynlink; installed, and as a part of a workspace; and an OCaml program with a Rust library. The projects are in
           tests/users/packages/dune and in docs/guide/first-steps-ocaml.md. Needs cargo, and dune 3 or apt; uses opam and rsync if they
           are installed.
  rust     The Rust crates, as cargo would publish both at once. Their .crate files are unpacked, and two projects use only these:
           tests/users/packages/rust, which has its own OCaml code, and, if yojson is installed, tests/users/libraries/yojson. Also
           the licences of all dependencies, the documentation as docs.rs makes it, and the guide's first steps. Needs cargo.
  drop-in  Compares ocaml-boxroot-sys with the published 0.4.0. tests/users/interop/signatures.rs names every public item of 0.4.0. It
           is compiled against 0.4.0 here, and against ours in tests/users/interop. With rustdoc's lists, this part checks that the
           file leaves no item out, and that our crate has each item. tests/users/interop/features.rs does the same for features.
           Needs cargo.
"""
import json, os, re, shlex, shutil, tarfile
from pathlib import Path
from support import ROOT, attempt, fail, main, need, ocaml, passed, run, say, scratch, version, where

CALLS = "three calls of each closure"


def prints(name, line, *command, **settings):
    """Checks that a program works, and prints this line."""
    status, output = attempt(*command, timeout=60, **settings)
    if status != 0 or line not in output.splitlines():
        fail(f"failed: {name}: {status}\n{output}")
    passed(name)


def copy(*names):
    """Copies files of the repository into the current folder: "PATH", or "PATH NEW_NAME"."""
    for name in names:
        source, _, to = name.partition(" ")
        shutil.copy(ROOT / source, to or ".")


# ---- C ----

def c():
    need("pkg-config", "apt-get install pkg-config")
    need("cmake", "apt-get install cmake")
    with scratch() as folder:
        c_install(folder)
        for installed in "made", "cmade":
            c_pkg_config(folder, installed)
        c_readme(folder)
        follow(folder, "first-steps-c")
        follow(folder, "first-steps-cpp")
        follow(folder, "porting-c")
        c_cmake(folder)
        c_checked(folder)
        c_stub_library(folder)


def c_install(folder):
    """Installs a static library in `made` with make, and a shared one in `cmade` with CMake."""
    make = ["make", "-C", ROOT / "boxroot-c", f"BUILD={folder}/build", "install"]
    status, output = attempt(make, ["PREFIX=made"])
    if status == 0 or "PREFIX is 'made'. It must be an absolute path" not in output:
        fail(f"a relative PREFIX is not refused\n{output}")
    c_uninstall(folder, make)
    run(make, [f"PREFIX={folder}/made"])
    run("cmake -S", ROOT / "boxroot-c", "-B cmake-build", [f"-DCMAKE_INSTALL_PREFIX={folder}/cmade"],
        "-DCMAKE_C_EXTENSIONS=OFF -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib")
    run("cmake --build cmake-build --target install")


def c_uninstall(folder, make):
    """Installs both flavours in a folder whose name has a space and a character that is special to sed. Uninstalling leaves no
    file."""
    there = ["PREFIX=/opt/box & roots", f"DESTDIR={folder}/staged here"]
    checked = ["make", "-C", ROOT / "boxroot-c", f"BUILD={folder}/build-checked", "CHECKED=1"]
    run(make, there)
    run(checked, ["install"], there)
    staged = Path("staged here/opt/box & roots")
    if not (staged / "include/boxroot/inline.h").is_file():
        fail("DESTDIR is not respected")
    for file in [*staged.glob("lib/pkgconfig/*"), *staged.glob("lib/cmake/**/*.cmake")]:
        if str(folder) in file.read_text():
            fail(f"{file} contains DESTDIR")
    told = run("pkg-config --cflags --libs boxroot", env={"PKG_CONFIG_PATH": str(staged / "lib/pkgconfig")})
    for flag in "-I/opt/box & roots/include", "-L/opt/box & roots/lib":
        if flag not in shlex.split(told):
            fail(f"pkg-config does not print {flag}: {told}")
    mine = staged / "include/boxroot/mine.h"
    mine.touch()
    run(make[:-1], ["uninstall"], there)
    if not (staged / "include/boxroot-checked/boxroot.h").is_file():
        fail("make uninstall removes the other flavour")
    run(checked, ["uninstall"], there)
    left = [path for path in staged.rglob("*") if not path.is_dir()]
    if left != [mine]:
        fail(f"make uninstall leaves {left}")


def pkg_config(folder, installed, *question, package="boxroot"):
    return run("pkg-config", *question, package, env={"PKG_CONFIG_PATH": f"{folder}/{installed}/lib/pkgconfig"}).strip()


def c_pkg_config(folder, installed):
    release = re.search(r'^version = "(.*)"', Path(ROOT, "ocaml-boxroot-sys/Cargo.toml").read_text(), re.M).group(1)
    if pkg_config(folder, installed, "--modversion") != release:
        fail("pkg-config and Cargo.toml name different versions")
    if pkg_config(folder, installed, "--variable=ocaml_version") != version():
        fail("pkg-config names another OCaml")
    copy("tests/users/packages/words.ml")
    run(ocaml(), "-output-complete-obj words.ml -o program.o")
    libraries = run(ocaml(), "-config-var native_c_libraries").strip()
    flags = pkg_config(folder, installed, "--cflags").replace(f"-I{where()}", f"-isystem {where()}")
    compilers = {"c": "gcc -std=c99 -D_POSIX_C_SOURCE=200809L", "cpp": "g++ -std=c++17"}
    for language, compiler in compilers.items():
        run(compiler, "-Wall -Wextra -Wpedantic -Wshadow -Wredundant-decls -Werror", flags,
            ROOT / f"tests/users/packages/c/main.{language}", "program.o", pkg_config(folder, installed, "--libs"), libraries, [f"-Wl,-rpath,{folder}/{installed}/lib"], "-o main")
        prints(f"pkg-config, {installed}, {language}", CALLS, "./main")
    if installed == "cmade" and f"{folder}/cmade/lib/libboxroot.so.0.4" not in run("ldd ./main"):
        fail("the program does not use the shared library")


def c_readme(folder):
    """Runs each block of commands in boxroot-c/README.md alone, on files of the tests under the README's names."""
    blocks = re.findall(r"^```sh\n(.*?)^```", Path(ROOT, "boxroot-c/README.md").read_text(), re.M | re.S)
    if len(blocks) != 4:
        fail("boxroot-c/README.md has other blocks of commands")
    tools = ocaml().parent
    there = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": f"{folder}/made/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{folder}/made/lib",
    }

    def commands(number):
        """Runs a block, and each program that it makes."""
        block = re.sub("-o main$", "-o main\ntimeout 60 ./main", blocks[number - 1], flags=re.M)
        return run("bash -euxc", [block], env=there)

    Path("commands").mkdir()
    os.chdir("commands")
    os.symlink(ROOT / "boxroot-c", "boxroot-c")
    copy("tests/link/alone/stubs.c", "tests/link/alone/program.ml main.ml")
    if len(re.findall(r"^\+ timeout 60 ./main", commands(1), re.M)) != 4:
        fail("not every command makes a program")
    copy("boxroot-c/test/cpp/stubs.cpp", "boxroot-c/test/cpp/program.ml main.ml")
    commands(2)
    copy("tests/link/alone/program.ml mylib.ml")
    commands(3)
    Path("user.ml").write_text("let _ = Mylib.create\n")
    run(ocaml(), "-I . mylib.cmxa user.ml -o native")
    run("./native", timeout=60, env=there)
    run(ocaml("ocamlc"), "-I . mylib.cma user.ml -o bytecode")
    run(ocaml("ocamlrun"), "bytecode", timeout=60, env={"CAML_LD_LIBRARY_PATH": "."})
    copy("tests/users/packages/words.ml program.ml", "tests/users/packages/c/main.c")
    commands(4)
    os.chdir(folder)
    passed("the commands of boxroot-c/README.md")


def follow(folder, page, *tools):
    """Follows a page of docs/guide as a reader does, in an empty folder beside the repository. A block below a line "`NAME`:" is
    a file. Commands are run, and must print each line of the text that follows them. The folders of tools come first in PATH."""
    place = Path(folder, page)
    place.mkdir()
    if not Path(folder, "ocaml-boxroot").exists():
        os.symlink(ROOT, Path(folder, "ocaml-boxroot"))
    block = r"^```{}\n(.*?)^```\n"
    commands = block.format("sh") + "(?:\n" + block.format("text") + ")?"
    text = Path(ROOT, "docs/guide", page + ".md").read_text()
    script, expected = "set -eux\n", []
    for match in re.finditer(rf"(?:^`(\S+)`:\n\n{block.format('[a-z,]+')}|{commands})", text, re.M | re.S):
        name, contents, lines, printed = match.groups()
        if name:
            script += f"mkdir -p $(dirname {name}) && cat >{name} <<'END_OF_FILE'\n{contents}END_OF_FILE\n"
        else:
            script += lines
            expected += (printed or "").splitlines()
    if not expected:
        fail(f"docs/guide/{page}.md has no commands that print")
    env = {"HOME": str(folder), "PATH": ":".join(map(str, [*tools, ocaml().parent, os.environ["PATH"]]))}
    for tool in "cargo", "rustup":  # these are not in that home folder
        env[f"{tool.upper()}_HOME"] = os.environ.get(f"{tool.upper()}_HOME") or os.path.expanduser(f"~/.{tool}")
    output = run("bash -c", [script], cwd=place, env=env, timeout=1200).splitlines()
    for line in expected:
        if line not in output:
            fail(f"docs/guide/{page}.md: the commands do not print: {line}\n" + "\n".join(output))
    passed(f"docs/guide/{page}.md")


def c_cmake(folder):
    def consumer(name, *options):
        """Configures, builds and runs tests/users/packages/c, and returns the output of ldd."""
        shutil.rmtree("consumer", ignore_errors=True)
        run("cmake -S", ROOT / "tests/users/packages/c", "-B consumer", options)
        run("cmake --build consumer")
        for program in "c", "cpp":
            prints(f"CMake, {name}, {program}", CALLS, f"consumer/{program}")
        return run("ldd consumer/c")

    made = f"-DCMAKE_PREFIX_PATH={folder}/made"
    if "boxroot" in consumer("find_package, static", made):
        fail("the static library is not used")
    if f"{folder}/made/lib/libboxroot.so.0.4" not in consumer("find_package, shared", made, "-DBUILD_SHARED_LIBS=ON"):
        fail("the shared library is not used")
    consumer("find_package, installed by CMake", f"-DCMAKE_PREFIX_PATH={folder}/cmade")
    consumer("add_subdirectory", f"-DBOXROOT_SOURCE={ROOT}/boxroot-c")
    others = [name for name in run("ar t consumer/boxroot/libboxroot.a").split() if not name.startswith("bxr_")]
    if others:
        fail(f"objects in CMake's archive have names that a program may also have: {others}")
    lists = Path(ROOT, "tests/users/packages/c/CMakeLists.txt").read_text()
    Path("CMakeLists.txt").write_text(lists.replace("find_package(boxroot 0.4", "find_package(boxroot 0.9"))
    status, output = attempt("cmake -S . -B refused", [made])
    if status == 0 or "compatible with requested version" not in output:
        fail(f"find_package takes a version that is not compatible\n{output}")


def c_checked(folder):
    """Installs the checked flavour beside the other one, with make and with CMake."""
    make = ["make", "-C", ROOT / "boxroot-c", f"BUILD={folder}/build-checked", "install", "CHECKED=1"]
    run(make, [f"PREFIX={folder}/made"])
    run("cmake -S", ROOT / "boxroot-c", "-B cmake-checked", [f"-DCMAKE_INSTALL_PREFIX={folder}/cmade"],
        "-DBOXROOT_CHECKED=ON -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib")
    run("cmake --build cmake-checked --target install")
    mistakes = ROOT / "boxroot-c/test/mistakes"
    leak = "boxroot: 3 live roots were created at mistakes_stubs.c:"
    shutil.copy(mistakes / "mistakes.c", "mistakes_stubs.c")
    for file in "members.c", "mistakes.ml":
        shutil.copy(mistakes / file, ".")
    for installed in "made", "cmade":
        compiled = pkg_config(folder, installed, "--cflags", package="boxroot-checked")
        libraries = pkg_config(folder, installed, "--libs", package="boxroot-checked")
        link = ["-ccopt", f"-Wl,-rpath,{folder}/{installed}/lib", "-cclib", libraries, "-o", "mistakes"]
        run(ocaml(), ["-ccopt", compiled], "-c mistakes_stubs.c members.c")
        run(ocaml(), "mistakes.ml mistakes_stubs.o members.o", link)
        status, output = attempt("./mistakes leaked", timeout=60)
        if status != 0 or leak not in output:
            fail(f"the checked flavour, {installed}, does not name a leak\n{output}")
        run(ocaml(), ["-ccopt", pkg_config(folder, installed, "--cflags")], "-c mistakes_stubs.c members.c")
        status, output = attempt(ocaml(), "mistakes.ml mistakes_stubs.o members.o", link)
        if status == 0 or not re.search("undefined reference to .bxr_flavour_abi", output):
            fail(f"the linker takes an object of the other flavour\n{output}")
        passed(f"the checked flavour, {installed}")
    for name, options in {
        "find_package": ["-DCHECKED=ON", f"-DCMAKE_PREFIX_PATH={folder}/made"],
        "add_subdirectory": [f"-DBOXROOT_SOURCE={ROOT}/boxroot-c"],
    }.items():
        shutil.rmtree("consumer", ignore_errors=True)
        run("cmake -S", ROOT / "tests/users/packages/c", "-B consumer", options)
        run("cmake --build consumer")
        for program in "c", "checked":
            if ("bxr_checked_create" in run("nm", f"consumer/{program}")) != (program == "checked"):
                fail(f"CMake, {name}: {program} is of the other flavour")
            prints(f"CMake, both flavours, {name}, {program}", CALLS, f"consumer/{program}")


def c_stub_library(folder):
    Path("stub_library").mkdir()
    os.chdir("stub_library")
    copy("tests/link/alone/program.ml")
    run("gcc -O2 -fPIC", pkg_config(folder, "cmade", "--cflags"), "-c", ROOT / "tests/link/alone/stubs.c")
    Path("boxroot.c").write_text("int own_boxroot(void) { return 1; }\n")
    run("gcc -O2 -fPIC -c boxroot.c")
    run("ar x ../made/lib/libboxroot.a")
    if "own_boxroot" not in run("nm boxroot.o"):
        fail("the archive has a boxroot.o, which replaces the program's")
    run(ocaml("ocamlmklib"), "-o program_stubs", sorted(Path().glob("*.o")))
    run(ocaml("ocamlc"), "-dllib dllprogram_stubs.so program.ml -o bytecode")
    run(ocaml("ocamlrun"), "bytecode", timeout=60, env={"CAML_LD_LIBRARY_PATH": "."})
    run(ocaml(), "program.ml -I . -cclib -lprogram_stubs -ccopt -L. -o native")
    run("./native", timeout=60)
    passed("a stub library, bytecode and native")


# ---- OCaml ----

def ocaml_package():
    dune = Path(run(".ci/toolchain dune", stderr=None).strip())
    os.environ["PATH"] = f"{ocaml().parent}:{os.environ['PATH']}"
    with scratch() as folder:
        sources("package")
        run(dune, "build --root . -j2 boxroot.opam @install", cwd="package")
        if Path("package/boxroot.opam").read_text() != Path(ROOT, "boxroot-c/boxroot.opam").read_text():
            fail("boxroot.opam differs from what dune generates from dune-project")
        run(dune, "install --root . --prefix", folder / "installed", "boxroot", cwd="package")
        Path("bin").mkdir()
        os.symlink(dune, "bin/dune")
        if shutil.which("opam") and shutil.which("rsync"):
            with_opam(folder)
        else:
            say("packages: opam or rsync is missing: 'opam lint' and 'opam install' are skipped")
        follow(folder, "first-steps-ocaml", folder / "bin")
        shutil.copytree(ROOT / "tests/users/packages/dune", "project")
        patch("project", {name: ROOT / name for name in ("ocaml-boxroot", "ocaml-boxroot-sys")})
        os.chdir("project")
        with_dune(folder, dune)


def sources(folder):
    """Copies the package alone, as opam gets it."""
    shutil.copytree(ROOT / "boxroot-c", folder, symlinks=True, ignore=shutil.ignore_patterns("build", "_build", "model"))


def patch(project, crates):
    """Makes cargo use these crates instead of the published ones."""
    Path(project, ".cargo").mkdir()
    lines = [f'{name} = {{ path = "{path}" }}\n' for name, path in crates.items()]
    Path(project, ".cargo/config.toml").write_text("[patch.crates-io]\n" + "".join(lines))


def with_opam(folder):
    """Tests the package in an opam switch with the compiler and the dune that are installed here."""
    run("opam lint package/boxroot.opam")
    for package in "", f"packages/ocaml/ocaml.{version()}", "packages/dune/dune.3.17.2":
        path = Path("repository", package)
        path.mkdir(parents=True, exist_ok=True)
        Path(path, "opam" if package else "repo").write_text('opam-version: "2.0"\n')
    shutil.rmtree("package/_build")
    env = {"OPAMROOT": f"{folder}/opam", "OPAMYES": "1", "OPAMSWITCH": "test"}
    run("opam init --bare --disable-sandboxing --no-setup default ./repository", env=env)
    run("opam switch create test --empty", env=env)
    run("opam install ./package", env={**env, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    if files("opam/test/lib/boxroot") != files("installed/lib/boxroot"):
        fail("opam installs other files than dune")
    passed("opam install")


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def with_dune(folder, dune):
    built = "_build/default"
    installed = {
        "OCAMLPATH": f"{folder}/installed/lib",
        "CAML_LD_LIBRARY_PATH": f"{folder}/installed/lib/stublibs:{Path.cwd()}/{built}/listeners",
    }
    build = [dune, "build", "--root", ".", "-j2"]
    run(build, "./quiet.exe ./late.exe ./late.bc", env=installed)
    prints("dune, a program that does not name Boxroot", "quiet: passed", f"{built}/quiet.exe", env=installed)
    prints("dune, threads after boxroot", "late threads: passed", f"{built}/late.exe", env=installed)
    prints("dune, threads after boxroot, bytecode", "late threads: passed", f"ocamlrun {built}/late.bc", env=installed)
    run(build, "./main.exe ./main.bc ./host.exe listeners/listeners.cmxs plugin/plugin.cmxs", env=installed)
    prints("dune, native", "native: passed", f"{built}/main.exe", env=installed)
    prints("dune, bytecode", "bytecode: passed", f"ocamlrun {built}/main.bc", env=installed)
    prints("dune, Dynlink", "plugin: passed", f"{built}/host.exe", folder / "installed/lib/boxroot/boxroot.cmxs",
           f"{built}/listeners/listeners.cmxs {built}/plugin/plugin.cmxs", env=installed)
    run(build, "./with_rust.exe", env=installed)
    prints("dune, with a Rust library", "with Rust: passed", f"{built}/with_rust.exe", env=installed)
    run(build, "./two/two.exe", env=installed)
    prints("dune, with two Rust libraries", "two Rust libraries: passed", f"{built}/two/two.exe", env=installed)
    crate, = Path("_build/cargo/release/deps").glob("libocaml_boxroot-*.rlib")
    made = crate.stat().st_mtime_ns
    run(build, "./with_rust.exe", env=installed)
    if crate.stat().st_mtime_ns != made:
        fail("dune removes what cargo has compiled, so that each build compiles all crates")
    for file in "words.ml", "words.mli":
        Path(file).write_text(Path(file).read_text().replace("Noun", "Name"))
    Path("with_rust.ml").write_text(Path("with_rust.ml").read_text().replace("= Noun", "= Name").replace("Noun:", "Name:"))
    run(build, "./with_rust.exe", env=installed)
    prints("dune, with a changed interface", "with Rust: passed", f"{built}/with_rust.exe", env=installed)

    status, output = attempt(build, "./main.exe")
    if status == 0 or 'Library "boxroot" not found' not in output:
        fail(f"boxroot is also found elsewhere\n{output}")
    sources("vendor/boxroot")
    run(build, "./main.exe")
    prints("dune, boxroot in the workspace", "native: passed", f"{built}/main.exe")


# ---- Rust ----

def rust():
    with scratch() as folder:
        both = ["--allow-dirty", "-p", "ocaml-boxroot-sys", "-p", "ocaml-boxroot", "--target-dir", folder / "target",
                "--manifest-path", ROOT / "Cargo.toml"]
        run("cargo publish --dry-run --no-verify", both)
        run("cargo package", both) # compiles what was packaged
        crates = dict(unpacked(file) for file in sorted(Path("target/package").glob("*.crate")))
        shutil.copytree(ROOT / "tests/users/packages/rust", "project")
        patch("project", crates)
        os.chdir("project")
        run("cargo build")
        prints("the README's project, on the packaged crates", "300 g are left", "target/debug/uses-boxroot")
        licences()
        documented(crates)
        follow(folder, "first-steps-rust")
        with_yojson(crates)


def with_yojson(crates):
    """Tests the guide's program with an OCaml library, if that library is installed."""
    places = os.environ.get("OCAMLPATH", "").split(":") + [where(), Path(where()).parent]
    if not any(place and Path(place, "yojson/META").is_file() for place in places):
        say("the OCaml library yojson is missing (OCAMLPATH), and tests/users/libraries/yojson not tested")
        return
    shutil.copytree(ROOT / "tests/users/libraries", "../libraries")
    patch("../libraries", crates)
    os.chdir("../libraries")
    run("cargo build -p uses-yojson")
    prints("a project with yojson, on the packaged crates", '["Ada",1815]', "target/debug/uses-yojson")


def unpacked(file):
    """The name of a crate, and the folder with its packaged files."""
    with tarfile.open(file) as archive:
        archive.extractall("crates")
        count = len(archive.getnames())
    name, _, release = file.stem.rpartition("-")
    folder = Path("crates", file.stem).resolve()
    for needed in "README.md", "LICENSE", "CHANGELOG.md", "Cargo.toml", "src/lib.rs":
        if not (folder / needed).is_file():
            fail(f"{file.stem} has no {needed}")
    if f"\n## {release}" not in (folder / "CHANGELOG.md").read_text():
        fail(f"{file.stem}: its CHANGELOG.md does not have {release}")
    if any(path.is_symlink() for path in folder.rglob("*")):
        fail(f"{file.stem} contains links")
    say(f"{file.stem}: {file.stat().st_size // 1024}K, {count} files")
    return name, folder


def documented(crates):
    """Builds the documentation as docs.rs does: without OCaml, with the features that the manifests ask for."""
    import tomllib
    shown = {
        "ocaml-boxroot-sys": ["fn.boxroot_create.html", "build/struct.Program.html", "fn.leak_report.html"],
        "ocaml-boxroot": ["struct.Boxroot.html", "struct.Runtime.html", "debug/fn.leaks.html"],
    }
    for name, folder in crates.items():
        asked = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["metadata"]["docs"]["rs"]
        features = ["--all-features"] if asked.get("all-features") else ["--features", ",".join(asked["features"])]
        features += ["--no-default-features"] * asked.get("no-default-features", False)
        patched = ["--config", f'patch.crates-io.ocaml-boxroot-sys.path="{crates["ocaml-boxroot-sys"]}"']
        run("cargo doc --no-deps --manifest-path", folder / "Cargo.toml", "--target-dir docs", features, patched,
            env={"DOCS_RS": "1", "OCAMLOPT": "/no/ocamlopt", "RUSTDOCFLAGS": "-D warnings"})
        for page in shown[name]:
            if not Path("docs/doc", name.replace("-", "_"), page).is_file():
                fail(f"the documentation of {name} lacks {page}")
        say(f"{name}: documented without OCaml, with {' '.join(features)}")


def licences():
    known = json.loads(run("cargo metadata --quiet --format-version 1", stderr=None))["packages"]
    packages = [p for p in known if p["source"] or p["name"].startswith("ocaml-boxroot")]
    for p in packages:
        terms = (p["license"] or "none").replace("/", " OR ").split(" OR ")
        if not {"MIT", "Apache-2.0"} & {term.strip("() ") for term in terms}:
            fail(f"the licence of {p['name']} is {p['license']}")
    if len(packages) < 3:
        fail(f"cargo lists only {len(packages)} packages")
    say("licences: " + ", ".join(f"{p['name']} {p['version']} ({p['license']})" for p in packages))


# ---- the published 0.4.0 ----

def drop_in():
    target = "target/drop-in"
    published = "tests/users/interop/published/Cargo.toml"
    signatures = Path("tests/users/interop/signatures.rs").read_text()
    run("cargo check --quiet --manifest-path", published, f"--target-dir {target}/published")

    def items(manifest, folder):
        """Kind and name of each public item. The pages have names such as fn.boxroot_create.html."""
        run(f"cargo doc --quiet --no-deps -p ocaml-boxroot-sys --manifest-path {manifest} --target-dir {target}/{folder}")
        pages = Path(target, folder, "doc/ocaml_boxroot_sys").glob("*.*.html")
        return {tuple(page.name.split(".")[:2]) for page in pages}

    theirs = items(published, "published")
    if len(theirs) <= 10:
        fail(f"rustdoc lists only {len(theirs)} items of 0.4.0: its files have other names now")
    missing = theirs - items("Cargo.toml", "ours")
    if missing:
        fail(f"not in ours: {sorted(missing)}")
    for kind, name in sorted(theirs):
        if not re.search(rf"sys::{name}\b", signatures):
            fail(f"tests/users/interop/signatures.rs does not name {kind} {name}")
    say(f"drop-in: all {len(theirs)} public items of 0.4.0")


main({"c": c, "ocaml": ocaml_package, "rust": rust, "drop-in": drop_in})

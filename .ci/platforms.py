#!/usr/bin/env python3
"""Usage: .ci/platforms.py [PART...], or .ci/platforms.py PROCESSOR ORIGIN...   Tests on systems and processors other than this machine's.

  musl   With musl instead of glibc: the C library's unit tests and a short walk, and Rust programs with their own OCaml code,
  as static executables, on OCaml 5.3.0. Needs musl-gcc, and rustup's target (rustup target add
         x86_64-unknown-linux-musl).
  arm64, riscv64, s390x (big endian), ppc64el
         The C library under qemu's user mode: its unit tests, and a random walk; on arm64 also OCaml closures of Rust functions.
         qemu keeps the memory order of this machine's processor, so these tests do not show the weaker order of other processors.
         SEED, RUNS, OPERATIONS, … are as in boxroot-c/Makefile. Needs qemu-user-static, and gcc-aarch64-linux-gnu or the same for
         another processor. An ORIGIN names an OCaml; without one, every OCaml for the processor is used:
           bookworm, sid  the OCaml of a Debian suite. Its packages are downloaded by apt and unpacked, not installed, in
                          ${XDG_CACHE_HOME:-~/.cache}/ocaml-boxroot.
           5.5.2          a cross compiler (.ci/toolchain 5.5.2+arm64).
  arm64-rust
         The tests of the Rust crates that embed a runtime (tests/c_api and tests/safe), in the same way. Also needs rustup's target
         (rustup target add aarch64-unknown-linux-gnu).
  windows  The C library, compiled by mingw-w64, under wine: its unit tests, and a random walk, without code that forks. OCaml is a
         cross compiler (.ci/toolchain 5.5.2+windows). Needs wine and gcc-mingw-w64-x86-64-posix.
  cross  Compiles with `zig cc`, which contains the headers and libraries of other systems; runs nothing. For macOS and BSDs,
         compiles the C library and the C of the safe crate. For macOS also links them: OCaml's symbols are zeros, and those of
         its `threads` library are missing, so a program that links in this way needs no linker flag. For macOS and Linux on
         arm64, checks the Rust crates (cargo check). The headers are those of OCAMLOPT's OCaml, 4 or 5. Needs zig on PATH or as a
         Python package (pip install ziglang), llvm-nm, and rustup's targets (rustup target add aarch64-apple-darwin
         aarch64-unknown-linux-gnu).
"""
import functools, os, re, shutil, sys
from pathlib import Path
from support import attempt, fail, main, need, ocaml, passed, run, say, scratch, version, where, ROOT

# ---- musl ----

def musl():
    os.environ["OCAMLOPT"] = run(".ci/toolchain 5.3.0+musl", stderr=None).strip()
    make = ["make", "-s", "-C", "boxroot-c", f"BUILD=build/{version()}+musl", "CC=musl-gcc", "CXX=none"]
    # The walk makes a profile without a table of frames. The unit tests have such a table (boxroot-c/README.md).
    run(make, "stress", shown=True, env={"OPERATIONS": "100000", "LIVES": "5", "BOXROOT_PROFILE": "1"})
    run(make, "LDFLAGS=-Wl,--eh-frame-hdr", "check-c check-memory", shown=True)
    passed("musl: the C library, its unit tests and a walk")

    target = "x86_64-unknown-linux-musl"
    for program in "examples/async_server", "ocaml-boxroot-sys/tests/own_program":
        run(f"cargo run -q --target {target} --manifest-path {program}/Cargo.toml --target-dir target/musl", shown=True, timeout=900)
    file = f"target/musl/{target}/debug/async-server"
    if "NEEDED" in run("readelf -d", file):
        fail(f"{file} is not static")
    passed("musl: Rust programs with OCaml code, static")


# ---- processors ----

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ocaml-boxroot")

# For each processor, by Debian's name: the names of the C compiler and of qemu, and the origins of OCaml: suites of Debian, or
# .ci/toolchain.
PROCESSORS = {
    "arm64": ("aarch64-linux-gnu", "aarch64", ["bookworm", "sid", "5.5.2"]),
    "riscv64": ("riscv64-linux-gnu", "riscv64", ["sid"]),
    "s390x": ("s390x-linux-gnu", "s390x", ["bookworm", "sid"]),
    "ppc64el": ("powerpc64le-linux-gnu", "ppc64le", ["bookworm", "sid"]),
}


def emulated(processor, *chosen, tests):
    triple, name, origins = PROCESSORS[processor]
    qemu = f"qemu-{name}-static"
    need(qemu, "apt-get install qemu-user-static")
    need(f"{triple}-gcc", f"apt-get install gcc-{triple.replace('_', '-')} libc6-dev-{processor}-cross")
    for origin in chosen or origins:
        if origin not in origins:
            fail(f"no OCaml '{origin}' for {processor}; there are {', '.join(origins)}")
        if origin[0].isdigit():
            os.environ["OCAMLOPT"] = run(".ci/toolchain", f"{origin}+{processor}", stderr=None).strip()
            cc, files = f"{triple}-gcc", f"/usr/{triple}"
        else:
            folder = debian(processor, triple, qemu, origin)
            os.environ["OCAMLOPT"] = str(folder / "ocamlopt")
            cc, files = str(folder / "cc"), f"{folder}/root"
        say(f"{processor}: OCaml {version()}")
        tests(processor, triple, cc, f"{qemu} -L {files}")


def c_library(processor, triple, cc, start):
    for setting, value in ("OPERATIONS", "100000"), ("ROOTS", "4000"), ("LIVES", "20"):
        os.environ.setdefault(setting, value)
    compiler = {"CC": cc, "RUN": start}
    run(["make", "-s", "-C", "boxroot-c", f"BUILD=build/{version()}+{processor}", f"AR={triple}-ar", "CXX=none"],
        [f"{setting}={value}" for setting, value in compiler.items()], "check-c check-memory stress", shown=True)
    if processor == "arm64":
        run(".ci/builds.py closures", env=compiler, shown=True)
    passed(f"{processor}: the C library, its unit tests and a walk")


# The crates' tests that are left out under qemu. The first needs a C++ compiler with the C library of Debian's other suites,
# which does not exist. The second makes a hundred thousand threads, and qemu 7.2 leaks 280 KB for each thread that has ended, in
# any program. The last two limit the memory of a process, which qemu does not.
NOT_EMULATED = ("cpp_pointer_and_unwinding", "a_hundred_thousand_short_threads",
                "boxes_where_memory_runs_out", "weak_roots_where_memory_runs_out")


def crates(processor, triple, cc, start):
    target = triple.replace("-", "-unknown-", 1)
    setting = f"CARGO_TARGET_{target.upper().replace('-', '_')}"
    env = {"TARGET_CC": cc, "TARGET_AR": f"{triple}-ar", "TARGET_CXX": "none", "RUN": start,
           f"{setting}_LINKER": cc, f"{setting}_RUNNER": start}
    skipped = [word for test in NOT_EMULATED for word in ("--skip", test)]
    run(f"cargo test --no-fail-fast --target {target} --target-dir target/{processor} --test c_api --test safe --",
        skipped, env=env, shown=True)
    passed(f"{processor}: the tests of the Rust crates")


def debian(processor, triple, qemu, suite):
    """A folder with the files of Debian's OCaml packages for the processor, and with `cc`, `ocamlopt`, `ocamlc`, …
    The OCaml tools run in qemu. `cc` is this machine's cross compiler with the C library of that suite."""
    folder = CACHE / f"debian-{suite}-{processor}"
    root = folder / "root"
    # The packages are removed when all of them are unpacked.
    if not root.exists() or (folder / "apt").exists():
        unpack(processor, suite, folder)
    # A program that runs in qemu finds its files below that folder. C compilers get the folders as arguments.
    start = f"exec {qemu} -L {root} {root}/usr/bin"
    libraries = root / told_in(start, "standard_library_default").lstrip("/")
    places = [f"--sysroot={root}", f"-B{root}/usr/lib/{triple}", f"-L{root}/usr/lib/{triple}",
              f"-isystem {root}/usr/include/{triple}", f"-isystem {root}/usr/include"]
    script(folder / "cc", f"exec {triple}-gcc {' '.join(places)}")
    # A bytecode program names its interpreter. Without -use-runtime, that is the ocamlrun of this machine's OCaml, if there is
    # one. A program with its own runtime (-custom) needs none, and with -use-runtime it would lack the C libraries.
    script(folder / "ocamlrun", f"{start}/ocamlrun")
    runtime = f'case " $* " in *" -custom "*) ;; *) set -- -use-runtime {folder}/ocamlrun "$@" ;; esac\n'
    cc = f"-cc {folder}/cc"
    for tool, before, options in ("ocamlopt", "", cc), ("ocamlc", runtime, cc), ("ocamldep", "", ""), ("ocamlobjinfo", "", ""):
        script(folder / tool, f"{before}OCAMLLIB={libraries} {start}/{tool}.opt {options}")
    return folder


def unpack(processor, suite, folder):
    say(f"{processor}: getting the OCaml of Debian {suite} (log: {folder}.log)")
    shutil.rmtree(folder, ignore_errors=True)
    root = folder / "root"
    # The packages of later suites are made for these links.
    for name in ("lib", "lib64") if suite != "bookworm" else ():
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    with Path(f"{folder}.log").open("w") as log:
        for package in packages(processor, suite, folder / "apt", log):
            run("dpkg-deb -x", package, root, stdout=log)
    for link in root.rglob("*.so*"):
        if link.is_symlink() and link.readlink().is_absolute():
            aim = root / str(link.readlink()).lstrip("/")
            link.unlink()
            link.symlink_to(aim)
    shutil.rmtree(folder / "apt")


def told_in(start, variable):
    return run(["sh", "-c", f"{start}/ocamlopt.opt -config-var {variable}"]).strip()


def script(file, command):
    file.write_text(f'#!/bin/sh\n{command} "$@"\n')
    file.chmod(0o755)


def packages(processor, suite, folder, log):
    """Downloads packages and their dependencies from apt's mirror, as if nothing were installed."""
    for part in "lists/partial", "archives/partial":
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    mirror = run("apt-get indextargets --no-release-info --format $(REPO_URI)").splitlines()[0]
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb [signed-by={keys}] {mirror} {suite} main\n")
    settings = {"APT::Architecture": processor, "APT::Architectures": processor, "APT::Install-Recommends": "false",
                "Acquire::Languages": "none", "Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "-",
                "Dir::State::Lists": folder / "lists", "Dir::State::status": folder / "status", "Dir::Cache": folder}
    apt = ["apt-get", "-q", "-y", *(f"-o{name}={value}" for name, value in settings.items())]
    for command in ["update"], ["install", "--download-only", "libc6-dev", "ocaml"]:
        if attempt(apt, command, stdout=log, stderr=log)[0] != 0:
            fail(f"apt-get {command[0]} failed; the end of {log.name} says why")
    return sorted((folder / "archives").glob("*.deb"))


# ---- windows ----

def windows():
    need("wine", "apt-get install wine")
    os.environ["OCAMLOPT"] = run(".ci/toolchain 5.5.2+windows", stderr=None).strip()
    triple = "x86_64-w64-mingw32"
    for setting, value in ("OPERATIONS", "100000"), ("ROOTS", "4000"), ("LIVES", "20"):
        os.environ.setdefault(setting, value)
    os.environ.update(WINEPREFIX=str(CACHE / "wine"), WINEDEBUG="-all")
    # Makes printf support %zu.
    run(["make", "-s", "-C", "boxroot-c", f"BUILD=build/{version()}+windows", f"CC={triple}-gcc", f"AR={triple}-ar", "CXX=none",
         "CFLAGS=-O2 -g -D__USE_MINGW_ANSI_STDIO=1", "RUN=wine", "check-c", "check-memory", "stress"], shown=True)
    passed("windows: the C library, its unit tests and a walk")


# ---- cross ----

# The crate cc adds flags that have other names in zig.
ZIG_CC = """#!/usr/bin/env bash
arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --target=* | -mmacosx-version-min=*) ;;
    -arch | -isysroot) shift ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
exec $ZIG cc -target "$ZIG_TARGET" "${arguments[@]}"
"""


def cross():
    zig = "zig" if shutil.which("zig") else "python3 -m ziglang"
    if attempt(zig, "version")[0] != 0:
        fail("zig is missing. Install it (python3 -m pip install ziglang), then try again.")
    nm = shutil.which("llvm-nm") or max(map(str, Path("/usr/bin").glob("llvm-nm-*")), default=None)
    if not nm:
        fail("llvm-nm is missing (apt-get install llvm)")
    with scratch() as folder:
        for processor in "aarch64", "x86_64":
            Path(processor).mkdir()
            links_on_macos(f"{zig} cc -target {processor}-macos", nm, folder / processor)
            passed(f"{processor}-macos: compiles and links, without the threads library")
        for system in "freebsd", "netbsd", "openbsd":
            Path(system).mkdir()
            compile_c(f"{zig} cc -target x86_64-{system}", folder / system)
            passed(f"x86_64-{system}: compiles")
        os.chdir(ROOT)
        for name, text in ("cc", ZIG_CC), ("ar", '#!/bin/sh\nexec $ZIG ar "$@"\n'):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        env = {"ZIG": zig, "TARGET_CC": f"{folder}/cc", "TARGET_AR": f"{folder}/ar", "SDKROOT": "/"}
        for target, name in ("aarch64-apple-darwin", "aarch64-macos"), ("aarch64-unknown-linux-gnu", "aarch64-linux-gnu"):
            run(f"cargo check -q --target {target} -p ocaml-boxroot --target-dir target/cross",
                env={**env, "ZIG_TARGET": name})
            passed(f"{target}: the Rust crates compile")


def compile_c(cc, folder):
    """The C library, and the C of the safe crate."""
    for package, file in ("boxroot-c", "boxroot.c"), ("ocaml-boxroot", "src/c/obx.c"):
        run(cc, "-O2 -Wall -Wextra -Werror -I", ROOT / "boxroot-c/include", "-isystem", where(), "-c",
            Path(ROOT, package, file), "-o", folder / f"{package}.o")


def links_on_macos(cc, nm, folder):
    """The C library alone, and with the C of the safe crate."""
    compile_c(cc, folder)
    for program, which in ("alone", "boxroot-c.o"), ("both", "*.o"):
        objects = sorted(folder.glob(which))
        zeros = folder / f"{program}.c"
        zeros.write_text(defined_as_zeros(nm, objects))
        run(cc, objects, zeros, "-o", folder / program)


def defined_as_zeros(nm, objects):
    """A C file that defines the symbols of OCaml's runtime (without the threads library) and of the safe crate that the objects need."""
    def names(flag):
        return set(re.findall(r"_(?:[Cc]aml|ocaml_boxroot|obx)_[A-Za-z0-9_]*", run(nm, flag, objects, stderr=None)))

    needed = [name[1:] for name in sorted(names("-u") - names("--defined-only"))
              if not re.fullmatch("_caml_state|_caml_(c_)?thread_.*", name)]
    return "".join(["_Thread_local long caml_state[1];\n", *(f"long {name}[64];\n" for name in needed),
                    "int main(void) { return 0; }\n"])


EMULATED = {name: functools.partial(emulated, name, tests=c_library) for name in PROCESSORS}
EMULATED["arm64-rust"] = functools.partial(emulated, "arm64", tests=crates)

if sys.argv[1:2] and sys.argv[1] in EMULATED:
    EMULATED[sys.argv[1]](*sys.argv[2:])
else:
    main({"cross": cross, "windows": windows, "musl": musl, **EMULATED})

#!/usr/bin/env python3
"""Usage: .ci/platforms.py [PART...], or .ci/platforms.py arm64 VERSION...   Other systems and processors than the one that this runs on.

  musl   With musl instead of glibc: the C library's unit tests and a short walk, and Rust programs with OCaml code of their own,
         as static executables, on OCaml 5.3.0. Needs musl-gcc, and rustup's target (rustup target add
         x86_64-unknown-linux-musl).
  arm64  The C library on arm64, under qemu's user mode: its unit tests, and a random walk; and OCaml closures of Rust functions.
         qemu on another processor keeps that one's order of memory: what is weaker on arm64 cannot be seen here. SEED, RUNS,
         OPERATIONS, … are as in boxroot-c/Makefile. The versions are
           4.13.1  Debian's OCaml, in a Debian for arm64 that debootstrap makes, in ${XDG_CACHE_HOME:-~/.cache}/ocaml-boxroot/
                   debian-arm64. Needs root, Debian 12, and qemu-user-static.
           5.5.2   a cross compiler (.ci/toolchain 5.5.2+arm64). Needs qemu-user-static and gcc-aarch64-linux-gnu.
  cross  Compiles by `zig cc`, which brings the headers and libraries of other systems; nothing is run. For macOS and BSDs, the C
         library and the C of the safe crate. For macOS they are linked as well: OCaml's symbols are zeros, and those of its
         `threads` library are missing, so what links in this way needs no flag for the linker. For macOS and Linux on arm64,
         the Rust crates (cargo check). The headers are those of OCAMLOPT's OCaml, 4 or 5. Needs zig on PATH or as python's package (pip install
         ziglang), llvm-nm, and rustup's targets (rustup target add aarch64-apple-darwin aarch64-unknown-linux-gnu).
"""
import os, re, shutil, sys
from pathlib import Path
from support import attempt, fail, main, need, ocaml, passed, run, say, scratch, tracked, version, where, ROOT

# ---- musl ----

def musl():
    os.environ["OCAMLOPT"] = run(".ci/toolchain 5.3.0+musl", stderr=None).strip()
    # Without a C++ compiler: there is none for musl.
    make = ["make", "--no-print-directory", "-C", "boxroot-c", f"BUILD=build/{version()}+musl", "CC=musl-gcc", "CXX=no-c++"]
    run(make, "check", shown=True)
    run(make, "stress", shown=True, env={"OPERATIONS": "100000", "LIVES": "5"})
    passed("musl: the C library, its unit tests and a walk")

    target = "x86_64-unknown-linux-musl"
    for program in "examples/async_server", "ocaml-boxroot-sys/tests/own_program":
        run(f"cargo run -q --target {target} --manifest-path {program}/Cargo.toml --target-dir target/musl", shown=True, timeout=900)
    file = f"target/musl/{target}/debug/async-server"
    if "NEEDED" in run("readelf -d", file):
        fail(f"{file} is not static")
    passed("musl: Rust programs with OCaml code, static")


# ---- arm64 ----

DEBIAN = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ocaml-boxroot/debian-arm64")


def arm64(*versions):
    need("qemu-aarch64-static", "apt-get install qemu-user-static")
    for name, value in ("OPERATIONS", "100000"), ("ROOTS", "4000"), ("LIVES", "20"):
        os.environ.setdefault(name, value)
    for chosen in versions or ("4.13.1", "5.5.2"):
        say(f"arm64: OCaml {chosen}")
        if chosen == "4.13.1":
            in_debian()
        else:
            by_cross_compiler(chosen)


def in_debian():
    if os.getuid() != 0:
        fail("OCaml 4.13.1 for arm64 is used in a chroot: run this as root.")
    register_qemu()
    # A Debian of earlier versions of this script has no python3.
    if not (DEBIAN / "usr/bin/python3").exists():
        make_debian()
    copy = DEBIAN / "boxroot"
    shutil.rmtree(copy, ignore_errors=True)
    for file in tracked("boxroot-c", ".ci", "tests/closures", "ocaml-boxroot/src/c"):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy / file, follow_symlinks=False)
    run("chroot", DEBIAN, "make -s -C /boxroot/boxroot-c check stress", shown=True)
    run("chroot", DEBIAN, "env OCAMLOPT=/usr/bin/ocamlopt /boxroot/.ci/builds.py closures", shown=True)


def register_qemu():
    """The kernel hands arm64 programs to qemu, also in the chroot."""
    formats = Path("/proc/sys/fs/binfmt_misc")
    if not (formats / "register").exists():
        run("mount -t binfmt_misc none", formats)
    if not (formats / "qemu-aarch64").exists():
        say("arm64: registering qemu for arm64 programs")
        (formats / "register").write_bytes(Path("/usr/lib/binfmt.d/qemu-aarch64.conf").read_bytes())


def make_debian():
    need("debootstrap", "apt-get install debootstrap")
    mirror = run("apt-get indextargets --no-release-info --format $(REPO_URI)").splitlines()[0]
    suite = re.search(r"^VERSION_CODENAME=(.*)", Path("/etc/os-release").read_text(), re.M).group(1)
    log, new = Path(f"{DEBIAN}.log"), Path(f"{DEBIAN}.new")
    say(f"arm64: making a Debian for arm64 in {DEBIAN} (ten minutes; log: {log})")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with log.open("w") as output:
        for command in (["debootstrap", "--arch=arm64", "--foreign", "--variant=minbase",
                         "--include=ocaml-base,ocaml-nox,gcc,libc6-dev,make,python3", suite, new, mirror],
                        ["chroot", new, "/debootstrap/debootstrap", "--second-stage"]):
            if attempt(command, stdout=output)[0] != 0:
                fail(f"that failed; the end of {log} says why")
    shutil.rmtree(DEBIAN, ignore_errors=True)
    new.rename(DEBIAN)


def by_cross_compiler(chosen):
    need("aarch64-linux-gnu-gcc", "apt-get install gcc-aarch64-linux-gnu")
    os.environ["OCAMLOPT"] = run(".ci/toolchain", f"{chosen}+arm64", stderr=None).strip()
    compiler = {"CC": "aarch64-linux-gnu-gcc", "RUN": "qemu-aarch64-static -L /usr/aarch64-linux-gnu"}
    run(["make", "-s", "-C", "boxroot-c", f"BUILD=build/{chosen}+arm64", "AR=aarch64-linux-gnu-ar", "CXX=none"],
        [f"{name}={value}" for name, value in compiler.items()], "check stress", shown=True)
    run(".ci/builds.py closures", env=compiler, shown=True)


# ---- cross ----

# The crate cc adds flags that zig has other names for.
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
            run(f"cargo check -q --target {target} -p ocaml-boxroot --features startup --target-dir target/cross",
                env={**env, "ZIG_TARGET": name})
            passed(f"{target}: the Rust crates compile")


def compile_c(cc, folder):
    """The C library, and the C of the safe crate."""
    for package, sources in ("boxroot-c", "src"), ("ocaml-boxroot", "src/c"):
        for file in sorted(Path(ROOT, package, sources).glob("*.c")):
            run(cc, "-O2 -Wall -Wextra -Werror -I", ROOT / "boxroot-c/include", "-isystem", where(), "-c", file,
                "-o", folder / f"{package}-{file.stem}.o")


def links_on_macos(cc, nm, folder):
    """The C library alone, and with the C of the safe crate."""
    compile_c(cc, folder)
    for program, which in ("alone", "boxroot-c-*.o"), ("both", "*.o"):
        objects = sorted(folder.glob(which))
        zeros = folder / f"{program}.c"
        zeros.write_text(defined_as_zeros(nm, objects))
        run(cc, objects, zeros, "-o", folder / program)


def defined_as_zeros(nm, objects):
    """A C file that defines what the objects need of OCaml's runtime and of the safe crate's Rust, but for the threads library."""
    def names(flag):
        return set(re.findall(r"_(?:[Cc]aml|ocaml_boxroot|obx)_[A-Za-z0-9_]*", run(nm, flag, objects, stderr=None)))

    needed = [name[1:] for name in sorted(names("-u") - names("--defined-only"))
              if not re.fullmatch("_caml_state|_caml_(c_)?thread_.*", name)]
    return "".join(["_Thread_local long caml_state[1];\n", *(f"long {name}[64];\n" for name in needed),
                    "int main(void) { return 0; }\n"])


if sys.argv[1:2] == ["arm64"] and sys.argv[2:]:
    arm64(*sys.argv[2:])
else:
    main({"cross": cross, "arm64": arm64, "musl": musl})

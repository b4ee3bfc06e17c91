#!/usr/bin/env python3
"""Usage: .ci/builds.py [PART...]   The C code, compiled and linked into programs in all supported ways. Needs OCAMLOPT.

  links     The C library alone in an OCaml program (tests/link/alone): compilers and levels, LTO, a static executable, bytecode
            with the runtime in the executable and with a shared library. Then the same program with its stubs in Rust, whose fast
            paths read thread-local variables of C: linkers, LTO, position-independent or not, a shared library. Needs gcc, clang,
            cargo, lld and mold.
  copies    Several copies of the C library in one process, users that were compiled for another layout or flavour, and shared
            objects that are loaded and unloaded. Two Rust libraries in one program, and a Rust library that can start OCaml. The
            programs are in tests/link/copies and tests/link/alone. Needs a C compiler, CC, and cargo, on an ELF system.
  closures  The instructions of ocaml-boxroot/src/c/closure.c, without Rust: in native code and in bytecode. Needs a C compiler
            for the same processor, CC; RUN is the command that runs its programs, as in boxroot-c/Makefile.
  msrv      The published crates, with the oldest compiler that they support (rust-version in Cargo.toml). Needs rustup.
  compile-time
            Prints how much longer rustc takes for a program with bindings to 60 records, 60 variants and 200 functions than
            without, and how long for the same with the crate ocaml-interop: the user time of a build of one crate, without its
            dependencies. Tests no limit, because the time depends on the machine.
"""
import os, platform, re, resource, shutil
from pathlib import Path
from support import ROOT, attempt, fail, main, ocaml, passed, run, say, scratch, version, where

CC = os.environ.get("CC", "cc")
SOURCE = Path(ROOT, "boxroot-c/boxroot.c")


def include():
    return ["-I", ROOT / "boxroot-c/include", "-I", where()]


def is_elf(part):
    if platform.system() == "Linux" or platform.system().endswith("BSD"):
        return True
    say(f"{part}: not tested on {platform.system()}")


def objects(folder="."):
    return sorted(Path(folder).glob("*.o"))


# ---- links ----

def in_c():
    def compile(*compiler):
        """libboxroot.a and stubs.o"""
        for old in [*Path().glob("*.o"), *Path().glob("*.a")]:
            old.unlink()
        run(*compiler, include(), "-c", SOURCE)
        run("gcc-ar rcs libboxroot.a boxroot.o")
        run(*compiler, include(), "-c", ROOT / "tests/link/alone/stubs.c")

    def native(name, *options):
        output = run(ocaml(), *options, "program.ml stubs.o libboxroot.a -o program")
        run("./program", timeout=60)
        passed(name)
        return output

    for compiler in "gcc", "clang":
        for level in "-O0", "-O1", "-O2", "-O3":
            compile(compiler, level)
            native(f"{compiler} {level}")
    compile("gcc -O2 -flto")
    native("gcc -O2 -flto", ["-ccopt", "-O2 -flto"])
    compile("gcc -O2")
    if "bxr_" in native("gcc, static executable", "-ccopt -static"):
        fail("the library makes the linker warn about static executables")
    compile("gcc -O2 -fPIC -DBXR_DYNAMIC_TLS")
    native("gcc -DBXR_DYNAMIC_TLS")
    compile("gcc -O2 -fPIC")
    run(ocaml("ocamlc"), "-custom program.ml stubs.o libboxroot.a -o bytecode")
    run("./bytecode", timeout=60)
    passed("bytecode, runtime in the executable")
    run("gcc -shared -o dllboxroot.so stubs.o -Wl,--whole-archive libboxroot.a -Wl,--no-whole-archive")
    run(ocaml("ocamlc"), "-dllib -lboxroot program.ml -o bytecode")
    run(ocaml("ocamlrun"), "bytecode", timeout=60, env={"CAML_LD_LIBRARY_PATH": "."})
    passed("bytecode, shared library")


def in_rust():
    def compile(kind, profile, flags, **environment):
        """The stubs as libboxroot_links, of kind staticlib or cdylib."""
        target = ROOT / "target/links"
        run("cargo rustc -q --crate-type", kind, "--profile", profile, "--manifest-path", ROOT / "tests/link/alone/rust/Cargo.toml",
            "--target-dir", target, env={"RUSTFLAGS": flags, **environment})
        for file in (target / profile).glob("libboxroot_links.*"):
            shutil.copy(file, ".")

    def native(name, *options):
        run(ocaml(), "program.ml", *options, "-o program")
        run("./program", timeout=60)
        passed(f"Rust, {name}")

    compile("cdylib", "release", "")
    _, _, create = run("objdump -d libboxroot_links.so").partition("<links_create>:")
    if not any("%fs:" in line for line in create.splitlines()[:10]):
        fail("the fast path of create is not inlined into Rust")
    shared = ["-ccopt", f"-L. -Wl,-rpath,{Path.cwd()}"], "-cclib -l:libboxroot_links.so"
    native("a shared library", *shared)
    compile("cdylib", "release", "", CFLAGS="-DBXR_DYNAMIC_TLS")
    if re.search("STATIC_TLS|_TPOFF|_TPREL", run("readelf -dr libboxroot_links.so")):
        fail("with CFLAGS=-DBXR_DYNAMIC_TLS, there are thread-locals of the initial-exec model in Rust's code")
    native("a shared library with -DBXR_DYNAMIC_TLS", *shared)
    compile("staticlib", "release", "")
    for linker in "bfd", "lld", "mold":
        for kind in "-pie", "-no-pie", "-static":
            native(f"{linker} {kind}", "libboxroot_links.a", ["-ccopt", f"-fuse-ld={linker} {kind}"])
    compile("staticlib", "lto", "")
    native("fat LTO", "libboxroot_links.a")
    compile("staticlib", "release", "-C relocation-model=static")
    native("not position-independent", "libboxroot_links.a -ccopt -no-pie")
    compile("staticlib", "release", "-C opt-level=0")
    native("not optimised", "libboxroot_links.a")


def links():
    with scratch():
        shutil.copy(ROOT / "tests/link/alone/program.ml", ".")
        in_c()
        in_rust()


# ---- copies ----

HIDE = "-Wl,--exclude-libs,libboxroot.a"
LARGER = "-DBXR_POOL_LOG=15"
CHECKED = "-DBOXROOT_CHECKED=1"


def library(folder, flags=""):
    """FOLDER/libboxroot.a, position-independent."""
    Path(folder).mkdir()
    run(CC, "-O2 -fPIC", flags, include(), "-c", SOURCE, f"-o {folder}/boxroot.o")
    run(f"ar rcs {folder}/libboxroot.a {folder}/boxroot.o")


def refused(name, reason, *options, program="program.ml"):
    """Checks that the linker refuses a program, with this message."""
    status, output = attempt(ocaml(), program, *options, "-o program")
    if status == 0:
        fail(f"linked: {name}")
    if not re.search(reason, output):
        fail(f"refused, but not because of {reason}: {name}\n{output}")
    passed(f"{name} is refused by the linker")


def other_layouts():
    """A library and its users have different layouts."""
    for level in "-O1", "-O2":
        run(CC, level, include(), "-c stubs.c -o stubs14.o")
        run(CC, level, LARGER, include(), "-c stubs.c -o stubs15.o")
        refused(f"larger pools in the users than in the library, {level}", "bxr_create_slow_abi2_pool15",
                "stubs15.o pool14/libboxroot.a")
        refused(f"larger pools in the library than in its users, {level}", "bxr_create_slow_abi2_pool14",
                "stubs14.o pool15/libboxroot.a")
    run(ocaml(), "program.ml stubs15.o pool15/libboxroot.a -o program")
    run("./program", timeout=60)
    passed("larger pools everywhere work")


def public_functions():
    folder = Path(ROOT, "boxroot-c/include")
    text = (folder / "boxroot.h").read_text() + (folder / "boxroot/debug.h").read_text()
    return set(re.findall(r"\b(boxroot_[a-z_]*)\([^;]*\);", re.sub(r"/\*.*?\*/|^#[^\n]*", "", text, flags=re.S | re.M)))


def visible_names():
    """A shared library exports the public functions, and the names that inlined code uses. The plain names of the public functions,
    which do not contain the flavour, are visible only in the plain flavour."""
    major, minor = version().split(".")[:2]
    public = public_functions()
    private = {name for header in Path(ROOT, "boxroot-c/include/boxroot").glob("*.h")
               for name in re.findall(r"\bBXR_NAME\((bxr_[a-z_]*)\)", header.read_text())}
    for folder, flavour in ("pool14", ""), ("checked14", "_checked"):
        library = f"lib{folder}.so"
        run(CC, f"-shared -Wl,--whole-archive {folder}/libboxroot.a -Wl,--no-whole-archive -o {library}")
        visible = {line.split()[2] for line in run(f"nm -D --defined-only {library}").splitlines()}
        layout = f"{flavour}_abi2_pool14"
        known = {"bxr_copy", f"bxr_flavour{layout}_for_ocaml_{major}_{minor}", *(name + layout for name in public | private)}
        if visible - known - (set() if flavour else public):
            fail(f"internal names are visible in {library}: {' '.join(sorted(visible - known))}")
        missing = {name + layout for name in public} | (set() if flavour else public) - visible
        if missing - visible:
            fail(f"names are missing in {library}: {' '.join(sorted(missing - visible))}")
    passed("internal names are hidden")


def several_copies():
    """Several copies in one process. The executable has one copy. Each plugin has the copy of the folder that its name begins
    with."""
    refused("a program with two copies", "multiple definition|duplicate symbol", "stubs14.o",
            ["-ccopt", "-Wl,--whole-archive pool14/libboxroot.a pool15/libboxroot.a -Wl,--no-whole-archive"])

    def plugin(name, compiled="", linked=""):
        run(CC, "-O2 -fPIC", compiled, include(), f"-c copies/plugin.c -o {name}.o")
        run(CC, f"-shared {name}.o {name.split('-')[0]}/libboxroot.a", linked, f"-o ./{name}.so")

    plugin("pool14-seen")
    plugin("pool14-called", "-O0")
    plugin("pool14-hidden", "", HIDE)
    plugin("hidden14-compiled")
    plugin("pool15-seen", LARGER)
    plugin("pool15-hidden", LARGER, HIDE)
    plugin("checked14-seen", CHECKED)
    plugin("checked14-hidden", CHECKED, HIDE)
    plugin("checked15-seen", f"{CHECKED} {LARGER}")

    def host(name, folder, compiled, linked):
        run(CC, compiled, include(), "-c copies/host.c -o host.o")
        run(ocaml(), f"-I copies copies/program.ml host.o {folder}/libboxroot.a -cclib -ldl", ["-ccopt", linked], "-o", name)

    host("exporting", "pool14", "-O2", "-rdynamic")
    host("hiding", "pool14", "-O2", f"-rdynamic {HIDE}")
    host("checked", "checked14", f"-O2 {CHECKED}", "-rdynamic")

    runs("exporting", "one copy", "./pool14-seen.so")
    runs("checked", "one copy", "./checked14-seen.so")
    for name in "pool14-hidden", "hidden14-compiled", "pool15-hidden", "checked14-hidden":
        runs("exporting", "two copies", f"./{name}.so")
    runs("exporting", "refused", "./pool15-seen.so")
    for name in "pool14-seen", "pool14-hidden", "pool15-seen", "pool15-hidden", "checked14-seen":
        runs("hiding", "two copies", f"./{name}.so")
    runs("hiding", "second plugin refused", "./pool14-seen.so", "./pool15-seen.so")

    runs("exporting", "other flavour refused", "./checked14-seen.so")
    for name in "pool14-seen", "pool14-called", "pool15-seen", "checked15-seen":
        runs("checked", "other flavour refused", f"./{name}.so")
        runs("hiding", "second plugin of another flavour refused", "./checked14-seen.so", f"./{name}.so")
    runs("hiding", "second plugin of another flavour refused", "./pool14-seen.so", "./checked14-seen.so")


def two_flavours():
    """Two copies in one executable."""
    for libraries in "pool14/libboxroot.a checked14/libboxroot.a", "checked14/libboxroot.a pool14/libboxroot.a":
        refused(f"a program with {libraries}", "multiple definition|duplicate symbol", "stubs14.o checked14-seen.o", libraries)
    # The names in the executable replace those in the shared library.
    for level in "-O0", "-O2":
        run(CC, level, include(), "-c copies/host.c -o host.o")
        run(ocaml(), "-I copies copies/program.ml host.o checked14-seen.o checked14/libboxroot.a -cclib -lpool14 -cclib -ldl",
            ["-ccopt", f"-rdynamic -L. -Wl,-rpath,{Path.cwd()}"], "-o both")
        runs("both", "executable's other flavour refused")


def plain_names():
    """OCaml calls functions of the library directly, perhaps from a plugin, although the program does not use these names."""
    missing = public_functions() - set(run("nm -D --defined-only exporting").split())
    if missing:
        fail(f"a program with the archive does not have {' '.join(sorted(missing))}")
    for folder in "pool14", "checked14":
        run(ocaml(), f"-I copies copies/externals.ml {folder}/libboxroot.a -o externals")
        run("./externals", timeout=60)
        passed(f"externals of OCaml, {folder}")
    status, output = attempt(["./externals", "delete twice"], timeout=60)
    if status == 0 or not re.search(r"boxroot: delete at \S*externals\+0x\S* of a root that was created at \S*externals\+0x", output):
        fail(f"a function that OCaml calls is not checked: {status}\n{output}")


def runtime_of_another_version():
    major, minor = version().split(".")[:2]
    if not (5, 0) <= (int(major), int(minor)) < (5, 5):
        return say("a runtime of another version: tested with OCaml 5.0 to 5.4 only")
    run(CC, include(), "-c copies/later.c")
    Path("use_later.ml").write_text('external create : unit -> bool = "later_create"\nlet () = assert (create ())')
    run(ocaml(), "use_later.ml later.o pool14/libboxroot.a -o later")
    if not re.search(r"compiled for OCaml 5\.\S+, but the program's runtime has another version", run("./later", timeout=60)):
        fail("boxroot_error_string does not tell of the runtime's version")
    passed("a runtime of another version")


def runs(host, *arguments, **settings):
    run([f"./{host}", *arguments], timeout=60, **settings)
    passed(f"{host} executable: {' '.join(arguments)}")


def closed_plugins():
    """A plugin is closed. If the library is a separate shared object, only that object is pinned, not its users."""
    runs("hiding", "unload", "./pool14-seen.so")
    runs("hiding", "unload", "./pool15-hidden.so")
    run(CC, "-shared pool14-seen.o -L. -lpool14", [f"-Wl,-rpath,{Path.cwd()}"], "-o ./user.so")
    runs("hiding", "unload a user", "./user.so", "libpool14.so")


def first_root_in_a_constructor():
    """A thread makes the first root while another thread runs a constructor of a shared object, under the dynamic linker's
    lock."""
    run(CC, "-O2 -fPIC -shared -DCONSTRUCTOR copies/constructor.c -o constructor.so")
    run(CC, "-O2", include(), "-c copies/constructor.c -o first_root.o")
    Path("opens.ml").write_text('external create : string -> bool = "constructor_create"\nlet () = assert (create "./constructor.so")')
    run(ocaml(), "opens.ml first_root.o pool14/libboxroot.a -ccopt -rdynamic -cclib -ldl -cclib -lpthread -o opens")
    run("./opens", timeout=60)
    passed("a root is made while a constructor runs")


def large_thread_locals():
    """A plugin with many thread-locals, under glibc."""
    if platform.libc_ver()[0] != "glibc":
        return
    Path("large.c").write_text("char *plugin_large(void);\nchar *plugin_large(void) {\n  static __thread char large[16384];\n  return large;\n}\n")
    for name, flags in ("large", ""), ("dynamic", "-DBXR_DYNAMIC_TLS"):
        library(name, flags)
        run(CC, "-O2 -fPIC -shared", flags, include(), f"copies/plugin.c large.c {name}/libboxroot.a", HIDE, f"-o ./{name}.so")
    status, output = attempt("./hiding", ["two copies", "./large.so"], timeout=60)
    if status == 0 or "cannot allocate memory in static TLS block" not in output:
        fail(f"glibc opens it without -DBXR_DYNAMIC_TLS: {status}\n{output}")
    runs("hiding", "two copies", "./large.so", env={"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=65536"})
    runs("hiding", "two copies", "./dynamic.so")


def opened_under_musl():
    """dlopen under musl, in a process with zeros for OCaml's symbols."""
    if not shutil.which("musl-gcc"):
        say("copies: musl-gcc is missing: dlopen under musl is not tested")
        return

    def opens(folder, flags=""):
        """The status and the output of a program that opens a plugin."""
        Path(folder).mkdir()
        for file in SOURCE, Path("copies/plugin.c"):
            run("musl-gcc", flags, "-O2 -fPIC", include(), "-c", file, f"-o {folder}/{file.stem}.o")
        run("musl-gcc", flags, "-shared", objects(folder), f"-o {folder}/plugin.so")
        zeros = ""
        undefined = run(f"nm -D --undefined-only {folder}/plugin.so")
        for name in sorted(set(re.findall(r"^.* U ([Cc]aml_[a-z_]*)$", undefined, re.M))):
            section = '.tbss,"awT",@nobits' if name == "caml_state" else ".bss"
            zeros += f".section {section}\n.globl {name}\n{name}: .zero 64\n"
        Path(folder, "zeros.s").write_text(zeros + '.section .note.GNU-stack,"",@progbits\n')
        run("musl-gcc", flags, "-O2", include(), f"copies/opens.c {folder}/zeros.s -rdynamic -ldl -o {folder}/opens")
        return attempt(f"{folder}/opens {folder}/plugin.so", timeout=60)

    status, output = opens("static-tls")
    if status != 2 or "initial-exec TLS" not in output:
        fail(f"musl opens it without -DBXR_DYNAMIC_TLS: {status}\n{output}")
    status, output = opens("dynamic-tls", "-DBXR_DYNAMIC_TLS")
    if status != 0:
        fail(f"musl does not open it with -DBXR_DYNAMIC_TLS: {status}\n{output}")
    passed("dlopen under musl, with -DBXR_DYNAMIC_TLS only")


def two_rust_libraries():
    """Two Rust libraries, each with the safe crate and a copy of the C library: as shared libraries, whose names are hidden, and
    as static ones. Panics of finalisers are reported."""
    target = ROOT / "target/links"
    crate = ROOT / "tests/link/copies/rust/Cargo.toml"
    run("cargo build -q --release --examples --manifest-path", crate, "--target-dir", target)
    libraries = target / "release/examples"
    run(ocaml(), "copies/rust/program.ml -cclib -lfirst -cclib -lsecond", ["-ccopt", f"-L{libraries} -Wl,-rpath,{libraries}"],
        "-o two_libraries")
    run("./two_libraries", timeout=60)
    passed("two Rust libraries with closures and boxes")

    def static(package, flavour, *options):
        """Static libraries of a flavour, not optimised."""
        run("cargo rustc -q --crate-type staticlib --manifest-path", ROOT / package / "Cargo.toml", "--target-dir", target, *options)
        Path(flavour).mkdir(exist_ok=True)
        for file in [*target.glob("debug/*.a"), *target.glob("debug/examples/*.a")]:
            shutil.move(file, flavour)

    static("tests/link/copies/rust", "rust-plain", "--example first")
    static("tests/link/copies/rust", "rust-plain", "--example second")
    static("tests/link/copies/rust", "rust-checked", "--example first --features ocaml-boxroot/debug-checks")
    static("tests/link/alone/rust", "rust-plain")
    system = run(ocaml(), "-config-var native_c_libraries").split()

    def libraries(*names):
        return [word for name in [*(Path.cwd() / f"{name}.a" for name in names), *system] for word in ("-cclib", name)]

    run(ocaml(), "copies/rust/program.ml", libraries("rust-plain/libfirst", "rust-plain/libsecond"), "-o two_libraries")
    run("./two_libraries static", timeout=60)
    passed("two static Rust libraries with closures and boxes")
    run(CC, "-shared -o first.so -Wl,--whole-archive rust-plain/libfirst.a -Wl,--no-whole-archive")
    run(CC, include(), "-c copies/closes.c")
    run(ocaml(), "-I +unix -I +threads unix.cmxa threads.cmxa -I copies copies/use_closes.ml closes.o pool14/libboxroot.a "
        "-ccopt -rdynamic -cclib -ldl -o closes")
    runs("closes", "./first.so")
    # On OCaml 5.1, an allocation by C collects when less than 256 words are left, so `busy` cannot fill the minor heap.
    for busy in ("false",) if version().startswith("5.1") else ("false", "true"):
        runs("closes", "./first.so", "attach", busy)
    refused("a program with static Rust libraries of two flavours", "multiple definition|duplicate symbol",
            libraries("rust-checked/libfirst", "rust-plain/libsecond"), program="copies/rust/program.ml")
    refused("a program with C of the checked flavour and Rust of the plain one", "multiple definition|duplicate symbol",
            "checked14-seen.o checked14/libboxroot.a", libraries("rust-plain/libboxroot_links"))


def starter():
    """Rust code that can start OCaml, in programs that OCaml starts. Bytecode has no function that starts it."""
    built = ROOT / "target/links/release/examples"
    native = run(ocaml(), "-config-var native_c_libraries").split()
    libraries = [word for name in [built / "libstarter.a", *native] for word in ("-cclib", name)]
    program = shutil.copy(ROOT / "tests/link/copies/rust/starter.ml", ".")
    run(ocaml(), program, libraries, "-o starter")
    run("./starter", timeout=60)
    run(ocaml("ocamlc"), "-custom", program, libraries, "-o starter")
    run("./starter", timeout=60)
    passed("a static library that can start OCaml, in native code and in bytecode")
    shutil.copy(built / "libstarter.so", "dllstarter.so")
    run(ocaml(), program, "-cclib -l:dllstarter.so", ["-ccopt", f"-L. -Wl,-rpath,{Path.cwd()}"], "-o starter")
    run("./starter", timeout=60)
    run(ocaml("ocamlc"), "-dllib dllstarter.so", program, "-o starter")
    run(ocaml("ocamlrun"), "starter", timeout=60, env={"CAML_LD_LIBRARY_PATH": "."})
    passed("a shared library that can start OCaml, in native code and in bytecode")


def copies():
    if not is_elf("copies"):
        return
    with scratch():
        for file in "program.ml", "stubs.c":
            shutil.copy(ROOT / "tests/link/alone" / file, ".")
        shutil.copytree(ROOT / "tests/link/copies", "copies")
        library("pool14")
        library("pool15", LARGER)
        library("hidden14", "-fvisibility=hidden")
        library("checked14", CHECKED)
        library("checked15", f"{CHECKED} {LARGER}")
        other_layouts()
        visible_names()
        several_copies()
        two_flavours()
        plain_names()
        runtime_of_another_version()
        closed_plugins()
        first_root_in_a_constructor()
        large_thread_locals()
        opened_under_musl()
        two_rust_libraries()
        starter()


# ---- closures ----

def closures():
    if not is_elf("closures"):
        return
    runner = os.environ.get("RUN", "")
    with scratch():
        shutil.copytree(ROOT / "tests/link/closures", ".", dirs_exist_ok=True)
        for file in Path("stubs.c"), ROOT / "ocaml-boxroot/src/c/closure.c":
            run(CC, "-O2 -Wall -Wextra -I", where(), "-I", ROOT / "ocaml-boxroot/src/c", "-c", file)
        run(ocaml(), "-o native stubs.o closure.o program.ml")
        run(runner, "./native", timeout=600)
        passed("closures in native code")
        if not runner:
            run(ocaml("ocamlc"), "-custom -o bytecode stubs.o closure.o program.ml")
            run("./bytecode", timeout=600)
            passed("no closures in bytecode")


# ---- msrv ----

def msrv():
    oldest = re.search(r'^rust-version = "(.*)"', Path(ROOT, "Cargo.toml").read_text(), re.M).group(1)
    run("rustup toolchain install", oldest, "--profile minimal", shown=True)
    for features in "ocaml-boxroot-sys/build", "ocaml-boxroot/debug-checks,ocaml-boxroot/ndarray":
        run(f"cargo +{oldest} check -p ocaml-boxroot-sys -p ocaml-boxroot --target-dir target/msrv --features",
            features, shown=True)
    # The code that the macros generate.
    run(f"cargo +{oldest} check --manifest-path examples/guide/Cargo.toml --target-dir target/msrv", shown=True)


# ---- compile-time ----

def shop():
    """An OCaml module, and a Rust program that calls each of its functions, and converts each of its types in both directions."""
    types, functions, values, calls = [], [], [], []
    for i in range(60):
        types.append(f"type kind{i} = Small{i} | Large{i} | Pair{i} of int * string\n"
                     f"  | Custom{i} of {{ grams : int; colour : string }} | Many{i} of float list\n"
                     f"type item{i} = {{ name : string; count : int; price : float; note : string option; kind : kind{i} }}")
        values.append(f"let kind{i} = shop::Kind{i}::Custom{i} {{ grams: 1, colour: String::new() }};\n"
                      f"let item{i} = shop::Item{i} {{ name: String::new(), count: 1, price: 1.0, note: None, kind: kind{i}.clone() }};")
    for f in range(200):
        i = f % 60
        code, arguments = [
            (f"(n : int) (item : item{i}) = n + item.count", f"1, &item{i}"),
            (f"(item : item{i}) (kind : kind{i}) = {{ item with kind }}", f"&item{i}, &kind{i}"),
            (f"(items : item{i} list) (name : string) = List.map (fun (item : item{i}) -> item.kind) items", f"&[item{i}.clone()], \"\""),
            (f"(kind : kind{i}) (n : int) = Some kind", f"&kind{i}, 1"),
        ][f // 60]
        functions.append(f"let f{f} {code}")
        calls.append(f"shop::f{f}(lock, {arguments})?;")
    return "\n".join(types + functions), "\n".join(values + calls)


def interop_package():
    """A library that does the same with the crate ocaml-interop, in a new folder."""
    types, functions, values, calls = [], [], [], []
    for i in range(60):
        types.append(f"""
            #[derive(Clone, Debug, PartialEq)]
            pub enum Kind{i} {{ Small{i}, Large{i}, Pair{i}(i64, String), Custom{i}(i64, String), Many{i}(Vec<f64>) }}
            ocaml_interop::impl_conv_ocaml_variant! {{ Kind{i} {{
                Kind{i}::Small{i}, Kind{i}::Large{i}, Kind{i}::Pair{i}(a: OCamlInt, b: String),
                Kind{i}::Custom{i}(grams: OCamlInt, colour: String), Kind{i}::Many{i}(list: OCamlList<OCamlFloat>),
            }} }}
            #[derive(Clone, Debug, PartialEq)]
            pub struct Item{i} {{ pub name: String, pub count: i64, pub price: f64, pub note: Option<String>, pub kind: Kind{i} }}
            ocaml_interop::impl_conv_ocaml_record! {{
                Item{i} {{ name: String, count: OCamlInt, price: OCamlFloat, note: Option<String>, kind: Kind{i} }}
            }}""")
        values.append(f"""let kind{i} = Kind{i}::Custom{i}(1, String::new());
            let item{i} = Item{i} {{ name: String::new(), count: 1, price: 1.0, note: None, kind: kind{i}.clone() }};""")
    for f in range(200):
        i = f % 60
        (a, left), (b, right), (result, rust) = [
            (("OCamlInt", "1i64"), (f"Item{i}", f"item{i}"), ("OCamlInt", "i64")),
            ((f"Item{i}", f"item{i}"), (f"Kind{i}", f"kind{i}"), (f"Item{i}", f"Item{i}")),
            ((f"OCamlList<Item{i}>", f"vec![item{i}.clone()]"), ("String", "String::new()"), (f"OCamlList<Kind{i}>", f"Vec<Kind{i}>")),
            ((f"Kind{i}", f"kind{i}"), ("OCamlInt", "1i64"), (f"Option<Kind{i}>", f"Option<Kind{i}>")),
        ][f // 60]
        functions.append(f"pub fn f{f}(a: {a}, b: {b}) -> {result};")
        calls.append(f"""let (a, b) = ({left}.to_boxroot(cr), {right}.to_boxroot(cr));
            let result = f{f}(cr, &a, &b);
            let _: {rust} = result.to_rust(cr);""")
    newline = "\n"
    folder = Path("interop")
    (folder / "src").mkdir(parents=True)
    (folder / "src/lib.rs").write_text(f"""#![recursion_limit = "1024"]
        use ocaml_interop::{{ocaml, OCamlFloat, OCamlInt, OCamlList, OCamlRuntime, ToOCaml}};
        {newline.join(types)}
        ocaml! {{ {newline.join(functions)} }}
        pub fn calls(cr: &mut OCamlRuntime) {{
            {newline.join(values + calls)}
        }}""")
    (folder / "Cargo.toml").write_text("""
        [workspace]
        [package]
        name = "interop"
        version = "0.0.0"
        edition = "2021"
        [lib]
        [dependencies]
        ocaml-interop = "=0.12.0" """)
    return folder


def package(name, ocaml_code, bind, bindings, rust):
    """A package with these modules of both languages, in a new folder."""
    folder = Path(name)
    (folder / "src").mkdir(parents=True)
    (folder / "shop.ml").write_text(ocaml_code)
    (folder / "build.rs").write_text(f"""fn main() -> Result<(), ocaml_boxroot_sys::build::Error> {{
        ocaml_boxroot_sys::build::Program::new().library("threads").module("shop.ml"){bind}.link()
    }}""")
    (folder / "src/main.rs").write_text(f"""{bindings}
        fn main() -> Result<(), Box<dyn std::error::Error>> {{
            let _ocaml = ocaml_boxroot::Runtime::start()?;
            ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {{
                let _ = &lock;
                {rust}
                Ok(())
            }})
        }}""")
    (folder / "Cargo.toml").write_text(f"""
        [workspace]
        [package]
        name = "{name}"
        version = "0.0.0"
        edition = "2021"
        [build-dependencies]
        ocaml-boxroot-sys = {{ path = "{ROOT}/ocaml-boxroot-sys", default-features = false, features = ["build"] }}
        [dependencies]
        ocaml-boxroot = {{ path = "{ROOT}/ocaml-boxroot" }}""")
    shutil.copy(ROOT / "ocaml-boxroot-sys/tests/own_program/Cargo.lock", folder)
    return folder


def user_times(folders, profile):
    """The seconds that a build of each package takes after a change of the package itself: the least of three, in turn, because
    processors change their speed."""
    target = ROOT / "target/compile-time"
    environment = {"PATH": f"{ocaml().parent}:{os.environ['PATH']}"}  # where ocaml-interop looks for OCaml

    def build(folder):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run("cargo build -q --profile", profile, "--target-dir", target, cwd=folder, env=environment)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def build_again(folder):
        shutil.rmtree(target / {"dev": "debug"}.get(profile, profile) / "incremental", ignore_errors=True)
        next((folder / "src").iterdir()).touch()
        return build(folder)

    for folder in folders:
        build(folder)
    return [min(times) for times in zip(*[[build_again(folder) for folder in folders] for _ in range(3)])]


def compile_time():
    ocaml_code, calls = shop()
    include = "ocaml_boxroot::include_bindings!();"
    with scratch() as folder:
        folders = [folder / made for made in (
            package("empty", "", "", "", ""),
            package("unused", ocaml_code, '.bind("shop")', include, ""),
            package("used", ocaml_code, '.bind("shop")', include, calls),
            interop_package(),
        )]
        for profile in "dev", "release":
            empty, unused, used, interop = user_times(folders, profile)
            say(f"{profile}: bindings that the program does not call take {unused - empty:.1f} s, "
                f"and with calls of all functions {used - empty:.1f} s; "
                f"the same with ocaml-interop takes {interop:.1f} s: {(used - empty) / interop:.2f}")


main({"compile-time": compile_time, "links": links, "copies": copies, "closures": closures, "msrv": msrv})

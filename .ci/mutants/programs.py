"""The tests as programs: the allocator's objects, with or without a fault, linked with the tests'; and how they are run."""
import os, resource, shlex, shutil, signal, subprocess, time
from pathlib import Path

import support
from support import ROOT, attempt

C = ROOT / "boxroot-c"
OCAMLOPT = support.ocaml()
CC = os.environ.get("CC", "cc")
VERSION = support.version()
WORK = ROOT / "target/mutants" / VERSION
FLAGS = ["-O1", "-fPIC", "-DBXR_DEBUG", "-DBXR_FAULT_INJECTION", f"-I{support.where()}"]
SOURCES = sorted((C / "src").glob("*.c"))

# The tests in Rust, each run alone: a cargo target. It takes --list, and --exact with a test's name.
RUST_TESTS = "c_api"

# ---- building ----


def compile_object(source, target, include=C, flags=()):
    """Returns false if compiling fails. `include` is boxroot-c, or a copy of it; objects do not depend on which."""
    command = [CC, *FLAGS, *flags, f"-fmacro-prefix-map={include}={C}", f"-I{include}/src", f"-I{include}/include", "-c", source,
               "-o", target]
    return attempt(command)[0] == 0


def compile_all(folder, flags=()):
    """The allocator's objects without a fault."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        assert compile_object(source, folder / (source.stem + ".o"), flags=flags), source
    return [folder / (source.stem + ".o") for source in SOURCES]


def copy_sources(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for part in "include", "src":
        shutil.copytree(C / part, folder / part)


def compile_copy(folder, changed, clean, flags=()):
    """The objects of a copy in which these files are changed, and whether one differs from the one in `clean`; or None."""
    objects, differs = [], False
    everywhere = any(path.suffix == ".h" for path in changed)
    for source in SOURCES:
        objects.append(clean / (source.stem + ".o"))
        if everywhere or source in changed:
            target = folder / objects[-1].name
            if not compile_object(folder / "src" / source.name, target, folder, flags):
                return None
            differs |= target.read_bytes() != objects[-1].read_bytes()
            objects[-1] = target
    return objects, differs


def c_tests():
    """The C sources of the tests that are in C and OCaml."""
    found = {
        "unit": [source for source in sorted((C / "test").glob("*.c")) if source.stem not in ("flavours", "headers")],
        "stress": sorted((C / "test/stress").glob("*.c")),
    }
    if VERSION[0] == "4":
        found["thread_exit"] = [C / "test/thread_exit/thread_exit.c"]
    return found


def build_c_tests():
    """Compiles these tests to objects, and their OCaml code."""
    for name, sources in c_tests().items():
        (WORK / name).mkdir(parents=True, exist_ok=True)
        for source in sources:
            assert compile_object(source, WORK / name / f"c-{source.stem}.o"), source
    shutil.copy(C / "test/unit.ml", WORK / "unit")
    support.run(OCAMLOPT, "-c unit.ml", cwd=WORK / "unit")
    shutil.copy(C / f"test/stress/domains_{VERSION[0]}.ml", WORK / "stress/domains.ml")
    shutil.copy(C / "test/stress/stress.ml", WORK / "stress")
    support.run(OCAMLOPT, "-I +unix -I +threads -c domains.ml stress.ml", cwd=WORK / "stress")
    if VERSION[0] == "4":
        shutil.copy(C / "test/thread_exit/thread_exit.ml", WORK / "thread_exit")
        support.run(OCAMLOPT, "-I +threads -c thread_exit.ml", cwd=WORK / "thread_exit")


def build_rust_tests():
    """The command with which cargo links the tests. Its temporary files stay until `cargo test` links them again, so that the
    command can be repeated."""
    temporary = WORK / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    printed = support.run("cargo rustc --quiet --test", RUST_TESTS,
                          "-- -Csave-temps --print link-args", stderr=None, env={"TMPDIR": str(temporary)})
    commands = [line for line in printed.splitlines() if '"-o"' in line]
    if commands:
        (WORK / "link").write_text(commands[-1])


def link_rust_tests(objects, program):
    """Returns false if linking fails. The allocator's objects come first, so that none is taken from the crate."""
    words = shlex.split((WORK / "link").read_text())
    while "=" in words[0]:
        del words[0]
    at = words.index("-o")
    words[at : at + 2] = []
    return attempt([words[0], *objects, *words[1:], "-o", program])[0] == 0


NEEDS_DEBUG_INFORMATION = "debugger::gdb_lists_live_roots"  # mutants have none


def rust_tests(program):
    """The names of its tests, without ignored tests, and without one test that no mutant passes."""
    def listed(*which):
        lines = support.run(program, "--list", *which).splitlines()
        return {line.removesuffix(": test") for line in lines if line.endswith(": test")}

    return listed() - listed("--ignored") - {NEEDS_DEBUG_INFORMATION}


MODULES = {
    "unit": ["unit.cmx"],
    "thread_exit": ["unix.cmxa", "threads.cmxa", "thread_exit.cmx"],
    "stress": ["unix.cmxa", "threads.cmxa", "domains.cmx", "stress.cmx"],
}


def link_c_tests(name, objects, program):
    """Returns false if linking fails. In program's folder, tests/NAME may have other objects of the test."""
    folder = program.parent / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in (WORK / name).iterdir():
        other = program.parent / "tests" / name / file.name
        os.link(other if other.exists() else file, folder / file.name)
    mine = sorted(folder.glob("c-*.o"))
    return attempt(OCAMLOPT, "-I +unix -I +threads", MODULES[name], objects, mine, ["-o", program], cwd=folder)[0] == 0


# ---- running ----

def limits(cpu, wall):
    """The time limits of a test with a fault, given its times without one: processor time, and total time."""
    return max(8, 10 * cpu), max(300, 12 * wall)


def run(command, cpu, wall, environment={}, folder=None, memory=6 << 30):
    """None if it succeeds, else how it ended; and its processor time and total time."""
    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
                             env={**os.environ, **environment}, cwd=folder)
    timer = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - start > wall:
            timer = True
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            break
        time.sleep(0.01)
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what it left running
    except ProcessLookupError:
        pass
    child.returncode = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    end = None if child.returncode == 0 else "time-out" if timer or child.returncode == -signal.SIGXCPU else "fails"
    return end, used, time.monotonic() - start



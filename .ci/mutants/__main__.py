"""Seeded faults: changes one place of the allocator at a time, and expects a test to fail.

The faults are made by the rules below, in the order of files and lines; none is stored. For each, the
object it is in (for a header: all, and those of the tests, into which it is inlined) is compiled, and linked with
the rest into the unit tests, the situations (each alone, the fast ones first) and, where there is one, the random
walk of boxroot-c/test/stress. The first failure, or a time-out, catches it. What does not compile, or compiles to
the same object, does not count.

  python3 .ci/mutants [--list]    OCAMLOPT must be set. Settings, in the environment:
    COUNT=200       how many: those with the least hashes, so that the choice stays when lines move; or all
    FILES="a.c …"   all those of these files
    MUTANTS=1-40    only these numbers of the choice
    AFTER=5.3.0     what survived on that version, and the files that are for this version of OCaml only
    JOBS=2          how many at a time
    AGAIN=1         also those that target/mutants/VERSION/results has: without it, a run goes on there

Prints a table, and the survivors. Fails if there is one that boxroot-c/test/mutants.txt does not explain.
"""
import concurrent.futures, hashlib, json, os, random, re, resource, shlex, shutil, signal, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
os.chdir(ROOT)
C = ROOT / "boxroot-c"
OCAMLOPT = os.environ.get("OCAMLOPT", "ocamlopt")
CC = os.environ.get("CC", "cc")


def output(*command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


VERSION = output(OCAMLOPT, "-version").strip()
WHERE = output(OCAMLOPT, "-where").strip()
WORK = ROOT / "target/mutants" / VERSION
FLAGS = ["-O1", "-fPIC", "-DBXR_DEBUG", "-DBXR_FAULT_INJECTION", f"-I{WHERE}"]
SOURCES = sorted((C / "src").glob("*.c"))
CHECKER = C / "src/validate.c"  # looks for faults itself
STRESS = Path(os.environ.get("STRESS") or C / "test/stress")
HEADERS = [C / "include/boxroot/inline.h", C / "include/boxroot/lock.h", C / "src/setup.h"]

# ---- the rules ----

# Lines that no test can be expected to notice, and why.
SKIPPED = [
    (r"^\s*(#|/?\*|extern )|_Static_assert|BXR_STATIC_ASSERT", "not code"),
    (r"check_link|require\(", "the checks themselves"),
    (r"prefetch|BXR_AHEAD|\bahead\b", "speed only"),
    (r"printf|PRIu64|^\s*s\.|\bcase .*return \"|^\s+\"", "text that is printed"),
    (r"longest|nanoseconds|tv_n?sec|CLOCK_|took", "how long scans take"),
    (r"\(void\)\w+;", "silences a warning"),
    (r"injected|pretended|failing_call|fails_for_good|\bcalls\b|\bfails\b", "the failures that tests inject"),
]


def parenthesis(text, start):
    """The end of the parenthesis that opens at start, or None."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return None


def negate(line):
    for m in re.finditer(r"\bif (?=\()", line):
        end = parenthesis(line, m.end())
        if end:
            yield line[: m.end()] + "(!" + line[m.end() : end] + ")" + line[end:]


def stop_looping(line):
    for m in re.finditer(r"\bwhile (?=\()", line):
        end = parenthesis(line, m.end())
        if end:
            loop = "} while (false" if "} while" in line else "if (" + line[m.end() : end]
            yield line[: m.start()].replace("} ", "") + loop + ")" + line[end:]


STATEMENT = re.compile(r"^(\s+(?:if \(.*\) |else )?)([\w&*>.\[\]()+-]+(?: [-+|]?= |\(|\+\+|--).*;)(?:\s*/\*.*)?$")
DECLARATION = re.compile(r"^\s+(return|break|continue|case|default|for|do|const|static|struct|enum|union|bool|char|int|u?int\w*_t|size_t|value|boxroot|bxr_witness|uint\w*|double)\b")


def drop(line):
    m = STATEMENT.match(line)
    if m and not DECLARATION.match(line) and not m[2].startswith(("return", "while")):
        yield m[1] + ";"


def drop_return(line):
    if re.match(r"^\s+if \(.*\) return\b.*;", line):
        yield line.replace("if (", "if (false && (", 1).replace(") return", ")) return", 1)


def empty_function(line):
    m = re.match(r"^(?:static )?(?:inline )?(void|bool|size_t) \w+\(.*\) \{$", line)
    if m:
        yield line + {"void": " return;", "bool": " return true;", "size_t": " return 0;"}[m[1]]


def swap_branches(line):
    m = re.search(r"\? ([^?:]+) : ([^?:;]+);$", line)
    if m:
        yield line[: m.start()] + f"? {m[2]} : {m[1]};"


def replace(pattern, *new):
    def rule(line):
        for m in re.finditer(pattern, line):
            for text in new:
                changed = m.expand(text)
                if changed != m[0]:
                    yield line[: m.start()] + changed + line[m.end() :]

    return rule


def compare(line):
    pairs = [("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")]
    if "if (" not in line or re.search(r"&&|\|\|", line):  # else it is what "negate" does
        pairs += [("==", "!="), ("!=", "==")]
    for a, b in pairs:
        yield from replace(f" {a} ", f" {b} ")(line)


RULES = {
    "negate": negate,
    "no-loop": stop_looping,
    "drop": drop,
    "no-return": drop_return,
    "empty": empty_function,
    "branches": swap_branches,
    "compare": compare,
    "and-or": lambda line: (c for a, b in [("&&", "||"), (r"\|\|", "&&")] for c in replace(f" {a} ", f" {b} ")(line)),
    "one-off": replace(r" [-+] 1\b", ""),
    "constant": lambda line: (
        c for a, b in [("0", "1"), ("1", "2"), ("1", "0")] for c in replace(rf"(?<=[ (]){a}(?=[;,)])", b)(line)
    ),
    "high-water": replace(r"(?<=[=+<>] )(pool->high_water|BXR_SLOTS|EXTENT)\b(?! =)", r"(\1 - 1)", r"(\1 + 1)"),
    "state": lambda line: (
        c
        for a, b in [("IDLE", "REOPENED"), ("REOPENED", "ACTIVE"), ("ACTIVE", "FOREIGN"), ("FULL", "PARTIAL"),
                     ("PARTIAL", "FULL"), ("EMPTY", "PARTIAL"), ("CURRENT", "FULL"), ("SCAN_MINOR", "SCAN_OTHER")]
        for c in replace(rf"\bBXR_{a}\b", f"BXR_{b}")(line)
    ),
    "list": replace(r"&(\w+)->(young|old)(_partial)?\b", r"&\1->old\3", r"&\1->young\3", r"&\1->\2_partial"),
    "truth": lambda line: (
        c
        for a, b in [("true", "false"), ("false", "true")]
        for c in replace(rf"(?:(?<=return )|(?<== )|(?<=, )){a}(?=[;,)])", b)(line)
    ),
    "order": replace(r"\b(?:bxr_exchange|bxr_or|bxr_add)\((&?[\w.>\[\]-]+), [^,]*?\)(?=;| ==| !=)", r"bxr_load(\1)"),
    "shift": replace(r" (%|/|\*) 64", r" \1 32"),
    "add": replace(r" ([-+])= ", " = "),
}


def faults():
    """All of them: (name, file, line number, the line as it was, the line as it becomes)."""
    for path in [source for source in SOURCES if source != CHECKER] + HEADERS:
        comment, assertion = False, 0
        for number, line in enumerate(path.read_text().split("\n"), 1):
            inside, comment = comment, ("*/" not in line) if (comment or "/*" in line) else False
            if "BXR_ASSERT" in line or assertion:
                assertion += line.count("(") - line.count(")")
                continue
            if inside or any(re.search(pattern, line) for pattern, _ in SKIPPED):
                continue
            code = re.sub(r"/\*.*?(\*/|$)", lambda m: " " * len(m[0]), line).rstrip()
            seen = {code}
            for name, rule in RULES.items():
                for changed in rule(code):
                    if changed not in seen:
                        seen.add(changed)
                        yield f"{path.relative_to(C)}:{number}:{name}", path, number, line, changed


def digest(fault):
    """The same for the same change of the same text, wherever that is in its file."""
    _, path, _, old, new = fault[-5:]
    return hashlib.sha1("\n".join([str(path.relative_to(C)), old, new]).encode()).hexdigest()[:16]


def key(fault):
    return digest(fault) + ":" + fault[-5].split(":", 1)[1]


AFTER = os.environ.get("AFTER")


def read_results(version):
    file = WORK.parent / version / "results"
    lines = file.read_text().splitlines() if file.exists() else []
    return {line.split("\t")[0]: line.split("\t")[1:] for line in lines}


SURVIVED = {name for name, result in read_results(AFTER).items() if result[0] == "survived"} if AFTER else set()


def chosen():
    mine, others = "runtime_ocaml4.c", "runtime_ocaml5.c"
    if VERSION[0] != "4":
        mine, others = others, mine
    every = list(faults())
    found = [f for f in every if f[1].name != others]
    names = os.environ.get("FILES", "").split()
    count = os.environ.get("COUNT") or "200"
    if names:
        found = [f for f in found if f[1].name in names or f[1].stem in names]
    elif count != "all":
        least = sorted(map(digest, found))[: int(count)]
        found = [f for f in found if digest(f) <= least[-1]]
    if AFTER:
        found = [f for f in every if key(f) in SURVIVED or (f in found and f[1].name == mine)]
    first, _, last = (os.environ.get("MUTANTS") or f"1-{len(found)}").partition("-")
    return [(n, *f) for n, f in enumerate(found, 1) if int(first) <= n <= int(last or first)]


# ---- building ----


def compile_object(source, target, include=C, src=None):
    src = src or include / "src"
    return subprocess.run(
        [CC, *FLAGS, f"-I{src}", f"-I{include}/include", "-c", source, "-o", target],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def c_tests():
    """The C sources of the tests that are C and OCaml."""
    found = {"unit": [source for source in sorted((C / "test").glob("*.c")) if source.stem != "headers"]}
    if VERSION[0] == "4":
        found["thread_exit"] = [C / "test/thread_exit/thread_exit.c"]
    if STRESS.is_dir():
        found["stress"] = sorted(STRESS.glob("*.c"))
    return found


def build_common():
    """The objects without a fault, those of the tests, and how to link the situations."""
    (WORK / "clean").mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        assert compile_object(source, WORK / "clean" / (source.stem + ".o")), source
    for name, test in c_tests().items():
        (WORK / name).mkdir(exist_ok=True)
        for source in test:
            assert compile_object(source, WORK / name / f"c-{source.stem}.o"), source
    shutil.copy(C / "test/unit.ml", WORK / "unit")
    output(OCAMLOPT, "-c", "unit.ml", cwd=WORK / "unit")
    if VERSION[0] == "4":
        folder = WORK / "thread_exit"
        shutil.copy(C / "test/thread_exit/thread_exit.ml", folder)
        output(OCAMLOPT, "-I", "+threads", "-c", "thread_exit.ml", cwd=folder)
    if STRESS.is_dir():
        folder = WORK / "stress"
        shutil.copy(STRESS / f"domains_{VERSION[0]}.ml", folder / "domains.ml")
        shutil.copy(STRESS / "stress.ml", folder)
        output(OCAMLOPT, "-I", "+unix", "-I", "+threads", "-c", "domains.ml", "stress.ml", cwd=folder)
    # Its temporary files stay, so that the command can be repeated.
    temporary = WORK / "tmp"
    temporary.mkdir(exist_ok=True)
    printed = output(
        "cargo", "rustc", "--quiet", "--test", "situations",
        "--target-dir", str(WORK / "cargo"), "--", "-Csave-temps",
        "--print", "link-args", env={**os.environ, "OCAMLOPT": OCAMLOPT, "TMPDIR": str(temporary)})
    commands = [line for line in printed.splitlines() if '"-o"' in line]
    if commands:
        (WORK / "link").write_text(commands[-1])


def link_situations(objects, program):
    """The library's objects come first, so that none is taken from the crate."""
    words = shlex.split((WORK / "link").read_text())
    while "=" in words[0]:
        del words[0]
    at = words.index("-o")
    words[at : at + 2] = []
    return subprocess.run([words[0], *objects, *words[1:], "-o", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def link_ocaml(name, modules, objects, program):
    folder = program.parent / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in (WORK / name).iterdir():
        other = program.parent / "tests" / name / file.name
        os.link(other if other.exists() else file, folder / file.name)
    mine = sorted(map(str, folder.glob("c-*.o")))
    return subprocess.run([OCAMLOPT, "-I", "+unix", "-I", "+threads", *modules, *map(str, objects), *mine, "-o", program],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


# ---- running ----


def run(command, cpu, wall, environment={}, folder=None):
    """None if it succeeds, else how it ended; and the time it took on the processors, and in all."""
    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

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


WALK = {"OPERATIONS": "40000", "ROOTS": "3000", "PERIODS": "12"}


def suites(folder, times):
    """What is linked and run, one after another: (kind, how to link it, [(name, command, environment)])."""
    yield "unit", lambda objects: link_ocaml("unit", ["unit.cmx"], objects, folder / "unit.exe"), [("unit", [folder / "unit.exe"], {})]
    if VERSION[0] == "4":
        with_threads = ["unix.cmxa", "threads.cmxa", "thread_exit.cmx"]
        program = folder / "thread_exit.exe"
        yield "unit", lambda objects: link_ocaml("thread_exit", with_threads, objects, program), [("thread_exit", [program], {})]
    names = sorted(times["situations"], key=times["situations"].get)
    yield "situation", lambda objects: link_situations(objects, folder / "situations"), [
        (name, [folder / "situations", "--exact", name], {}) for name in names]
    if STRESS.is_dir():
        modules = ["unix.cmxa", "threads.cmxa", "domains.cmx", "stress.cmx"]
        yield "stress", lambda objects: link_ocaml("stress", modules, objects, folder / "stress.exe"), [
            (f"stress-{seed}", [folder / "stress.exe"], {**WALK, "SEED": str(seed)}) for seed in range(1, 4)]


def baseline():
    """How long each test takes without a fault."""
    file = WORK / "times.json"
    folder = WORK / "baseline"
    folder.mkdir(exist_ok=True)
    objects = sorted((WORK / "clean").glob("*.o"))
    assert link_situations(objects, folder / "situations").returncode == 0, "the situations do not link"
    listed = lambda *more: {line.removesuffix(": test") for line in output(folder / "situations", "--list", *more).splitlines() if line.endswith(": test")}
    names = listed() - listed("--ignored")
    times = json.loads(file.read_text()) if file.exists() else {}
    if set(times.get("situations", ())) != names:
        times = {"situations": dict.fromkeys(names, 0), "all": {}}
    for kind, link, programs in list(suites(folder, times)):
        if all(name in times["all"] for name, _, _ in programs):
            continue
        assert link(objects).returncode == 0, f"{kind}: does not link"
        for name, command, environment in programs:
            end, cpu, wall = run(command, 1000, 1000, environment, folder)
            assert end is None, f"without a fault, {name} {end}"
            times["all"][name] = (cpu, wall)
            if kind == "situation":
                times["situations"][name] = cpu
    file.write_text(json.dumps(times))
    return times


def check(fault, times):
    """The fault's line of the results: what caught it, and which test."""
    number, name, path, line_number, old, new = fault
    folder = WORK / f"fault-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        shutil.copytree(C / "include", folder / "include")
        shutil.copytree(C / "src", folder / "src")
        target = folder / path.relative_to(C)
        lines = target.read_text().split("\n")
        lines[line_number - 1] = new
        target.write_text("\n".join(lines))
        changed, objects = False, []
        for source in SOURCES:
            clean = WORK / "clean" / (source.stem + ".o")
            objects.append(clean)
            if path.suffix == ".h" or source == path:
                objects[-1] = folder / clean.name
                if not compile_object(folder / "src" / source.name, objects[-1], folder):
                    return "does not compile", ""
                changed |= objects[-1].read_bytes() != clean.read_bytes()
        for name, test in c_tests().items() if path.suffix == ".h" else ():
            (folder / "tests" / name).mkdir(parents=True)
            for source in test:
                target = folder / "tests" / name / f"c-{source.stem}.o"
                if not compile_object(source, target, folder):
                    return "does not compile", ""
                changed |= target.read_bytes() != (WORK / name / target.name).read_bytes()
        if not changed:
            return ("survived" if key(fault) in SURVIVED else "same"), ""
        for kind, link, programs in suites(folder, times):
            if link(objects).returncode:
                return "does not compile", kind
            for test, command, environment in programs:
                cpu, wall = times["all"][test]
                end, _, _ = run(command, max(8, 10 * cpu), max(60, 12 * wall), environment, folder)
                if end:
                    return kind, test + (" (time-out)" if end == "time-out" else "")
        return "survived", ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def reasons():
    """Those survivors that are no faults, or that no test here can find: {(file, text): reason}."""
    found, reason = {}, None
    for line in (C / "test/mutants.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif reason and ": " in line:
            file, text = line.split(": ", 1)
            found[file, text.strip()] = reason
    return found


def reason(fault, known):
    _, path, number, _, new = fault[-5:]
    before = path.read_text().split("\n")[number - 2]
    file, new = str(path.relative_to(C)), new.strip()
    return known.get((file, new)) or known.get((file, before.strip() + " | " + new))


def main():
    todo = chosen()
    if "--list" in sys.argv:
        for number, name, _, _, old, new in todo:
            print(f"{number} {name}\n    {old.strip()}\n    {new.strip()}")
        return 0
    build_common()
    times = baseline()
    done = {} if os.environ.get("AGAIN") else read_results(VERSION)
    results = {}
    waiting = [f for f in todo if key(f) not in done]
    random.Random(1).shuffle(waiting)  # a run that is stopped has seen a bit of everything
    for fault in todo:
        if key(fault) in done:
            results[fault[0]] = tuple(done[key(fault)])
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool, (WORK / "results").open("a") as log:
        running = {pool.submit(check, fault, times): fault for fault in waiting}
        for future in concurrent.futures.as_completed(running):
            fault = running[future]
            results[fault[0]] = future.result()
            log.write("\t".join([key(fault), *future.result()]) + "\n")
            log.flush()
            print(f"{len(results)}/{len(todo)} {fault[1]}: {' '.join(future.result())}", file=sys.stderr, flush=True)
    return report(todo, results)


def report(todo, results):
    known = reasons()
    kinds = ["unit", "situation", "stress", "explained", "survived"]
    table, survivors = {}, []
    for fault in todo:
        kind, _ = results[fault[0]]
        path = str(fault[2].relative_to(C))
        if kind == "survived" and reason(fault, known):
            kind = "explained"
        if kind == "survived":
            survivors.append(fault)
        if kind in kinds:
            row = table.setdefault(path, dict.fromkeys(kinds, 0))
            row[kind] += 1
    table["all"] = {kind: sum(row[kind] for row in table.values()) for kind in kinds}
    print(f"OCaml {VERSION}")
    print("\n| file | faults | " + " | ".join(kinds) + " |")
    print("|---|" + "---|" * (len(kinds) + 1))
    for name, row in table.items():
        print(f"| {name} | {sum(row.values())} | " + " | ".join(str(row[kind]) for kind in kinds) + " |")
    for fault in survivors:
        print(f"\n{fault[1]} survives:\n  {fault[4].strip()}\n  {fault[5].strip()}")
    return 1 if survivors else 0


sys.exit(main())

"""Generates mutants, and expects a test to detect each."""
import concurrent.futures, json, os, random, shutil, sys

import faults
from faults import digest, key, reason, reasons
from programs import (C, RUST_TESTS, VERSION, WORK, build_c_tests, build_rust_tests, c_tests, compile_all, compile_copy,
                      compile_object, copy_sources, limits, link_c_tests, link_rust_tests, run, rust_tests)

CLEAN = WORK / "clean"

AFTER = os.environ.get("AFTER")
EXPLAINED = bool(os.environ.get("EXPLAINED"))


def read_results(version):
    file = WORK.parent / version / "results"
    lines = file.read_text().splitlines() if file.exists() else []
    return {line.split("\t")[0]: line.split("\t")[1:] for line in lines}


BEFORE = {name: result[0] for name, result in (read_results(AFTER) if AFTER else {}).items()}


def chosen():
    mine, others = "runtime_ocaml4.c", "runtime_ocaml5.c"
    if VERSION[0] != "4":
        mine, others = others, mine
    every = list(faults.faults())
    found = [f for f in every if f[1].name != others]
    names = os.environ.get("FILES", "").split()
    count = os.environ.get("COUNT") or "200"
    if names:
        found = [f for f in found if f[1].name in names or f[1].stem in names]
    elif count != "all":
        least = sorted(map(digest, found))[: int(count)]
        found = [f for f in found if digest(f) <= least[-1]]
    if AFTER:
        found = [f for f in every if BEFORE.get(key(f)) in ("survived", "same") or (f in found and f[1].name == mine)]
    first, _, last = (os.environ.get("MUTANTS") or f"1-{len(found)}").partition("-")
    return [(n, *f) for n, f in enumerate(found, 1) if int(first) <= n <= int(last or first)]


WALK = {"OPERATIONS": "40000", "ROOTS": "3000", "PERIODS": "12"}


def suites(folder, times):
    """The steps of linking and running, in order: (kind, how to link it, [(name, command, environment)])."""
    def c_test(name):
        return lambda objects: link_c_tests(name, objects, folder / f"{name}.exe")

    for name in "unit", "thread_exit":
        if name in c_tests():
            yield "unit", c_test(name), [(name, [folder / f"{name}.exe"], {})]
    names = sorted(times["rust"], key=times["rust"].get)
    yield "rust", lambda objects: link_rust_tests(objects, folder / RUST_TESTS), [
        (name, [folder / RUST_TESTS, "--exact", name], {}) for name in names]
    yield "stress", c_test("stress"), [
        ("stress", [folder / "stress.exe"], WALK),
    ]


def baseline(objects):
    """How long each test takes without a fault."""
    file = WORK / "times.json"
    folder = WORK / "baseline"
    folder.mkdir(exist_ok=True)
    assert link_rust_tests(objects, folder / RUST_TESTS), "the tests in Rust do not link"
    names = rust_tests(folder / RUST_TESTS)
    times = json.loads(file.read_text()) if file.exists() else {}
    if set(times.get("rust", ())) != names:
        times = {"rust": dict.fromkeys(names, 0), "all": {}}
    for kind, link, programs in list(suites(folder, times)):
        if all(name in times["all"] for name, _, _ in programs):
            continue
        assert link(objects), f"{kind}: does not link"
        for name, command, environment in programs:
            end, cpu, wall = run(command, 1000, 1000, environment, folder)
            assert end is None, f"without a fault, {name} {end}"
            times["all"][name] = (cpu, wall)
            if kind == "rust":
                times["rust"][name] = cpu
    file.write_text(json.dumps(times))
    return times


def check(fault, times):
    """The fault's line in the results: how it was caught, and by which test."""
    number, _, path, line_number, _, new = fault
    folder = WORK / f"fault-{number}"
    try:
        copy_sources(folder)
        target = folder / path.relative_to(C)
        lines = target.read_text().split("\n")
        lines[line_number - 1] = new
        target.write_text("\n".join(lines))
        compiled = compile_copy(folder, [path], CLEAN)
        if compiled is None:
            return "does not compile", ""
        objects, changed = compiled
        for name, test in c_tests().items() if path.suffix == ".h" else ():
            (folder / "tests" / name).mkdir(parents=True)
            for source in test:
                target = folder / "tests" / name / f"c-{source.stem}.o"
                if not compile_object(source, target, folder):
                    return "does not compile", ""
                changed |= target.read_bytes() != (WORK / name / target.name).read_bytes()
        if not changed:
            return ("survived" if BEFORE.get(key(fault)) == "survived" else "same"), ""
        for kind, link, programs in suites(folder, times):
            if not link(objects):
                return "does not compile", kind
            for test, command, environment in programs:
                end, _, _ = run(command, *limits(*times["all"][test]), environment, folder)
                if end:
                    return kind, test + (" (time-out)" if end == "time-out" else "")
        return "survived", ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(only_list):
    todo = chosen()
    if only_list:
        for number, name, _, _, old, new in todo:
            print(f"{number} {name}\n    {old.strip()}\n    {new.strip()}")
        return 0
    objects = compile_all(CLEAN)
    build_c_tests()
    build_rust_tests()
    times = baseline(objects)
    done = {} if os.environ.get("AGAIN") else read_results(VERSION)
    known = {} if EXPLAINED else reasons()
    results = {f[0]: ("survived", "") for f in todo if reason(f, known)}
    waiting = [f for f in todo if key(f) not in done and f[0] not in results]
    random.Random(1).shuffle(waiting)  # so that a run that is stopped has tried some of each kind
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
    kinds = ["unit", "rust", "stress", "explained", "survived"]
    table, survivors = {}, []
    for fault in todo:
        kind, _ = results[fault[0]]
        path = str(fault[2].relative_to(C))
        if kind == "survived" and reason(fault, known):
            kind = "explained"
        if kind == "survived":
            survivors.append(fault)
        elif EXPLAINED and kind in ("unit", "rust", "stress") and reason(fault, known):
            print(f"{fault[1]} needs no reason, because {results[fault[0]][1]} fails: {fault[5].strip()}")
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



"""The generated mutants: one line of the allocator, changed by one of the rules below."""
import hashlib, re

from programs import C, SOURCES

# Files without faults: a file that looks for faults itself, and files that the tests' programs do not call: other names, the
# checked flavour, Windows, musl.
LEFT_OUT = "validate.c", "plain_names.c", "check.c", "os_windows.c", "os_unwind.c"
HEADERS = [C / "include/boxroot/inline.h", C / "include/boxroot/lock.h", C / "src/runtime.h", C / "src/setup.h"]

# Lines whose faults no test can be expected to detect, and the reasons.
SKIPPED = [
    (r"^\s*(#|/?\*|extern )|_Static_assert|BXR_STATIC_ASSERT", "not code"),
    (r"check_link|require\(", "the checks themselves"),
    (r"prefetch|\bAHEAD\b|\bahead\b", "speed only"),
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
    if "if (" not in line or re.search(r"&&|\|\|", line):  # else "negate" does the same
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
        for a, b in [("FULL", "PARTIAL"),
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
    """All faults: (name, file, line number, the old line, the new line)."""
    for path in [source for source in SOURCES if source.name not in LEFT_OUT] + HEADERS:
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
    """A key that is the same for the same change of the same text, at any place in its file."""
    _, path, _, old, new = fault[-5:]
    return hashlib.sha1("\n".join([str(path.relative_to(C)), old, new]).encode()).hexdigest()[:16]


def key(fault):
    return digest(fault) + ":" + fault[-5].split(":", 1)[1]


# ---- faults that no test is expected to notice ----


def reasons():
    """{(file, text): reason}, from boxroot-c/test/mutants.txt."""
    found, reason = {}, None
    for line in (C / "test/mutants.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif reason and ": " in line:
            file, text = line.split(": ", 1)
            found[file, text.strip()] = reason
    return found


def names(fault):
    """The names of a fault in boxroot-c/test/mutants.txt: its line alone, or after the line before."""
    _, path, number, _, new = fault[-5:]
    before = path.read_text().split("\n")[number - 2].strip()
    file, new = str(path.relative_to(C)), new.strip()
    return (file, new), (file, f"{before} | {new}")


def reason(fault, known):
    alone, after = names(fault)
    return known.get(alone) or known.get(after)


def without_faults():
    """Reasons for faults that are no longer made."""
    made = {name for fault in faults() for name in names(fault)}
    return [": ".join(name) for name in reasons() if name not in made]

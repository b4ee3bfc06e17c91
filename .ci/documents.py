#!/usr/bin/env python3
"""Checks the documents (*.md): their links to each other and to files, the anchors, and the files, make targets and tests
("Tests:") that they name. The guide (docs/guide) is also a book: its SUMMARY.md names each page, and its pages link only to each
other. They name other files without a link.

With --compile: also checks the blocks of code. rustdoc compiles and runs Rust (ocaml-boxroot/src/lib.rs includes these
documents). A block of Rust or OCaml with `ignore` must be a part of some file in that language in the repository. Lines of CMake
and dune must be lines of some file of that kind. Blocks of C, C++ and other OCaml are compiled. A block of C that is not a whole
file has a comment in front of it, <!-- in: int f(void) -->, that names its function. A block of OCaml with Domain.spawn is for
OCaml 5. .ci/packages.py compiles the files of the pages that it follows. Needs OCAMLOPT, gcc, g++.

With --table: only writes the list of unsafe functions of OCaml's libraries, which the generator of bindings reads, as a table
into the guide. The guide's table must equal the list.

With --book FOLDER: only checks that each link in the HTML pages of the book leads to a page and an anchor.
"""
import html, os, re, sys, tempfile
from pathlib import Path
from support import attempt, ocaml, tracked, version, where

GUIDE = Path("docs/guide")
problems = []


def problem(place, text):
    problems.append(f"documents: {place}: {text}")


def lines_without_code(text):
    """The numbered lines outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path):
    """The anchors of a document, as GitHub makes them."""
    result = set()
    for _, line in lines_without_code(path.read_text()):
        if line.startswith("#"):
            title = line.lstrip("#").strip().lower()
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
            result.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return result


def check_link(path, number, link):
    if re.match(r"[a-z]+:", link):
        return
    file, _, anchor = link.partition("#")
    target = Path(os.path.normpath(path.parent / file)) if file else path
    if path.is_relative_to(GUIDE) and not target.is_relative_to(GUIDE):
        problem(f"{path}:{number}", f"{file} is not a part of the book: name it without a link")
    if not target.exists():
        problem(f"{path}:{number}", f"no file {file}")
    elif anchor and target.suffix == ".md" and anchor not in anchors(target):
        problem(f"{path}:{number}", f"no heading #{anchor} in {target}")


TARGETS = {
    folder: set(re.findall(r"^([\w\-]+):", Path(folder, "Makefile").read_text(), re.M))
    for folder in (".", "boxroot-c", "examples/ocaml_main")
}
TEST_SOURCES = "".join(path.read_text() for path in tracked("tests/c_api/*.rs", "tests/safe/*.rs"))
FOLDERS = {path.parts[0] for path in tracked() if len(path.parts) > 1}


def check_make(path, number, command):
    words = re.split(r"  |#", command)[0].split()[1:]
    folder = "."
    if words[:1] == ["-C"] and len(words) > 1:
        folder, words = words[1], words[2:]
    for word in words:
        if not re.fullmatch(r"[a-z][a-z\-]+", word):  # NAME=..., ..., a sentence's end
            break
        # boxroot-c/README.md names targets of its own folder.
        if not any(word in TARGETS[f] for f in {folder, str(path.parent)} & TARGETS.keys()):
            problem(f"{path}:{number}", f"no make target {word} in {folder}/Makefile")
    if folder not in TARGETS:
        problem(f"{path}:{number}", f"no {folder}/Makefile")


def check_named_file(path, number, name):
    if not re.fullmatch(r"[\w\-./]+/[\w\-./]*", name) or re.search(r"[A-Z]{4,}(?!\.md)", name):
        return  # no path, or a placeholder
    if name.split("/")[0] in FOLDERS and name.split("/")[0] != "src" and not Path(name).exists() \
            and not (path.parent / name).exists():
        problem(f"{path}:{number}", f"no file {name}")


def check_tests(path, number, names):
    """A line that begins with "Tests:", or a cell of a column "tests", names tests, or commands."""
    for name in names:
        if not re.search(r"[ /]", name) and not re.search(rf"\btest!\(\s*{name}\b", TEST_SOURCES):
            problem(f"{path}:{number}", f"no test {name}")


def check_text(path):
    in_table = False
    for number, line in lines_without_code(path.read_text()):
        in_table = line.startswith("|") and (in_table or line.endswith("| tests |"))
        if in_table:
            check_tests(path, number, re.findall(r"`(.*?)`", line.split(" | ")[-1]))
        if line.startswith("Tests:"):
            check_tests(path, number, re.findall(r"`(.*?)`", line))
        for code in re.findall(r"`([^`]+)`", line) + re.findall(r"^    (make .*)", line):
            if re.match(r"make [a-z\-]", code):
                check_make(path, number, code)
            check_named_file(path, number, code)
        for link in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            check_link(path, number, link)


CATALOGUE = GUIDE / "errors.md"
OURS = "Build script and cargo", "C functions", "Rust errors", "Exceptions, panics and reports"  # sections with our messages
FOREIGN = "Only one package", "Stdlib.Effect.Unhandled", "has overflowed its stack", "Unix.fork may not be called", "No such file"


STRING = r'"((?:[^"\\]|\\.)*)"'
RUST_MESSAGE = r"\b(?:Error\(\s*(?:format!\(\s*)?|TWO_RUNTIMES: &str =\s*)"
OCAML_MESSAGE = r"(?:(?:failwith|Clash|reason =|left_out_of m)\s+\(?Printf\.sprintf|[uU]nsupported|without_conversion d|why =)\s+"
WALK_MESSAGE = rf"(?:{OCAML_MESSAGE}|(?:then|else|\))\s+)"  # also the reasons that walk.ml chooses, or gives to left_out


def plain(text):
    """The text without the marks of code and without line ends, so that a table's text can be compared with a source's."""
    return re.sub(r"[`\s]+", " ", text.replace('\\"', '"'))


def messages_of_build():
    """The first long part without a placeholder, up to a comma or the like, of each message of the build helper, and of each
    reason why an item has no binding."""
    for path in tracked("ocaml-boxroot-sys/src/build/*"):
        before = {".rs": RUST_MESSAGE, ".ml": WALK_MESSAGE if path.stem == "walk" else OCAML_MESSAGE}.get(path.suffix)
        for message in re.findall(before + STRING, re.sub(r"\\\n\s*", "", path.read_text())) if before else []:
            parts = [re.sub(r"(?<=.{20})[;:.,].*", "", plain(part).strip(" ,:;.")) for part in re.split(r"\{.*?\}|%\w|\\n", message)]
            part = max(parts, key=lambda part: min(len(part), 16))
            if re.search(r"\w{4}", part):
                yield part


def check_errors():
    """The catalogue contains each error of the libraries and the build helper, and our messages in it are in the sources."""
    page = CATALOGUE.read_text()
    errors = re.sub(r"\\\n *", "", Path("ocaml-boxroot/src/error.rs").read_text())
    texts = []
    for name, text in re.findall(r'^ +([A-Z]\w+) = "(.*)",$', errors, re.M):
        texts += [f"`{name}`", re.split(r"[;:,(]", text)[0].strip()]
    texts += [f"`{name}`" for kind in re.findall(r"^pub enum (?:Start|Shutdown|Domains)Error \{\n(.*?)^\}$", errors, re.M | re.S)
              for name in re.findall(r"^    ([A-Z]\w+)", kind, re.M)]
    setup = Path("boxroot-c/src/setup.c").read_text()
    texts += set(re.findall(r'return\s+"(boxroot: [^;,"]+)', setup)) - {"boxroot: no error on this thread", "boxroot: unknown error"}
    texts += messages_of_build()
    for text in texts:
        if plain(text) not in plain(page):
            problem(CATALOGUE, f"does not explain {text}")
    sources = "".join(path.read_text() for path in tracked("ocaml-boxroot/src/*", "ocaml-boxroot-sys/*", "boxroot-c/*")
                      if path.suffix in (".rs", ".c", ".h", ".ml"))
    sources = plain(re.sub(r'\\\n\s*|"\s*\n\s*"', "", sources))
    for section in OURS:
        rows = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.M | re.S).group(1)
        cells = re.findall(r"^\|(?: `\w+` \|)? (?:a panic )?(`[^|]*) \|", rows, re.M)
        for message in (one or other for cell in cells for one, other in re.findall(r"``(.*?)``(?!`)|`(.*?)`", cell)):
            for part in message.split("…"):
                part = plain(part).strip(" ,;.")
                if len(part) > 7 and part not in sources and not any(text in part for text in FOREIGN):
                    problem(CATALOGUE, f"no source says: {part}")


def numbers(row):
    return re.findall(r"[\d.]+", re.sub(r"`[^`]*`", "", row).partition("|")[2])


def check_figures():
    """The figures of the README's rows that name a measure (`pair`) equal those in the measure's row of the reports. Instructions
    are rounded."""
    rows = {}
    for page in GUIDE / "costs.md", Path("docs/instructions/border-5.3.0.md"):
        for row in re.findall(r"^\| (.*) \|$", page.read_text(), re.M):
            name = re.search(r"\(`(\w+)`\)", row.partition("|")[0])
            rows[name.group(1) if name else row.partition(" ")[0]] = numbers(row)
    for name, row in re.findall(r"^\| [^|]*\(`(\w+)`\) (\|.*) \|$", Path("README.md").read_text(), re.M):
        for figure in numbers(row):
            if not any(figure in (known, f"{float(known):.0f}") for known in rows.get(name, [])):
                problem("README.md", f"{figure} is not among the figures of `{name}` in the reports")


UNSAFE_FUNCTIONS = Path("ocaml-boxroot-sys/src/build/bindings/unsafe_functions.txt")


def row_of_unsafe_functions(entry):
    fields = dict(line.split(" ", 1) for line in entry.replace("\n ", " ").splitlines() if not line.startswith("#"))
    versions, names = next((key, fields[key].split()) for key in ("all", "ocaml4", "ocaml5") if key in fields)
    cells, around = [], None
    for name in names:
        module, _, function = name.removeprefix("Stdlib.").rpartition(".")
        if name.startswith('"'):
            cells.append(f"`{name}`")
        elif function == "*":
            cells.append(f"all of `{module}`")
        else:
            cells.append(f"`{function}`" if module == around else f"`{module}.{function}`")
        around = module
    if names[0].startswith('"'):
        cells[0] = "primitives " + cells[0]
    if versions != "all":
        cells.append("on OCaml " + versions[-1])
    return f"| {', '.join(cells)} | {fields['why']} | {fields['promise']} |"


def check_unsafe_functions(write):
    """The guide's table of unsafe functions equals the list."""
    entries = [entry for entry in UNSAFE_FUNCTIONS.read_text().split("\n\n") if "\npromise " in entry]
    head = "| function | why | the caller promises |\n|---|---|---|\n"
    table = head + "".join(row_of_unsafe_functions(entry.strip()) + "\n" for entry in entries)
    page = GUIDE / "bindings.md"
    before, found, after = page.read_text().partition(head)
    after = after.partition("\n\n")[2]
    if write and found:
        page.write_text(before + table + "\n" + after)
    elif not found or before + table + "\n" + after != page.read_text():
        problem(page, f"its table of unsafe functions differs from {UNSAFE_FUNCTIONS}: .ci/documents.py --table prints the right one")


def check_summary():
    named = re.findall(r"\]\(([^()\s]+)\)", (GUIDE / "SUMMARY.md").read_text())
    for page in GUIDE.glob("**/*.md"):
        times = named.count(str(page.relative_to(GUIDE)))
        if times != (page.name != "SUMMARY.md"):
            problem(GUIDE / "SUMMARY.md", f"names {page} {times} times")


def check_book(folder):
    """The links of mdBook's pages."""
    def targets(page):
        return set(re.findall(r'\bid="([^"]*)"', page.read_text()))
    for page in folder.glob("**/*.html"):
        if page.name in ("404.html", "toc.html"):  # their links are for any folder, and for a frame
            continue
        for link in re.findall(r'\b(?:href|src)="([^"]*)"', page.read_text()):
            file, _, anchor = html.unescape(link).partition("#")
            target = page.parent / file if file else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists():
                problem(page, f"no file {file}")
            elif anchor and anchor not in targets(target):
                problem(page, f"no anchor {link}")


FILE = "a file"  # the context of a block below its name
FOLLOWED = {f"docs/guide/{name}.md" for name in re.findall(r'follow\(folder, "(.*?)"', Path(".ci/packages.py").read_text())}


def blocks(path):
    """Line number, language, context, code of each fenced block."""
    context, language, code = None, None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```") and language is None:
            language, start, code = line[3:].strip(), number, []
        elif line.startswith("```"):
            yield start, language, context, "\n".join(code) + "\n"
            context, language = None, None
        elif language is not None:
            code.append(line)
        elif line.strip():
            found = re.fullmatch(r"<!-- in: (.*) -->", line.strip())
            context = found.group(1) if found else FILE if re.fullmatch(r"`\S+`:", line.strip()) else None


def compile_block(scratch, place, language, context, code):
    if "Domain.spawn" in code and not has_domains:
        return
    include = ["-I", "boxroot-c/include", "-isystem", where()]
    strict = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    if context:
        code = f"#include <boxroot.h>\n{context};\n{context} {{\n{code}}}\n"
    elif language == "c":
        code = f"#include <stdlib.h>\n{code}"
    file = Path(scratch, f"block.{ {'c': 'c', 'cpp': 'cpp', 'ocaml': 'ml'}[language] }")
    file.write_text(code)
    command = {
        "c": ["gcc", "-std=c11", *strict, *include, str(file)],
        "cpp": ["g++", "-std=c++17", *strict, *include, str(file)],
        "ocaml": [ocaml(), "-c", file],
    }[language]
    status, output = attempt(command)
    if status != 0:
        problem(place, f"does not compile:\n{output}")


def check_blocks(path, scratch, quoted):
    for number, language, context, code in blocks(path):
        place = f"{path}:{number}"
        words = re.split(r"[,\s]+", language) if language else []
        if context == FILE:
            if str(path) in FOLLOWED:
                continue
            context = None
        if "ignore" in words:
            if not any(code in text for text in quoted[words[0]]):
                problem(place, f"is not an excerpt of a {words[0]} file of this repository")
        elif words[:1] == ["rust"]:
            if str(path) not in doctested:
                problem(place, "is not compiled: see ocaml-boxroot/src/lib.rs")
        elif words and words[0] in ("c", "cpp", "ocaml"):
            compile_block(scratch, place, words[0], context, code)
        elif words == ["toml"]:
            import tomllib
            try:
                tomllib.loads(code)
            except tomllib.TOMLDecodeError as error:
                problem(place, str(error))
        elif words in (["cmake"], ["lisp"]):
            parts = [re.split("[#;]", line)[0].strip() for line in code.splitlines()]
            if words == ["lisp"]:
                parts = re.findall(r"\([^()]+\)", "\n".join(parts))
            for part in parts:
                if not any(part in text for text in builds):
                    problem(place, f"not in a CMakeLists.txt or dune file that is tested: {part}")
        elif words == ["sh"]:
            for line in code.splitlines():
                if "make " in line:
                    check_make(path, number, line[line.index("make "):])
        elif words not in (["text"], ["asm"]):  # output
            problem(place, f"blocks in '{language}' are not checked; mark output as 'text'")


documents = [path for path in tracked("*.md") if not path.is_symlink() and "corpus" not in path.parts]
if sys.argv[1:2] == ["--book"]:
    check_book(Path(sys.argv[2]))
elif sys.argv[1:] == ["--table"]:
    check_unsafe_functions(write=True)
else:
    check_unsafe_functions(write=False)
    check_summary()
    check_figures()
    check_errors()
    for path in documents:
        check_text(path)
if sys.argv[1:] == ["--compile"]:
    has_domains = not version().startswith("4.")
    lib = Path("ocaml-boxroot/src/lib.rs").read_text()
    doctested = {os.path.normpath("ocaml-boxroot/src/" + name) for name in re.findall(r'include_str!\("([^"]*\.md)"\)', lib)}
    quoted = {language: [path.read_text() for path in tracked(*names)]
              for language, names in {"rust": ["*.rs"], "ocaml": ["*.ml", "*.mli"], "c": ["*.c"], "cpp": ["*.cpp"]}.items()}
    builds = [path.read_text().replace("${BOXROOT}", "boxroot").replace("${language}", "program").replace(" ${ocaml_libraries})", ")") for path in tracked("*CMakeLists.txt", "*/dune")]
    with tempfile.TemporaryDirectory() as scratch:
        for path in documents:
            check_blocks(path, scratch, quoted)
for text in problems:
    print(text, file=sys.stderr)
sys.exit(1 if problems else 0)

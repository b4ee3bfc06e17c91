"""Functions that the Python scripts share. The scripts run in the root of the repository."""
import contextlib, functools, os, shlex, shutil, subprocess, sys, tempfile
from pathlib import Path

SCRIPT = Path(sys.argv[0]).stem
ROOT = Path(__file__).resolve().parent.parent
os.chdir(ROOT)


def say(text):
    print(text, flush=True)


def fail(text):
    sys.exit(f"{SCRIPT}: {text}")


def words(parts):
    """A command: strings are split at spaces; a path, and each item of a list, is one word."""
    command = []
    for part in parts:
        command += part.split() if isinstance(part, str) else map(str, [part] if isinstance(part, Path) else part)
    return command


def attempt(*parts, timeout=None, shown=False, env=None, **settings):
    """Runs a command. Returns its status (None if it did not end in time), and its output ('' if that was shown)."""
    if not shown:
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **settings}
    if "input" not in settings:
        settings["stdin"] = subprocess.DEVNULL
    settings = {"text": True, "errors": "replace", "env": {**os.environ, **(env or {})}, **settings}
    try:
        done = subprocess.run(words(parts), timeout=timeout, **settings)
    except FileNotFoundError as error:
        return 127, f"{error}\n"
    except subprocess.TimeoutExpired as error:
        return None, f"{(error.stdout or b'').decode(errors='replace')}\nno end in {timeout} s\n"
    return done.returncode, done.stdout or ""


def run(*parts, **settings):
    """Runs a command that must succeed, and returns its output."""
    status, output = attempt(*parts, **settings)
    if status != 0:
        fail(f"failed: {shlex.join(words(parts))}\n{output}")
    return output


def need(tool, how):
    if not shutil.which(tool):
        fail(f"'{tool}' is missing. Install it ({how}), then try again.")


def ocaml(tool="ocamlopt"):
    """The path of a tool of the OCaml whose ocamlopt OCAMLOPT names."""
    ocamlopt = shutil.which(os.environ.get("OCAMLOPT", ""))
    if not ocamlopt:
        fail("OCAMLOPT names no ocamlopt. Run 'export OCAMLOPT=\"$(.ci/toolchain)\"', then try again.")
    return Path(ocamlopt).parent / tool if tool != "ocamlopt" else Path(ocamlopt)


@functools.cache
def told(ocamlopt, question):
    return run(ocamlopt, question).strip()


def version():
    return told(ocaml(), "-version")


def where():
    """The folder of OCaml's headers and libraries."""
    return Path(told(ocaml(), "-where"))


def tracked(*patterns):
    """The files of the repository, and new files that are not ignored."""
    files = run("git ls-files --cached --others --exclude-standard --", *patterns).splitlines()
    return [Path(file) for file in files if Path(file).is_file()]


def passed(text):
    say(f"OCaml {version()}: {text}: passed")


@contextlib.contextmanager
def scratch():
    """Runs its body in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(ROOT)


def main(parts):
    """Calls the functions of the parts that the arguments name; without arguments, of all parts."""
    names = sys.argv[1:] or list(parts)
    for name in names:
        if name not in parts:
            fail(f"no part {name}; there are {', '.join(parts)}")
    for name in names:
        parts[name]()

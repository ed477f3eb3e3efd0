"""Finds Python interpreters on this machine: this one, on PATH, pyenv's and uv's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tuibench.core.value import dataclass

_ASK = """
import os, sys, venv
print("%d.%d" % sys.version_info[:2], "%d.%d.%d" % sys.version_info[:3], sys.implementation.name, os.uname().machine)
print(os.path.realpath(sys.executable))
"""
_ASK_S = 10.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that runs and can make virtual environments."""

    path: str
    """The file itself: a link may name another Python tomorrow."""
    series: str
    """Such as 3.11."""
    version: str
    """Such as 3.11.7."""


def ask_interpreter(path: str) -> Interpreter | None:
    """Return the interpreter at a path; None if it does not run, is not CPython, or cannot make environments."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [path, "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
            env=environment,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    words, _, rest = done.stdout.partition("\n")
    facts = words.split()
    if done.returncode or len(facts) != 4 or facts[2] != "cpython" or facts[3] != os.uname().machine:
        return None
    return Interpreter(rest.strip(), facts[0], facts[1])


def is_series(text: str) -> bool:
    """Return whether a text is a version of Python such as 3.11."""
    return re.fullmatch(r"\d\.\d{1,3}", text, re.ASCII) is not None


def find_named(text: str) -> Interpreter | None:
    """Return the interpreter that a version such as 3.11, a command on PATH or a path names; None if there is none."""
    if is_series(text):
        return next(find_interpreters(text), None)
    path = os.path.expanduser(text)
    return ask_interpreter(os.path.abspath(path if os.sep in path else shutil.which(path) or path))


def find_interpreters(series: str, environ: Mapping[str, str] = os.environ) -> Iterator[Interpreter]:
    """Yield the interpreters of a series such as 3.11, the nearest first; each is tried by running it."""
    seen: set[str] = set()
    for path in _candidates(series, environ):
        if not os.access(path, os.X_OK):
            continue
        # A version manager's shim may be on PATH and refuse to run.
        found = ask_interpreter(path)
        if found is not None and found.series == series and found.path not in seen:
            seen.add(found.path)
            yield found


def _candidates(series: str, environ: Mapping[str, str]) -> Iterator[str]:
    name = f"python{series}"
    if series == f"{sys.version_info[0]}.{sys.version_info[1]}":
        yield sys.executable
    for folder in environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield os.path.join(folder, name)
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    versions = Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    of_uv = Path(environ.get("UV_PYTHON_INSTALL_DIR") or _data_home(environ, home) / "uv" / "python")
    for root, pattern in ((versions, f"{series}.*"), (of_uv, f"cpython-{series}.*")):
        for place in sorted(root.glob(pattern), reverse=True):
            yield str(place / "bin" / name)


def _data_home(environ: Mapping[str, str], home: Path) -> Path:
    return Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")

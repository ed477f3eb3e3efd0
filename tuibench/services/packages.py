"""Downloads and installs packages with pip, in child processes that can be cancelled."""

from __future__ import annotations

import ensurepip
import hashlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from tuibench.core.engine_state import InstallOrder
from tuibench.core.errors import EngineError, TuibenchError, WriteError
from tuibench.core.text import show
from tuibench.engines.recipes import Recipe
from tuibench.runs.task import StopSwitch

Hear = Callable[[str], None]
_SILENCE_S = 300.0
"""Limit for a step that prints nothing and writes nothing."""
_LAST = 200
"""Number of lines that are kept to find the cause of a failure."""
_LOG_CHARS = 1_000_000
_DISCONNECTED = re.compile(
    r"connection error:|confirming the ssl certificate|Max retries exceeded|\bConnectionError\b|ReadTimeoutError:|"
    r"Could not fetch URL \S+: timed out"
)
"""Lines that pip prints after its last attempt has failed; an announced retry may have succeeded."""
_PIP_OPTIONS = ("--no-input", "--disable-pip-version-check")
_PIP_DEFAULTS = {"PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "20"}
"""Used unless the user has set them: by default pip waits a minute for an index that cannot be reached."""


class NoSuchWheel(Exception):
    """The index, or the directory of wheels, has no file of a package for this Python."""

    def __init__(self, package: str, releases: tuple[str, ...]) -> None:
        super().__init__(package)
        self.package = package
        self.releases = releases
        """Releases of the package that exist for this Python."""


class Installer:
    """Runs pip for one order.

    pip inherits the lock: if tuibench is killed while pip runs, no other command changes the installation.
    """

    def __init__(
        self, order: InstallOrder, recipe: Recipe, stop: StopSwitch, scratch: Path, lock: int | None = None
    ) -> None:
        self._order, self._recipe = order, recipe
        self._stop, self._lock = stop, lock
        self._scratch = scratch
        """Directory for pip's log and perhaps pip itself, which the caller removes."""

    def make_environment(self, python: str, place: Path) -> None:
        """Make a virtual environment without pip."""
        code, lines = self._run([python, "-I", "-m", "venv", "--without-pip", str(place)], _ignore)
        if code:
            self._raise(lines)

    def _pip(self) -> list[str]:
        """Return the command of pip: this interpreter's, or the one that came with Python."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        found = ["-m", "pip"] if find_spec("pip") is not None else [str(self._unpacked_pip())]
        return [sys.executable, *found, *_PIP_OPTIONS, "--log", str(self._log)]

    def _unpacked_pip(self) -> Path:
        """Unpack the pip of ensurepip once; a virtual environment with it would take seconds."""
        place = self._scratch / "pip"
        if not place.exists():
            folders = [
                sysconfig.get_config_var("WHEEL_PKG_DIR"),
                os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"),
            ]
            wheels = [wheel for folder in filter(None, folders) for wheel in Path(folder).glob("pip-*.whl")]
            if not wheels:
                raise EngineError("no_pip")
            with zipfile.ZipFile(wheels[0]) as file:
                file.extractall(self._scratch)
        return place

    @property
    def _log(self) -> Path:
        return self._scratch / "pip.log"

    @property
    def _temporary(self) -> Path:
        return self._scratch / "tmp"

    def download(self, series: str, target: Path, hear: Hear) -> list[Path]:
        """Download the wheels of the recipe for a Python such as 3.11, and return them.

        Raise NoSuchWheel if there is none for it. A wheel that the directory has already is not downloaded again.
        """
        target.mkdir(parents=True, exist_ok=True)
        pip, listed = self._pip(), self._scratch / "requirements.txt"
        listed.write_text("".join(f"{one.line}\n" for one in self._recipe.requirements), encoding="utf-8")
        command = [
            *(*pip, "download", "--no-deps", "--only-binary", ":all:", "--python-version", series),
            *(*self._source(), "--dest", str(target), "-r", str(listed)),
        ]
        code, lines = self._run([*command, *(["--require-hashes"] if self._recipe.is_pinned else [])], hear)
        if code:
            self._raise(lines)
        found = re.findall(r" (?:Saved|File was already downloaded) (?:.*/)?([^/\n]+\.whl)\n", self._logged())
        return sorted(target / name for name in set(found))

    def install(self, python: Path, wheels: Sequence[Path]) -> None:
        """Install wheels, which were checked when they were downloaded, into an environment."""
        options = ("--no-deps", "--no-index", "--no-warn-script-location", "--no-compile")
        command = [*self._pip(), "--python", str(python), "install", *options, *map(str, wheels)]
        code, lines = self._run(command, _ignore)
        if code:
            self._raise(lines)

    def _source(self) -> list[str]:
        if self._order.wheels:
            return ["--no-index", "--find-links", os.path.abspath(os.path.expanduser(self._order.wheels))]
        options = ["--index-url", self._order.index_url] if self._order.index_url else []
        return [*options, *(part for url in self._order.extra_index_urls for part in ("--extra-index-url", url))]

    def _run(self, command: Sequence[str], hear: Hear) -> tuple[int, list[str]]:
        """Run a command in its own process group; return its exit code and its last lines.

        Its temporary files are made in the scratch directory, because a killed one leaves them.
        """
        self._temporary.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)  # pip appends, and the last failure must not be read again
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**_environment(), "TMPDIR": str(self._temporary)},
            cwd="/",
            start_new_session=True,
            pass_fds=() if self._lock is None else (self._lock,),
        )
        lines: list[str] = []
        try:
            for line in self._read(process):
                hear(line)
                lines = [*lines[1 - _LAST :], line]
            return process.wait(), lines
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _read(self, process: subprocess.Popen[bytes]) -> Iterator[str]:
        if process.stdout is None:
            raise RuntimeError("the process has no channel")
        descriptor, rest, size = process.stdout.fileno(), b"", 0
        while True:
            if not self._stop.wait([descriptor], _SILENCE_S):
                before, size = size, size_of(self._temporary)
                if size > before:
                    continue  # pip prints nothing while it downloads a wheel
                text = f"no answer for {_SILENCE_S:.0f} s"
                raise EngineError("index_unreachable", engine=self._order.id, text=text)
            data = os.read(descriptor, 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode(errors="replace").rstrip() for line in lines)

    def _logged(self) -> str:
        try:
            return self._log.read_text(encoding="utf-8", errors="replace")[-_LOG_CHARS:]
        except OSError:
            return ""

    def _raise(self, lines: Sequence[str]) -> None:
        raise read_failure(lines, self._logged(), self._order)


def read_failure(lines: Sequence[str], logged: str, order: InstallOrder) -> Exception:
    """Return the error in pip's output: a missing wheel, a wrong hash, a refused or broken connection.

    Only its log has the reason why a page of the index was not read.
    """
    text, given = "\n".join([logged, *lines]), {"engine": order.id, "command": order.command}
    if "DO NOT MATCH THE HASHES" in text:
        found = re.search(r"\n\s+(\S+?)[ =<>~].* from |(\S+\.whl)", text)
        file = show((found[1] or found[2]) if found else "", 120)
        return EngineError("wheel_hash_differs", **given, file=file, wheels=bool(order.wheels))
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return disk_full(order)
    if refused := re.search(r"\b(40[137]|5\d\d) (?:Client|Server) Error|HTTP error (40[137]|5\d\d)", text):
        return EngineError("index_refused", **given, status=int(refused[1] or refused[2]))
    if not order.wheels and _DISCONNECTED.search(text):
        return EngineError("index_unreachable", engine=order.id, text=_connection(text))
    if missing := re.search(r"satisfies the requirement (\S+?)(?:[=<>~!].*?)? \(from versions: (.*?)\)", text):
        known = () if missing[2] == "none" else tuple(missing[2].split(", "))
        return NoSuchWheel(missing[1], known)
    if not order.wheels and "Retrying (" in text:
        return EngineError("index_unreachable", engine=order.id, text=_connection(text))
    return EngineError("pip_failed", **given, text=_cause(lines))


def disk_full(order: InstallOrder) -> TuibenchError:
    """Return the error of a disk that filled up."""
    given = {"engine": order.id, "command": order.command}
    return WriteError("download_disk_full" if order.target else "engine_disk_full", **given)


def _connection(text: str) -> str:
    found = re.findall(r"\[Errno -?\d+\] ([^'\")(]+)|(timed out|certificate verify failed)", text)
    return show(next(filter(None, (found[-1] if found else ("",))), "no connection").strip(), 120)


def _cause(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith("ERROR:")]
    return show((errors or [line for line in lines if line.strip()] or ["no output"])[-1].removeprefix("ERROR: "), 300)


def _environment() -> dict[str, str]:
    """Return the environment of pip: the user's, without variables that change what is installed, and where."""
    dropped = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE", "PIP_CONSTRAINT")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**_PIP_DEFAULTS, **kept, "LC_ALL": "C.UTF-8", "PIP_REQUIRE_VIRTUALENV": "0"}


def _ignore(_: str) -> None:
    """Ignore a line."""


def size_of(place: Path) -> int:
    """Return the size of all files below a directory."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()

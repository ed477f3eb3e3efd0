"""The shell command as a real process with its own temporary directory, watched to its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tuibench.runs.journal import NAME, decode

SHORT = ("--executions", "1", "-t", "0.03", "-w", "0.02")
"""The smallest settings that yield a result."""
PATIENCE_S = 30.0
"""Limit for immediate events, with room for a busy machine."""
STRANGER = 12345
"""A uid that has no entry in any passwd file."""
AS_STRANGER = (
    *("setpriv", "--reuid", str(STRANGER), "--regid", str(STRANGER), "--clear-groups"),
    # Read-only: the interpreter may be in a home that others cannot enter.
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

T = TypeVar("T")
Environment = Mapping[str, str | None]


@dataclass(frozen=True)
class Done:
    """Result of a command: its exit code as a shell prints it, and its two streams."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.out.splitlines()


class Shell:
    """Runs `tuibench`; its temporary directory identifies every process it starts."""

    def __init__(self, tmp: Path, save: bool = False) -> None:
        self.tmp = tmp
        self.save = save
        """True if benchmarks are saved in the store of the test's home; otherwise their runs leave nothing."""
        self._seen: dict[int, str] = {}

    def run(self, *arguments: str, env: Environment | None = None, seconds: float = 60, **options: Any) -> Done:
        """Run one command to its end."""
        begin = time.monotonic()
        process = self.start(*arguments, env=env, **options)
        out, err = process.communicate(timeout=seconds)
        return Done(as_shell(process.returncode), _text(out), _text(err), time.monotonic() - begin)

    def benchmark(self, *arguments: str, env: Environment | None = None, **options: Any) -> Done:
        """Run `tuibench benchmark` with the shortest settings."""
        return self.run("benchmark", *arguments, *SHORT, env=env, **options)

    def fake(self, script: Mapping[str, Any], *arguments: str, **options: Any) -> Done:
        """Benchmark the scripted engine; by default one sync cell on one core."""
        wanted = arguments or ("sample:tiny", "-s", "sync", "-ncores", "1")
        return self.benchmark(*wanted, "-e", "fake", env={"TUIBENCH_FAKE": json.dumps(script)}, **options)

    def start(
        self,
        *arguments: str,
        env: Environment | None = None,
        before: Callable[[], None] | None = None,
        wrap: Sequence[str] = (),
        **options: Any,
    ) -> subprocess.Popen[bytes]:
        """Start a command in the background; signals act as at a prompt."""

        def prepare() -> None:
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            if before is not None:
                before()

        defaults: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [*wrap, sys.executable, "-m", "tuibench", *self.typed(arguments)]
        everything = {**defaults, **options}
        # The child runs nothing else between fork and exec, so no lock of another thread can block it.
        return subprocess.Popen(command, env=self.environment(env), preexec_fn=prepare, **everything)  # noqa: PLW1509

    def typed(self, arguments: Sequence[str]) -> Sequence[str]:
        """Return the command line, with --no-save for benchmarks unless they are saved."""
        if arguments[:1] == ("benchmark",) and not self.save:
            return ("benchmark", "--no-save", *arguments[1:])
        return arguments

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Return the test's environment with its temporary directory; None removes a variable."""
        merged: dict[str, str | None] = {**os.environ, "TMPDIR": str(self.tmp), **(changes or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def events(self) -> list[dict[str, Any]]:
        """Return the events in the run's journal so far."""
        found = []
        for path in self.run_root.glob(f"*/{NAME}"):
            try:
                found += [event for line in path.read_bytes().splitlines(True) if (event := decode(line))]
            except FileNotFoundError:
                return []
        return found

    def wait_for(self, ev: str, **fields: object) -> dict[str, Any]:
        """Wait for the first event of a kind in the journal and return it."""

        def find() -> dict[str, Any] | None:
            matching = (e for e in self.events() if e["ev"] == ev)
            return next((e for e in matching if all(e.get(k) == v for k, v in fields.items())), None)

        return until(find, f"{ev} {fields}")

    @property
    def run_root(self) -> Path:
        """Return the directory that holds the run directories."""
        return Path(os.environ["TUIBENCH_HOME"], "state", "runs") if self.save else self.tmp

    def leftovers(self) -> list[str]:
        """Return the names in the temporary directory."""
        return sorted(os.listdir(self.tmp)) if self.tmp.is_dir() else []

    def processes(self) -> dict[int, str]:
        """Return every live process that was started with this temporary directory."""
        mark = b"TMPDIR=%s\0" % os.fsencode(self.tmp)
        found = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    if mark in Path(entry.path, "environ").read_bytes() + b"\0":
                        found[int(entry.name)] = Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except (FileNotFoundError, ProcessLookupError, PermissionError):
                    continue  # ended meanwhile, or owned by another user
        ending = {pid: command for pid, command in self._seen.items() if pid not in found and is_ending(pid)}
        self._seen.update(found)
        return found | ending

    def pids(self, word: str) -> list[int]:
        """Return the processes whose command contains a word.

        A forked child has its parent's command until it runs another program; it is left out.
        """
        found = {pid: command for pid, command in self.processes().items() if word in command}
        return [pid for pid, command in found.items() if found.get(parent_of(pid)) != command]


def is_ending(pid: int) -> bool:
    """Return whether a killed process still closes its files, and with them its locks.

    It has no environment then. Its last thread closes them, perhaps after the first one has become a zombie.
    """
    try:
        states = [path.read_bytes().rpartition(b")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")]
        return not set(states) <= {b"Z", b"X"} and not Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if the process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    # The preceding name is in brackets and may contain anything.
    return int(stat.rpartition(b")")[2].split()[1])


def until(look: Callable[[], T | None], what: str, seconds: float = PATIENCE_S) -> T:
    """Poll `look` until it finds something and return that; poll less often over time."""
    deadline = time.monotonic() + seconds
    pause_s = 0.005
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(pause_s)
        # Each look may read all of /proc; frequent looks would take CPU from the processes under test.
        pause_s = min(0.02, pause_s * 1.1)
    raise AssertionError(f"not within {seconds:g} s: {what}")


def as_shell(code: int) -> int:
    """Return a death by signal as `$?` shows it."""
    return 128 - code if code < 0 else code


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")

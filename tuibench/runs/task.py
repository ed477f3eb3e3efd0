"""Calls a short-lived child process for work on untrusted bytes; any end of the child becomes an answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tuibench.core.errors import EngineError, ExitCode, ModelError, PhaseTimeout, TuibenchError, UsageError, WriteError
from tuibench.core.signal_name import signal_name
from tuibench.core.text import show
from tuibench.runs.stopping import StopSwitch

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Engines end a coloured line with the reset on a line of its own."""

_KINDS: dict[int, type[TuibenchError]] = {
    ExitCode.USAGE: UsageError,
    ExitCode.MODEL: ModelError,
    ExitCode.ENGINE: EngineError,
    ExitCode.TIMEOUT: PhaseTimeout,
    ExitCode.STORE: WriteError,
}


@dataclass(frozen=True, slots=True)
class ChildDeath(Exception):
    """The child ended without an answer."""

    kind: str
    """signal, timeout or exit."""
    message: str
    signal: str | None
    log_tail: str | None

    def __str__(self) -> str:
        return self.message


class Call(Protocol):
    """The signature of `call_child`, for substitutes in tests."""

    def __call__(
        self,
        task: str,
        request: dict[str, Any],
        *,
        timeout_s: float,
        stop: StopSwitch,
        log_path: str = ...,
        on_line: Callable[[dict[str, Any]], float | None] | None = None,
    ) -> Any:
        """Return a child's answer; raise TuibenchError if it refused, ChildDeath if it died."""


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command for one of our modules, without the current directory on its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """Return this environment, with the package importable from any directory."""
    home = Path(__file__).resolve().parents[2]
    search = os.environ.get("PYTHONPATH", "")
    paths = [os.path.abspath(part) for part in search.split(os.pathsep) if part]
    if home.name not in ("site-packages", "dist-packages") and str(home) not in paths:
        paths.append(str(home))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)} if paths else dict(os.environ)


def call_child(
    task: str,
    request: dict[str, Any],
    *,
    timeout_s: float,
    stop: StopSwitch,
    log_path: str = os.devnull,
    on_line: Callable[[dict[str, Any]], float | None] | None = None,
) -> Any:
    """Return the result of a child task; raise TuibenchError if it refused, ChildDeath if it died.

    Earlier lines are passed to `on_line`, which may return a new limit in seconds from now.
    """
    with open(log_path, "ab") as log:
        child = subprocess.Popen(
            python_command("tuibench.child", task),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(),
        )
    try:
        return _converse(child, request, timeout_s, stop, on_line, log_path)
    finally:
        end_process(child)


def _converse(
    child: subprocess.Popen[bytes],
    request: dict[str, Any],
    timeout_s: float,
    stop: StopSwitch,
    on_line: Callable[[dict[str, Any]], float | None] | None,
    log_path: str,
) -> Any:
    if child.stdin is None or child.stdout is None:
        raise RuntimeError("the child has no channel")
    try:
        child.stdin.write(json.dumps(request).encode())
        child.stdin.close()
    except BrokenPipeError:
        return _answer(None, child, log_path)
    deadline = time.monotonic() + timeout_s
    fd, rest, last = child.stdout.fileno(), b"", None
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            end_process(child)
            raise ChildDeath("timeout", f"no answer within {timeout_s:g} s", None, read_tail(log_path))
        if not stop.wait([fd], left):
            continue
        data = os.read(fd, 1 << 16)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            last = json.loads(line)
            if "ok" not in last and on_line is not None:
                limit = on_line(last)
                if limit is not None:
                    timeout_s, deadline = limit, time.monotonic() + limit
    return _answer(last, child, log_path)


def _answer(last: dict[str, Any] | None, child: subprocess.Popen[bytes], log_path: str) -> Any:
    code = child.wait()
    if last is not None and last.get("ok"):
        return last["result"]
    if last is not None and "error" in last:
        error = last["error"]
        kind = _KINDS.get(int(error.get("exit_code") or 0), TuibenchError)
        raise kind(str(error["message"]), str(error.get("hint") or ""))
    tail = read_tail(log_path)
    if code < 0:
        name = signal_name(-code)
        raise ChildDeath("signal", f"died by {name}", name, tail)
    raise ChildDeath("exit", f"ended with code {code} and no answer", None, tail)


def end_process(child: subprocess.Popen[bytes]) -> None:
    """Kill and reap the child."""
    if child.poll() is None:
        child.kill()
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def read_tail(path: str, limit: int = 4096) -> str | None:
    """Return the last line of a log, safe to show."""
    try:
        with open(path, "rb") as handle:
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - limit))
            text = _COLOUR.sub("", handle.read().decode(errors="replace"))
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    return show(lines[-1].strip(), 300) if lines else None

"""The parts of `doctor` that need a probe: engines that a child can import, and the output's terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, TextIO

_ENGINES_TIMEOUT_S = 60.0

Answers = list[dict[str, Any]]


def ask_engines(
    names: Sequence[str],
    start: Callable[..., Any] | None = None,
    timeout_s: float = _ENGINES_TIMEOUT_S,
) -> Answers:
    """Ask a child which engines can be imported, since this process imports none."""
    # lazy: --help must not pay 9 ms for these
    import subprocess

    from tuibench.workbench.launch import engine_probe

    command, environment = engine_probe()
    try:
        done = (start or subprocess.run)(
            command,
            input=json.dumps({"names": list(names)}),
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=timeout_s,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return _unknown(names, f"its import took more than {timeout_s:.0f} s")
    except OSError as error:
        return _unknown(names, f"no process could be started: {error.strerror or error}")
    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1])
        if answer["ok"]:
            return [_answer(entry) for entry in answer["result"]]
    except (IndexError, KeyError, TypeError, ValueError):
        pass
    last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return _unknown(names, f"the child ended with {done.returncode}: {last}")


def describe_terminal(stream: TextIO) -> dict[str, Any]:
    """Return the properties of the output stream."""
    isatty = stream.isatty()
    columns = lines = None
    if isatty:
        try:
            columns, lines = os.get_terminal_size(stream.fileno())
        except OSError:
            # A pseudo-terminal may have no size.
            columns = lines = None
    return {
        "isatty": isatty,
        "term": os.environ.get("TERM"),
        "encoding": getattr(stream, "encoding", None),
        "columns": columns,
        "lines": lines,
    }


def _answer(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: entry.get(name) for name in ("name", "version", "error")} | {"available": bool(entry["available"])}


def _unknown(names: Sequence[str], error: str) -> Answers:
    return [{"name": name, "available": None, "version": None, "error": error} for name in names]

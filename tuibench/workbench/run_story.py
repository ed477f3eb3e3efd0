"""Process output and settings of a run."""

from __future__ import annotations

import os
from pathlib import Path

from tuibench.core.errors import StoreError
from tuibench.core.record import from_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.runs.directory import LOG, RunDirectory
from tuibench.runs.regular import open_regular

_LOGS = "logs"
_TAIL_BYTES = 1 << 16
_MOST_FILES = 200
_LONGEST = 500


def run_log(run: RunDirectory) -> tuple[str, ...]:
    """Return the ends of all logs, each under its name, the last written one at the end."""
    paths = [run.path / LOG, *_within(run.path / _LOGS)]
    dated = sorted((_changed_ns(path), path) for path in paths)
    lines: list[str] = []
    for _, path in dated[-_MOST_FILES:]:
        said = _tail(path)
        if said:
            lines += [f"{show(path.name, 80)}:", *(f"  {show(line, _LONGEST)}" for line in said)]
    return tuple(lines)


def run_spec(run: RunDirectory) -> BenchmarkSpec:
    """Return the specification of a run; raise StoreError if it cannot be read."""
    return from_plain(BenchmarkSpec, run.request()["spec"])


def _within(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []  # the run ended before it had logs


def _changed_ns(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _tail(path: Path) -> list[str]:
    """Return the last lines of a file; none if it is missing or no regular file."""
    try:
        with os.fdopen(open_regular(path), "rb") as handle:
            end = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, end - _TAIL_BYTES))
            data = handle.read()
    except (OSError, StoreError):
        return []
    lines = data.decode("utf-8", "backslashreplace").splitlines()
    return lines[1:] if end > _TAIL_BYTES else lines

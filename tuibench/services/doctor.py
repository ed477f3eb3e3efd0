"""Facts for `doctor`: the engines that a child can import, the terminal, the store. Changes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from tuibench.core.errors import StoreError
from tuibench.core.record import to_plain
from tuibench.core.stored import TrashEntry
from tuibench.host.checkup import Finding
from tuibench.host.kernel_files import Tree
from tuibench.host.system import find_mount, is_remote
from tuibench.store.store import Store
from tuibench.store.trash import KEEP_BYTES, KEEP_DAYS

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

    from tuibench.services.detached_runner import engine_probe

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


Facts = dict[str, Any]


def store_facts(store: Store, directory: Path, root: Path = Path("/")) -> Facts:
    """Return counts, sizes and file system; `problem` and `unreadable` say why writing or reading fails, '' if not."""
    facts: Facts = {"unreadable": ""}
    looks: dict[str, Callable[[], Any]] = {
        # Read only: doctor creates no id.
        "host_id": lambda: store.known_host_id,
        "benchmarks": lambda: len(store.benchmarks.rows()),
        "hosts": lambda: len({row.host for row in store.benchmarks.rows() if row.host}),
        "projects": lambda: len(store.projects.all()),
        "trash": lambda: _describe(store.trash.entries()),
    }
    # One at a time: one unreadable part must not hide the rest.
    for name, look in looks.items():
        try:
            facts[name] = look()
        except StoreError as error:
            facts[name] = None
            facts["unreadable"] = facts["unreadable"] or error.message
    real = os.path.realpath(directory)
    point, kind = find_mount(real, Tree(root).read("proc/self/mountinfo") or "")
    facts |= {
        "exists": os.path.isdir(directory),
        "bytes": _size(real),
        "file_system": kind or None,
        "network": is_remote(real, root),
        "problem": _unnamed(store.probe(), directory),
        "notices": list(store.notices()),
    }
    return facts | {"private": {"directory": str(directory), "mount_point": point}}


def store_findings(facts: Facts) -> list[dict[str, Any]]:
    """Return findings about the store."""
    found = []
    if facts["problem"]:
        found.append(
            Finding(
                "store",
                "harm",
                f"the store cannot be written: {facts['problem']}",
                "what is measured is kept with its run and in no list",
                "mend it, or set TUIBENCH_HOME to a directory that can be written",
            )
        )
    if facts["unreadable"]:
        what = f"the store cannot be read: {facts['unreadable']}"
        found.append(
            Finding("store", "harm", what, "what was measured before is not shown", "tuibench store check tells more")
        )
    if facts["network"]:
        found.append(
            Finding(
                "store",
                "note",
                f"the store lies on a network file system ({facts['network']})",
                "what is saved survives a power cut only if its server honours fsync, and what other machines measured "
                "can be changed on those only",
                "set TUIBENCH_HOME to a local directory; tuibench export and import carry results",
            )
        )
    return [to_plain(finding) for finding in found]


def _describe(entries: Sequence[TrashEntry]) -> Facts:
    return {
        "removals": len(entries),
        "bytes": sum(entry.size_bytes for entry in entries),
        "oldest_goes_utc": _end_of(entries[-1].removed_utc) if entries else None,
        "keep_days": KEEP_DAYS,
        "keep_bytes": KEEP_BYTES,
    }


def _unnamed(problem: str, directory: Path) -> str:
    """Remove directory names, which may be private, from the problem; the report has its own field for them."""
    for path in (directory, *directory.parents[:-1]):
        problem = problem.replace(str(path), "its directory")
    return problem


def _end_of(removed_utc: str) -> str | None:
    """Return the time at which the trash deletes an item removed then."""
    try:
        moment = datetime.fromisoformat(removed_utc)
    except ValueError:
        return None
    return (moment + timedelta(days=KEEP_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _size(directory: str) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # another session has just moved it
    return total

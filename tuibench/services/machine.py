"""Facts of this machine: CPUs, engines, and the checks of `doctor`. Changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tuibench.core import engine
from tuibench.core.errors import EngineError, StoreError
from tuibench.core.machine import ENGINES, EngineChoice, Machine
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.core.stored import TrashEntry
from tuibench.engines import factory
from tuibench.engines.installation import Installation, find_installation, list_installations, require_interpreters
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.checkup import Finding, examine
from tuibench.host.cpu import read_brand, read_identity
from tuibench.host.facts import read_versions, this_process
from tuibench.host.kernel_files import Tree, load_words, read_cpu_times
from tuibench.host.system import find_mount, is_remote
from tuibench.host.topology import Topology, read_topology
from tuibench.present.error.words import message_words
from tuibench.present.reason import all_words, read_words, reason_words
from tuibench.services.detached_runner import engine_probe
from tuibench.store.store import Store
from tuibench.store.trash import KEEP_BYTES, KEEP_DAYS

if TYPE_CHECKING:
    from tuibench.services.api import Services


_LOOK_S = 0.2
_PATHS = frozenset({"name", "path", "root"})
"""Fields of a problem of the store that may name a directory."""


class MachineFacts:
    """The machine as forms and `doctor` need it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._read: Machine | None = None
        self._reading = threading.Lock()

    def read(self) -> Machine:
        """Return the machine and its engines, from files alone; read once, since package versions take 30 ms."""
        with self._reading:
            if self._read is None:
                root = self._services.settings.places.engines
                self._read = read_machine(self._services.store, engine.offered(hidden=self._services.hidden), root)
            return self._read

    def forget(self) -> None:
        """Read the machine again at the next request: an engine was installed or removed."""
        with self._reading:
            self._read = None

    def topology(self) -> Topology:
        """Return the cores of this machine that this process may use."""
        return read_topology(os.sched_getaffinity(0))

    def load_words(self) -> str:
        """Return the load by other processes, in words; sample it for 0.2 s."""
        before, began, own = read_cpu_times(), time.monotonic(), time.process_time()
        time.sleep(_LOOK_S)
        own = (time.process_time() - own) / (time.monotonic() - began)
        return load_words(before, read_cpu_times(), os.sched_getaffinity(0), own)

    def memory_room(self) -> int | None:
        """Return the available memory in bytes; None if unknown."""
        tree = Tree()
        return read_memory(tree, find_groups(tree)).room_bytes

    def check_engines(self, names: Sequence[str]) -> None:
        """Raise an error for the first name that is no engine of this version, or that is not installed.

        Start and import nothing.
        """
        for name in names:
            factory.check(name)
            entry = engine.REGISTRY.get(name)
            if entry is not None and not engine.is_apart(name) and find_spec(entry.package) is None:
                command = engine.install_command(name)
                raise EngineError(
                    "engine_not_installed", engine=name, text=f"no package {entry.package}", command=command
                )
        require_interpreters(self._services.settings.places.engines, names)

    def examine(self) -> dict[str, Any]:
        """Return the facts of `doctor` with all engines and the terminal; takes a second."""
        engines = self.ask_engines(hidden=self._services.hidden)
        return self.fitness(engines, describe_terminal(sys.__stdout__ or sys.stdout))

    def ask_engines(self, *, hidden: bool = False) -> Answers:
        """Return which engines can be used: those beside tuibench, and those installed in their own interpreters."""
        beside = [name for name in engine.offered(hidden=hidden) if not engine.is_apart(name)]
        return [*ask_engines(beside), *map(_installed, list_installations(self._services.settings.places.engines))]

    def fitness(self, engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        """Return how fit this machine is for measuring, with fixes; sample the noise for half a second."""
        places = self._services.settings.places
        facts = examine(
            this_process(),
            engines=engines,
            terminal=terminal,
            brand=lambda boot_id: read_brand(boot_id, places.cache),
        )
        report = store_facts(self._services.store, places.data)
        facts["env_private"]["store"] = report.pop("private")
        facts["store"] = report
        found = [*facts["findings"], *store_findings(report)]
        return facts | {"findings": sorted(found, key=lambda finding: bool(finding["level"] != "harm"))}


def read_machine(store: Store, engines: Iterable[str], root: Path) -> Machine:
    """Return the machine for forms; call once, since package versions take 30 ms.

    `root` is the directory of the engines that have their own interpreters.
    """
    named = list(engines)
    others = [one.id for one in list_installations(root) if one.id not in map(engine.full_id, named)]
    topology = read_topology(os.sched_getaffinity(0))
    try:
        host = store.known_host_id or ""
    except StoreError:
        # The id is only shown in a header; other commands report problems of the store.
        host = ""
    return Machine(
        default_cores=topology.default_cores,
        usable_cores=topology.usable_cores,
        node_cores=topology.node_cores,
        isa=tuple(str(name) for name in read_identity(Tree())["isa"] or ()),
        engines=tuple(_choice(name, root) for name in (*named, *others)),
        host=host,
    )


def _choice(name: str, root: Path) -> EngineChoice:
    entry = engine.entry_of(name)
    if entry is None or entry.is_other:
        # Its module is not imported here, as it may import the engine.
        return EngineChoice(name, True, read_versions([entry.package])[entry.package] or "" if entry else "", "")
    if engine.is_apart(name):
        found = find_installation(root, name)
        version = engine.split_id(found.id)[1] if found is not None else None
    else:
        version = read_versions([entry.package])[entry.package]
    hint = "" if version else engine.install_command(name)
    precisions = factory.capabilities(name).precisions
    return EngineChoice(name, version is not None, version or "", hint, precisions, name in engine.timed())


def _installed(found: Installation) -> dict[str, Any]:
    return {"name": found.id, "available": True, "version": engine.split_id(found.id)[1], "error": None}


_ENGINES_TIMEOUT_S = 60.0

Answers = list[dict[str, Any]]


def ask_engines(
    names: Sequence[str],
    start: Callable[..., Any] | None = None,
    timeout_s: float = _ENGINES_TIMEOUT_S,
) -> Answers:
    """Ask a child which engines can be imported, since this process imports none."""
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
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
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
    known = {name: entry.get(name) for name in ("name", "version")}
    return known | {"error": read_words(entry.get("error")) or None, "available": bool(entry["available"])}


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
            facts["unreadable"] = facts["unreadable"] or message_words(error)
    real = os.path.realpath(directory)
    point, kind = find_mount(real, Tree(root).read("proc/self/mountinfo") or "")
    facts |= {
        "exists": os.path.isdir(directory),
        "bytes": _size(real),
        "file_system": kind or None,
        "network": is_remote(real, root),
        "problem": reason_words(_unnamed(store.probe())),
        "notices": list(all_words(store.notices())),
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
                "results stay with their runs and are not listed",
                "fix it, or set TUIBENCH_HOME to a directory that can be written",
            )
        )
    if facts["unreadable"]:
        what = f"the store cannot be read: {facts['unreadable']}"
        found.append(Finding("store", "harm", what, "older results are not shown", "run tuibench store check"))
    if facts["network"]:
        found.append(
            Finding(
                "store",
                "note",
                f"the store is on a network file system ({facts['network']})",
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


def _unnamed(problem: Reason | None) -> Reason | None:
    """Return the problem without paths, which may be private; the report has its own field for them."""
    if problem is None:
        return None
    fields = {name: "" if name in _PATHS and os.path.isabs(value) else value for name, value in problem.fields.items()}
    return Reason(problem.code, fields)


def _end_of(removed_utc: str) -> str | None:
    """Return the time at which the trash deletes an item removed then."""
    try:
        moment = datetime.fromisoformat(removed_utc)
    except ValueError:
        return None
    return (moment + timedelta(days=KEEP_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _size(directory: str) -> int:
    """Return the size of the store, without the engines beside it."""
    total = 0
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if folder != directory or name != ENGINES]
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # another session has just moved it
    return total

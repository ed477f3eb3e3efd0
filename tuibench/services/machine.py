"""Facts of this machine and its engines; imports no engine."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tuibench.core import engine
from tuibench.core.engine import timed
from tuibench.core.errors import StoreError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.engines import registry
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.cpu import read_identity
from tuibench.host.facts import read_versions
from tuibench.host.kernel_files import Tree, load_words, read_cpu_times
from tuibench.host.topology import Topology, read_topology
from tuibench.store.store import Store

if TYPE_CHECKING:
    from tuibench.services.api import Services

_LOOK_S = 0.2


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
                self._read = read_machine(self._services.store, engine.names(hidden=self._services.hidden))
            return self._read

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
        """Raise an error for the first name that is no engine of this version; start and import nothing."""
        for name in names:
            registry.check(name)

    def examine(self) -> dict[str, Any]:
        """Return the facts of `doctor` with all engines and the terminal; takes a second."""
        from tuibench.services.doctor import ask_engines, describe_terminal  # lazy: only doctor needs it

        engines = ask_engines([one.name for one in self.read().engines])
        return self.fitness(engines, describe_terminal(sys.__stdout__ or sys.stdout))

    def fitness(self, engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        """Return how fit this machine is for measuring, with fixes; sample the noise for half a second."""
        from tuibench.host.checkup import examine
        from tuibench.host.cpu import read_brand  # lazy: as above
        from tuibench.host.facts import this_process
        from tuibench.services.doctor import store_facts, store_findings

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


def read_machine(store: Store, engines: Iterable[str]) -> Machine:
    """Return the machine for forms; call once, since package versions take 30 ms."""
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
        engines=tuple(_choice(name) for name in engines),
        host=host,
    )


def _choice(name: str) -> EngineChoice:
    can = registry.capabilities(name)
    version = read_versions([can.distribution])[can.distribution]
    package = f"tuibench[{can.extra}]" if can.extra else can.distribution
    hint = "" if version else f"pip install '{package}'"
    return EngineChoice(name, version is not None, version or "", hint, can.precisions, name in timed())

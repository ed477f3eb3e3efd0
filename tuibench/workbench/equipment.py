"""Facts of this machine and its engines from files alone; imports no engine and measures no noise."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tuibench.core.engine import timed
from tuibench.core.errors import StoreError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.engines import registry
from tuibench.host.cpu import read_identity
from tuibench.host.facts import read_versions
from tuibench.host.topology import read_topology
from tuibench.host.tree import Tree
from tuibench.store.store import Store


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

"""Usable CPUs, their physical cores, and the choice of CPUs for a number of cores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tuibench.core.errors import UsageError
from tuibench.core.value import dataclass
from tuibench.host.cgroup import find_groups, read_cpuset, read_quota
from tuibench.host.kernel_files import Tree, parse_cpus

_CPUS = "sys/devices/system/cpu"
_NODES = "sys/devices/system/node"
# Above a quarter, other work on a CPU costs a benchmark more than memory on a distant node.
_BUSY = 0.25


@dataclass(frozen=True, slots=True, order=True)
class Core:
    """One physical core with at least one usable thread."""

    package: int
    die: int
    node: int
    threads: tuple[int, ...]
    """All online CPUs of this core, including unusable ones: work on them slows this core down."""
    cpus: tuple[int, ...]
    """The CPUs of `threads` that this process may use."""


@dataclass(frozen=True, slots=True)
class Topology:
    """CPUs that this process may use within its affinity and control groups."""

    allowed: tuple[int, ...]
    cores: tuple[Core, ...]
    """Ordered by their first allowed CPU."""
    quota: float | None
    """Allowed CPU time in CPUs; None without a limit."""
    cpuset: tuple[int, ...] | None
    cgroup: str | None

    @property
    def usable_cores(self) -> int:
        """The largest allowed core count: the lesser of affinity and quota, rounded up, at least one."""
        if self.quota is None:
            return max(len(self.cores), 1)
        return max(min(len(self.cores), math.ceil(self.quota - 1e-9)), 1)

    @property
    def default_cores(self) -> int:
        """Physical cores that a quota never throttles: rounded down, because one more would wait in every period."""
        if self.quota is None:
            return max(len(self.cores), 1)
        return max(min(len(self.cores), math.floor(self.quota + 1e-9)), 1)

    @property
    def node_cores(self) -> int:
        """The usable cores of the largest NUMA node, for `-ncores node`."""
        nodes = [len({c for c in self.cores if set(c.cpus) & set(cpus)}) for cpus in self.nodes.values()]
        return max(1, min([self.usable_cores, max(nodes, default=self.usable_cores)]))

    def nodes_for(self, cores: int) -> int:
        """Return the number of NUMA nodes that so many cores take at least."""
        missing, count = cores, 0
        for size in sorted((len([c for c in self.cores if c.node == node]) for node in self.nodes), reverse=True):
            if missing <= 0:
                break
            missing, count = missing - size, count + 1
        return max(1, count)

    def by_node(self, cpus: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return CPUs grouped by their NUMA nodes."""
        groups = (tuple(cpu for cpu in cpus if cpu in allowed) for allowed in map(set, self.nodes.values()))
        return tuple(group for group in groups if group)

    @property
    def smt(self) -> bool:
        """True if any core runs more than one thread."""
        return any(len(core.threads) > 1 for core in self.cores)

    @property
    def nodes(self) -> dict[int, tuple[int, ...]]:
        """The allowed CPUs of each NUMA node."""
        found: dict[int, list[int]] = {}
        for core in self.cores:
            found.setdefault(core.node, []).extend(core.cpus)
        return {node: tuple(sorted(cpus)) for node, cpus in sorted(found.items())}


def read_topology(affinity: Iterable[int], root: Path = Path("/")) -> Topology:
    """Read the topology of `affinity`, the CPUs that the scheduler allows (`os.sched_getaffinity(0)`)."""
    tree = Tree(root)
    allowed = tuple(sorted(set(affinity)))
    groups = find_groups(tree)
    cores = _read_cores(tree, allowed)
    return Topology(allowed, cores, read_quota(tree, groups), read_cpuset(tree, groups), groups.version)


def choose_cpus(topology: Topology, cores: int, busy: Mapping[int, float]) -> tuple[int, ...]:
    """Return one CPU on each of `cores` physical cores: idle ones first, then close together, then in a stable order.

    `busy` is each CPU's busy share over a sample; missing CPUs count as idle.
    """
    if cores < 1:
        raise UsageError("no_core_requested", cores=cores)
    have = len(topology.cores)
    if cores > have:
        raise UsageError("too_many_cores", cores=cores, have=have)
    candidates = [
        (distance, _take(group, cores, busy))
        for distance, level in enumerate((_node_of, _package_of, _anywhere))
        for group in _groups(topology.cores, level)
        if len(group) >= cores
    ]
    best = min((_cost(chosen, distance, busy), chosen) for distance, chosen in candidates)[1]
    return tuple(sorted(_idlest_thread(core, busy) for core in best))


def _cost(chosen: Sequence[Core], distance: int, busy: Mapping[int, float]) -> tuple[int, int, int]:
    return sum(_is_busy(core, busy) for core in chosen), distance, sum(_bucket(core, busy) for core in chosen)


def _take(group: Sequence[Core], cores: int, busy: Mapping[int, float]) -> tuple[Core, ...]:
    ranked = sorted(group, key=lambda core: (_bucket(core, busy), core.cpus))
    quiet = [core for core in ranked if not _is_busy(core, busy)]
    if len(quiet) < cores:
        return tuple(ranked[:cores])
    # Among quiet cores few nodes matter more than the last percent of load, so fill whole nodes, largest first.
    near = [core for package in _groups(quiet, _package_of) for node in _groups(package, _node_of) for core in node]
    return tuple(near[:cores])


def _groups(cores: Iterable[Core], level: Callable[[Core], tuple[int, ...]]) -> list[list[Core]]:
    found: dict[tuple[int, ...], list[Core]] = {}
    for core in cores:
        found.setdefault(level(core), []).append(core)
    return sorted(found.values(), key=lambda part: (-len(part), min(core.cpus for core in part)))


def _node_of(core: Core) -> tuple[int, ...]:
    return (core.package, core.node)


def _package_of(core: Core) -> tuple[int, ...]:
    return (core.package,)


def _anywhere(_: Core) -> tuple[int, ...]:
    return ()


def _load(core: Core, busy: Mapping[int, float]) -> float:
    return max(busy.get(cpu, 0.0) for cpu in core.threads)


def _is_busy(core: Core, busy: Mapping[int, float]) -> bool:
    return _load(core, busy) > _BUSY


def _bucket(core: Core, busy: Mapping[int, float]) -> int:
    # Steps of a tenth, so that the noise of a short sample does not scatter the cores of an idle machine.
    return int(_load(core, busy) * 10 + 1e-9)


def _idlest_thread(core: Core, busy: Mapping[int, float]) -> int:
    return min(core.cpus, key=lambda cpu: (int(busy.get(cpu, 0.0) * 10 + 1e-9), cpu))


def _read_cores(tree: Tree, allowed: Sequence[int]) -> tuple[Core, ...]:
    packages = _labels(tree, allowed, ("package_cpus_list", "core_siblings_list"), "physical_package_id")
    dies = _labels(tree, allowed, ("die_cpus_list",), "die_id")
    nodes = _read_nodes(tree)
    cores: list[Core] = []
    ours = frozenset(allowed)
    for threads in _read_threads(tree, allowed, packages, dies):
        cpus = tuple(cpu for cpu in threads if cpu in ours)
        first = cpus[0]
        cores.append(Core(packages[first], dies[first], nodes.get(first, 0), threads, cpus))
    return tuple(cores)


def _read_threads(
    tree: Tree, allowed: Sequence[int], packages: Mapping[int, int], dies: Mapping[int, int]
) -> list[tuple[int, ...]]:
    found: dict[tuple[int, ...], set[int]] = {}
    seen: set[int] = set()
    for cpu in allowed:
        if cpu in seen:
            continue
        siblings = _span(tree, cpu, ("thread_siblings_list", "core_cpus_list"))
        if cpu in siblings:
            found[(cpu,)] = set(siblings)
            seen.update(siblings)
            continue
        core = tree.number(f"{_CPUS}/cpu{cpu}/topology/core_id")
        key = (packages[cpu], dies[cpu], core) if core is not None and core >= 0 else (cpu,)
        found.setdefault(key, set()).add(cpu)
    return [tuple(sorted(threads)) for threads in found.values()]


def _labels(tree: Tree, allowed: Sequence[int], spans: Sequence[str], number: str) -> dict[int, int]:
    # One file lists all CPUs of a package, so two or three reads label hundreds of CPUs.
    labels: dict[int, int] = {}
    for cpu in allowed:
        if cpu in labels:
            continue
        label = tree.number(f"{_CPUS}/cpu{cpu}/topology/{number}")
        if label is None and not labels:
            return dict.fromkeys(allowed, 0)
        for member in {cpu, *_span(tree, cpu, spans)}:
            labels[member] = max(label or 0, 0)
    return labels


def _span(tree: Tree, cpu: int, names: Sequence[str]) -> tuple[int, ...]:
    for name in names:
        if cpus := parse_cpus(tree.read(f"{_CPUS}/cpu{cpu}/topology/{name}")):
            return cpus
    return ()


def _read_nodes(tree: Tree) -> dict[int, int]:
    nodes: dict[int, int] = {}
    for name in tree.entries(_NODES):
        if name.startswith("node") and name[4:].isdecimal():
            for cpu in parse_cpus(tree.read(f"{_NODES}/{name}/cpulist")):
                nodes[cpu] = int(name[4:])
    return nodes

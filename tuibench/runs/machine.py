"""The machine as a run needs it: which CPUs to take now, and how much memory there is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tuibench.host.load import busy_shares, read_cpu_times
from tuibench.host.topology import Topology, choose_cpus, read_topology

_LOOK_S = 0.1


class Machine:
    """Reads the topology once and looks at the load before each choice that has one."""

    def __init__(self, wait: Callable[[float], None], root: Path = Path("/")) -> None:
        self._wait = wait
        self._root = root
        self.topology: Topology = read_topology(os.sched_getaffinity(0), root)

    def choose(self, cores: int) -> tuple[int, ...]:
        """The idlest CPUs over a tenth of a second; without a look where all are taken anyway."""
        busy: dict[int, float] = {}
        if cores < len(self.topology.cores) or len(self.topology.allowed) > len(self.topology.cores):
            before = read_cpu_times(self._root)
            self._wait(_LOOK_S)
            busy = dict(busy_shares(before, read_cpu_times(self._root)))
        return choose_cpus(self.topology, cores, busy)

"""Choice of the CPUs for each core count: topology first, then the idlest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tuibench.host.kernel_files import busy_shares, read_cpu_times
from tuibench.host.topology import Topology, choose_cpus, read_topology

_MEASURED_S = 0.1
_ROOT = Path("/")


class CpuChoice:
    """Reads the topology once, and the load before each choice that depends on it."""

    def __init__(self, wait: Callable[[float], None]) -> None:
        self._wait = wait
        self.topology: Topology = read_topology(os.sched_getaffinity(0), _ROOT)

    def choose(self, cores: int) -> tuple[int, ...]:
        """Choose the CPUs idlest over a tenth of a second; skip the measurement if all are needed."""
        busy: dict[int, float] = {}
        if cores < len(self.topology.cores) or len(self.topology.allowed) > len(self.topology.cores):
            before = read_cpu_times(_ROOT)
            self._wait(_MEASURED_S)
            busy = dict(busy_shares(before, read_cpu_times(_ROOT)))
        return choose_cpus(self.topology, cores, busy)

"""Scenarios, the ways in which requests arrive at an engine: declared here, and driven by a function in the worker."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.core.value import dataclass

LATENCY = "p50 latency"
THROUGHPUT = "items/s"
"""Compared as time per item, so that a ratio below 1 means faster for either metric."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way in which requests arrive."""

    name: str
    label: str
    """Its name in files of deepsparse.benchmark."""
    scheduler: str
    """Its scheduler in those files."""
    metric: str
    """LATENCY or THROUGHPUT: the metric for comparing and choosing its cells."""
    has_streams: bool
    """True if several requests are in flight at a time, so that their number is a setting."""
    by_node: bool = False
    """True if each NUMA node of the cores runs one instance of the model, and requests go to the least busy one."""
    summary: str = ""
    """Text for the help."""
    settings: tuple[str, ...] = ()
    """Names of settings that identify cells of this scenario; they mean nothing for other scenarios."""
    drive: str = ""
    """The worker's function that measures it, as `module:attribute`; '' if it is not implemented."""

    @property
    def is_single_request(self) -> bool:
        """True if one request is in flight at a time."""
        return not self.has_streams

    @property
    def is_latency(self) -> bool:
        """True if the metric is a latency."""
        return self.metric == LATENCY

    def streams(self, asked: int | None, cores: int, nodes: int) -> int:
        """Return the number of requests in flight: `asked`, else one per core, or two per NUMA node."""
        default = 2 * nodes if self.by_node else cores
        return (asked or default) if self.has_streams else 1


REGISTRY: dict[str, Scenario] = {
    one.name: one
    for one in (
        Scenario(
            "sync",
            "singlestream",
            "Scheduler.single_stream",
            LATENCY,
            has_streams=False,
            summary="one request at a time",
            drive="tuibench.worker.sync:drive",
        ),
        Scenario(
            "async",
            "multistream",
            "Scheduler.multi_stream",
            THROUGHPUT,
            has_streams=True,
            summary="several streams at once",
            settings=("stream_kind",),
            drive="tuibench.worker.streams:drive",
        ),
        Scenario(
            "elastic",
            "elastic",
            "Scheduler.elastic",
            THROUGHPUT,
            has_streams=True,
            by_node=True,
            summary="requests to the least busy NUMA node",
            drive="tuibench.worker.elastic:drive",
        ),
        Scenario("server", "", "", THROUGHPUT, has_streams=True),
    )
}
"""Scenarios by name, in the order in which they are offered."""

DEFAULT = ("async", "sync")
"""Default scenarios; async first, because deepsparse.benchmark prints its numbers by default."""
PROFILED = "sync"
"""The scenario in which layers are timed."""


def find(name: str) -> Scenario:
    """Return a scenario; one of a newer version, unknown here, counts as one with streams."""
    return REGISTRY.get(name) or Scenario(name, name, name, THROUGHPUT, has_streams=True)


def own_settings() -> frozenset[str]:
    """Return the settings that belong to single scenarios."""
    return frozenset(name for one in REGISTRY.values() for name in one.settings)


def names(*, planned: bool = False) -> tuple[str, ...]:
    """Return the scenarios that can be measured, or the planned ones."""
    return tuple(one.name for one in REGISTRY.values() if bool(one.drive) is not planned)


def any_streams(scenarios: Iterable[str]) -> bool:
    """Return whether any of the scenarios has streams."""
    return any(find(name).has_streams for name in scenarios)

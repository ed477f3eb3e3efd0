"""Scenarios: how requests arrive at an engine. Each is declared here once and driven by a function in the worker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LATENCY = "p50 latency"
THROUGHPUT = "items/s"
"""Compared as time per item, so that a ratio below 1 is the faster side for either metric."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way in which requests arrive."""

    name: str
    label: str
    """Its name in files of deepsparse.benchmark."""
    scheduler: str
    """Its scheduler in these files."""
    metric: str
    """LATENCY or THROUGHPUT: what its cells are compared and chosen by."""
    has_streams: bool
    """Whether several requests are in flight at a time, so that their number is a setting."""
    summary: str = ""
    """For the help."""
    drive: str = ""
    """The function that measures it in a worker, as `module:attribute`; '' for one that this version cannot measure."""

    @property
    def is_latency(self) -> bool:
        """Whether less time of one request is what counts."""
        return self.metric == LATENCY

    def streams(self, asked: int | None, cores: int) -> int:
        """Return the number of requests in flight: as asked, else one per core."""
        return (asked or cores) if self.has_streams else 1


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
            drive="tuibench.measure.sync:drive",
        ),
        Scenario(
            "async",
            "multistream",
            "Scheduler.multi_stream",
            THROUGHPUT,
            has_streams=True,
            summary="several streams at once",
            drive="tuibench.measure.driving:drive",
        ),
        Scenario("elastic", "elastic", "Scheduler.elastic", THROUGHPUT, has_streams=True),
        Scenario("server", "", "", THROUGHPUT, has_streams=True),
    )
}
"""Name to scenario, in the order in which they are offered."""

DEFAULT = ("async", "sync")
"""Measured where nothing is asked; async first, since deepsparse.benchmark prints its numbers by default."""
PROFILED = "sync"
"""The scenario in which layers are timed."""


def find(name: str) -> Scenario:
    """Return a scenario; a name of a newer version counts as one with streams."""
    return REGISTRY.get(name) or Scenario(name, name, name, THROUGHPUT, has_streams=True)


def names(*, planned: bool = False) -> tuple[str, ...]:
    """Return the scenarios that can be measured, or those that are planned."""
    return tuple(one.name for one in REGISTRY.values() if bool(one.drive) is not planned)


def any_streams(scenarios: Iterable[str]) -> bool:
    """Return whether one of some scenarios has streams."""
    return any(find(name).has_streams for name in scenarios)

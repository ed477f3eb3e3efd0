"""The drive of a scenario that only tests declare: pairs of requests, timed one after the other."""

from __future__ import annotations

from tuibench.core.scenario import THROUGHPUT, Scenario
from tuibench.measure import sync
from tuibench.measure.scenario import Outcome, Ready

PAIRS = Scenario("pairs", "pairs", "pairs", THROUGHPUT, has_streams=True, drive="tests.scripted_scenario:drive")


def drive(ready: Ready) -> Outcome:
    """Measure as one request at a time does, and report the streams that were asked for."""
    outcome = sync.drive(ready)
    outcome.streams, outcome.stream_kind = ready.job.streams, "scripted"
    return outcome

"""The drive of a test-only scenario: pairs of requests, timed one after the other."""

from __future__ import annotations

from tuibench.core.scenario import THROUGHPUT, Scenario
from tuibench.worker import sync
from tuibench.worker.drive import Outcome, Ready

PAIRS = Scenario("pairs", "pairs", "pairs", THROUGHPUT, has_streams=True, drive="tests.scripted_scenario:drive")


def drive(ready: Ready) -> Outcome:
    """Measure one request at a time, and report the requested streams."""
    outcome = sync.drive(ready)
    outcome.streams, outcome.stream_kind = ready.job.streams, "scripted"
    return outcome

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build import QUIET, make_spec
from tests.refusal import refused
from tests.services.script import HERE, SECOND_NS, SHA, ScriptedRun
from tests.store.data import make_id
from tuibench.core import activity
from tuibench.core.activity import Live, RunView
from tuibench.core.cell import Noise
from tuibench.core.errors import StoreError, StoreNewer
from tuibench.core.reason import Reason, because
from tuibench.core.schema import NEWEST
from tuibench.core.spec import Limits
from tuibench.present.reason import reason_hint, reason_words
from tuibench.runs import journal as journal_module
from tuibench.runs.observer import StateContext
from tuibench.services import run_view as watching
from tuibench.services.run_view import RunWatch
from tuibench.stats.interval import half_width


class Clock:
    """The runner's clock, which only the test advances."""

    def __init__(self) -> None:
        self.now_ns = 5 * SECOND_NS

    def monotonic_ns(self) -> int:
        return self.now_ns

    def pass_s(self, seconds: float) -> None:
        self.now_ns += int(seconds * SECOND_NS)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tuibench.runs.journal.time.monotonic_ns", clock.monotonic_ns)
    return clock


@pytest.fixture
def run(tmp_path: Path, clock: Clock) -> Iterator[ScriptedRun]:
    made = ScriptedRun(tmp_path)
    made.hold()
    yield made
    made.let_go()


def watch(run: ScriptedRun, saved: bool | None = False, project: str = "") -> RunWatch:
    context = StateContext(HERE, "b" * 36, is_saved=lambda _: saved)
    return RunWatch(run.directory, lambda: context, project, time.gmtime)


def words(view: RunView) -> list[str]:
    return [line.partition("  ")[2] for line in view.log]


def begun(run: ScriptedRun) -> None:
    run.begin()
    run.plan()


def test_run_that_has_not_begun_is_shown_as_such(run: ScriptedRun) -> None:
    view = watch(run, project="P").look()
    assert (view.spec, view.cells, view.status, view.saved, view.project) == (None, (), "", None, "P")
    assert view.info.state == activity.RUNNING
    run.let_go()
    over = watch(run).look()
    assert (over.status, over.saved, over.reason) == ("interrupted", False, Reason("not_begun"))


def test_unchanged_run_returns_the_same_view(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    first = eyes.look()
    assert eyes.look() is first
    run.say("heartbeat")
    assert eyes.look() == first


def test_snapshot_without_new_lines_costs_one_stat(run: ScriptedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(run)
    eyes = watch(run)
    eyes.look()

    def refuse(*_: object) -> None:
        raise AssertionError("the journal was read again")

    monkeypatch.setattr(journal_module, "open_regular", refuse)
    eyes.look()


def test_only_the_changed_cell_is_rebuilt(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    before = eyes.look().cells
    assert [cell.status for cell in before] == ["skipped", "skipped"]
    run.done(1, 1, 2e6)
    after = eyes.look().cells
    assert after[0] is before[0]
    assert after[1].status == "partial"
    assert after[1].latency_ms["p50"].value == pytest.approx(2.0)


def test_interval_of_a_cell_is_shown_per_execution(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    values = [1.00e6, 1.04e6, 0.98e6, 1.01e6]
    for n, value in enumerate(values, 1):
        run.done(0, n, value)
        halves = eyes.look().half_widths[run.cells[0].key]
        assert len(halves) == max(0, n - 2)
    logs = [math.log(value) for value in values]
    assert halves == pytest.approx((half_width(logs[:3]), half_width(logs)))


def test_current_activity_is_shown_with_number_and_phase(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    assert eyes.look().live is None
    run.start(0, 1)
    run.progress(0, phase="warmup", p50_ms=None)
    key = run.cells[0].key
    assert eyes.look().live == Live(key, 1, 1, "warming up", None, None, None)
    run.done(0, 1)
    run.start(0, 2)
    run.progress(0, n=1, round=2, half_width_pct=3.1, grade="B", p50_ms=17.1, eta_s=190.0)
    view = eyes.look()
    assert view.live == Live(key, 2, 2, "measuring", 17.1, 3.1 / 100, "B")
    assert view.eta_s == 190.0
    run.start(1, -1, anchor=True, round=2)
    run.progress(1, n=0, round=2)
    live = eyes.look().live
    assert live is not None and live.phase == "anchor execution"


def test_log_is_in_words_with_the_time_of_day(run: ScriptedRun, clock: Clock) -> None:
    host = {"affinity": {"cpus": "0-3,8"}, "cpu": {"isa": ["avx2"]}}
    run.begin(started_utc="2026-11-18T11:06:40Z", pid=77, host=host, versions={"fake": "1.5"})
    clock.pass_s(2.5)
    run.progress(None, activity="inspecting m.onnx")
    run.progress(None, activity="inspecting m.onnx")
    run.plan()
    clock.pass_s(60)
    run.start(0, 1)
    run.start(1, 1)
    run.fail(1, "no operator \x1b[31m")
    clock.pass_s(3600)
    run.done(0, 1, 2e6)
    run.finish(0)
    run.say("warning", cell=run.cells[0].key, message="measured again")
    run.end(saved=True)
    assert watch(run).look().log == (
        "11:06:40  the run starts: pid 77",
        "11:06:42  inspecting m.onnx",
        "11:06:42  Pinning: core, CPU 0-3,8, each engine thread on one CPU (-pin none|numa|core)",
        "11:06:42  Engine: fake 1.5, threads 1,2, ISA avx2",
        "11:06:42  Model /models/m.onnx: 1.00 kB",
        "11:06:42  Plan: 2 cells, about 7.8 s, at most 20 s",
        "11:06:42  Measuring: sync (single_stream) · batch 1 · 1,2 cores",
        "11:07:42  round 1",
        "11:07:42  sync, 2 cores, batch 1: refused: no operator \\e[31m",
        "12:07:42  sync, 1 core, batch 1: 2.00 ms, grade A (±0.1 % after 3 executions)",
        "12:07:42  sync, 1 core, batch 1: measured again",
        "12:07:42  finished; saved",
    )


def test_queue_place_is_logged_once_per_change(run: ScriptedRun) -> None:
    run.begin()
    for place, eta in ((2, 9.0), (2, 5.0), (1, 2.0)):
        run.say("waiting", place=place, holder={"pid": 9, "user": "ada", "run": "", "eta_s": eta})
    eyes = watch(run)
    view = eyes.look()
    assert (view.info.state, view.info.place, view.live) == (activity.WAITING, 1, None)
    assert words(view)[1:] == [
        "queued, position 2: pid 9 of ada, about 9.0 s left",
        "queued, position 1: pid 9 of ada, about 2.0 s left",
    ]
    run.say("granted", waited_s=12.0, shared=False)
    view = eyes.look()
    assert (view.info.state, words(view)[-1]) == (activity.RUNNING, "waited 12 s for the machine")


def test_disturbance_of_the_latest_executions_is_shown(run: ScriptedRun) -> None:
    begun(run)
    busy = Noise(10**8, 9 * 10**8, 0.0, 0, 0.0, 0, 0, 10)
    unknown = Noise(None, None, None, None, None, None, 0, 10, "this kernel does not count")
    for n, noise in enumerate((QUIET, busy, unknown), 1):
        run.done(0, n, noise=noise)
    quiet, waited, untold = watch(run).look().waiting_shares
    assert (quiet, untold) == (0.0, None)
    assert waited == pytest.approx(0.1)


def test_anchor_drift_equals_that_of_the_result(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    assert eyes.look().drift is None
    run.done(0, -1, 1.00e6, anchor=True)
    run.done(0, -2, 1.02e6, anchor=True)
    assert eyes.look().drift == pytest.approx(0.02)


def test_ended_run_shows_its_result(run: ScriptedRun, clock: Clock) -> None:
    begun(run)
    eyes = watch(run, saved=True)
    run.done(0, 1)
    clock.pass_s(7)
    run.done(1, 1)
    before = eyes.look()
    assert (before.ended, before.result, before.elapsed_s) == (False, None, 7.0)
    run.finish(0)
    run.finish(1)
    run.say("run_end", status="finished", saved=True)
    tidying = eyes.look()
    assert (tidying.status, tidying.saved, tidying.live) == ("", None, None)
    run.let_go()
    view = eyes.look()
    assert (view.status, view.saved, view.live, view.eta_s) == ("finished", True, None, None)
    assert view.info.state == activity.FINISHED
    assert view.result is not None and view.result.id == run.id
    assert all(point.bundle is None for point in view.result.points)
    assert eyes.look() is view


def test_dead_runner_is_detected_by_its_lock_alone(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    run.done(0, 1)
    assert not eyes.look().ended
    run.let_go()
    view = eyes.look()
    assert (view.status, view.reason, view.saved) == ("interrupted", Reason("runner_died"), False)
    assert (view.info.state, view.info.resumable) == (activity.INTERRUPTED, True)
    assert [reason_words(cell.stopped_by) for cell in view.cells] == [
        "its runner died after 1 execution",
        "its runner died after 0 executions",
    ]


def test_resumed_run_continues_in_the_same_view(run: ScriptedRun) -> None:
    begun(run)
    run.done(0, 1)
    run.let_go()
    eyes = watch(run)
    assert eyes.look().ended
    run.hold()
    run.say("sitting", boot_id="b" * 36, pid=1, started_utc="2026-11-18T12:00:00Z", mixed=["another kernel"])
    view = eyes.look()
    assert (view.ended, view.result, view.cells[0].stopped_by) == (False, None, because("measuring", executions=1))
    assert words(view)[-1] == "resumed; changed: another kernel"


def test_run_without_a_plan_shows_its_reason(run: ScriptedRun) -> None:
    run.begin()
    error = {"message": "m.onnx: not a model", "hint": "check the path", "exit_code": 3}
    run.end("failed", reason="m.onnx: not a model", error=error)
    view = watch(run).look()
    assert (view.status, view.saved, view.result) == ("failed", False, None)
    assert reason_words(view.reason) == "m.onnx: not a model"
    assert view.reason is not None and reason_hint(view.reason) == "check the path"


def test_signals_are_named_in_words(run: ScriptedRun) -> None:
    begun(run)
    run.done(0, 1)
    run.end("cancelled", reason="SIGTERM", saved=True)
    view = watch(run).look()
    assert (view.status, reason_words(view.reason)) == ("cancelled", "ended by its user")
    assert words(view)[-1] == "cancelled: ended by its user; saved"


def test_result_stored_later_is_shown_as_saved(run: ScriptedRun) -> None:
    begun(run)
    run.done(0, 1)
    run.let_go()
    assert watch(run, saved=True).look().saved is True


def test_names_and_plan_are_shown_from_the_plan_on(run: ScriptedRun) -> None:
    run.begin()
    eyes = watch(run)
    assert (eyes.look().names, eyes.look().limit_s) == ({}, None)
    run.plan()
    view = eyes.look()
    assert (dict(view.names), len(view.cells)) == ({SHA: "m.onnx"}, 2)
    assert view.limit_s == 2 * run.spec.effort.limit_s
    assert view.executions_min == run.spec.effort.min_executions


def test_journal_with_a_damaged_head_is_watched_by_its_request(run: ScriptedRun) -> None:
    begun(run)
    run.done(0, 1)
    path = run.directory.path / journal_module.NAME
    data = path.read_bytes()
    path.write_bytes(b"x" + data[1:])
    view = watch(run).look()
    assert view.spec == run.spec
    assert [cell.status for cell in view.cells] == ["partial", "skipped"]


def test_events_of_a_cell_without_a_plan_are_ignored(run: ScriptedRun) -> None:
    begun(run)
    run.say("execution_start", cell="feedfeedfeed", n=1, round=1, anchor=False)
    run.say("progress", cell="feedfeedfeed", phase="timed", round=1)
    run.say("cell_done", cell="feedfeedfeed", stopped_by="x", pooled=None)
    view = watch(run).look()
    assert (view.live, len(view.cells)) == (None, 2)


def test_log_of_a_long_run_is_bounded(run: ScriptedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watching._MOST_LINES >= 1000
    begun(run)
    for number in range(40):
        run.say("warning", message=f"warning {number}")
    monkeypatch.setattr(watching, "_MOST_LINES", 10)
    view = watch(run).look()
    assert len(view.log) == 10
    assert words(view)[-1] == "warning 39"


@pytest.mark.parametrize(
    ("ev", "fields"),
    [
        ("plan", {"models": 3, "points": [], "cells": []}),
        ("waiting", {}),
        ("run_start", {"spec": "of another kind"}),
        ("extended", {"limit_s": -1, "executions": 1, "cells": {}}),
    ],
)
def test_journal_of_another_version_is_an_explained_error(run: ScriptedRun, ev: str, fields: dict[str, object]) -> None:
    run.begin()
    eyes = watch(run)
    eyes.look()
    run.say(ev, **fields)
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            eyes.look()
        assert caught.value.reason.code == ("events_inconsistent" if ev == "waiting" else "event_damaged")


def test_run_resumed_by_a_newer_version_is_not_shown_as_before(run: ScriptedRun) -> None:
    begun(run)
    eyes = watch(run)
    eyes.look()
    run.say("sitting", v=NEWEST + 1, versions={"tuibench": "9.9"})
    for _ in range(2):
        with refused(StoreNewer, "run_newer", schema=NEWEST + 1, version="9.9"):
            eyes.look()


def test_finished_cell_continues_after_an_extension(tmp_path: Path, clock: Clock) -> None:
    run = ScriptedRun(tmp_path, cells=1, spec=make_spec(Path("/m.onnx"), limits=Limits(max_time_s=100.0)))
    run.hold()
    begun(run)
    run.start(0, 1)
    run.done(0, 1)
    run.say("cell_done", cell=run.cells[0].key, stopped_by="the most allowed", pooled=None)
    eyes = watch(run)
    before = eyes.look()
    assert [c.status for c in before.cells] == ["ok"]
    assert before.limit_s == pytest.approx(10.0)
    bounds = {run.cells[0].key: {"limit_s": 31.0, "executions": 12}}
    run.say("extended", wish=make_id(7), limit_s=30.0, executions=6, cells=bounds)
    after = eyes.look()
    assert [(c.status, c.stopped_by) for c in after.cells] == [("partial", because("measuring", executions=1))]
    assert after.limit_s == pytest.approx(40.0)
    assert after.warnings == (because("extended", limit_s=30.0, executions=6),)
    assert len(after.log) == len(before.log) + 1
    run.say("finish_asked")
    assert eyes.look().info.detail == because("finishing", is_profile=False)
    run.say("cell_done", cell=run.cells[0].key, stopped_by="finished on request after 1 execution", pooled=None)
    run.end(reason="finished on request", saved=True)
    end = eyes.look()
    assert (end.status, end.reason) == ("finished", Reason("finished_on_request"))
    assert [c.status for c in end.cells] == ["ok"]

"""Follows runs by their journals and locks; the state of a run needs no daemon and no pid file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuibench.core import activity
from tuibench.core.activity import RESUMABLE, Holder, RunInfo
from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, TuibenchError
from tuibench.core.label import model_names
from tuibench.core.reason import FINISHED_ON_REQUEST, RUNNER_DIED, SAVED_AS_FAR, Reason, because
from tuibench.core.result import RunResult
from tuibench.host.system import is_stopped
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import (
    NAME,
    NONSENSE,
    Follower,
    History,
    decode_event,
    open_regular,
    read_error,
    read_history,
)
from tuibench.runs.replay import Replay, read_reason, replay

_BOOT_ID = re.compile(r"[0-9a-f-]{36}")
_BEGINS = Reason("beginning")


@dataclass(frozen=True, slots=True)
class StateContext:
    """Facts that decide a run's state beside its files: the observing machine, its boot and the store."""

    host_id: str
    boot_id: str
    now: Callable[[], float] = time.time
    is_saved: Callable[[str], bool | None] = lambda _: None
    """Returns whether the store has a record of this id, which decides; None if the store is unavailable."""


def this_boot(root: Path = Path("/")) -> str:
    """Return the kernel's boot id; '' if there is none."""
    try:
        text = (root / "proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
    return text if _BOOT_ID.fullmatch(text) else ""


def judged_info(
    run: RunDirectory, request: Mapping[str, Any], replay: Replay, context: StateContext, *, held: bool
) -> RunInfo:
    """Return the state of a run from its replayed journal; `held` is true while a runner holds its lock."""
    info = judge_run(describe_run(run, replay, request, replay.counts), replay, context, held)
    if (damage := replay.damage) is not None:
        # Executions cannot be assigned without the plan.
        lost = replay.damaged and not info.executions
        detail = damage if info.detail is None else because("several", reasons=[info.detail, damage])
        info = replace(info, detail=detail, resumable=info.resumable and not lost)
    return info


def ended_info(
    run: RunDirectory, request: Mapping[str, Any], context: StateContext, first: dict[str, Any], last: dict[str, Any]
) -> RunInfo:
    """Return the state of an ended run from the first and last line of its journal."""
    replay = Replay()
    replay.take(first)
    replay.take(last)
    info = describe_run(run, replay, request, {name: int(last[name]) for name in replay.counts})
    return replace(judge_run(info, replay, context, held=False), pid=None)


def judge_run(info: RunInfo, replay: Replay, context: StateContext, held: bool) -> RunInfo:
    """Set the run's state from its journal and lock."""
    state, detail = _judge(replay, context, held, info.id)
    info = replace(info, state=state, detail=detail, resumable=state in RESUMABLE)
    if state == activity.ELSEWHERE:
        age = max(0.0, context.now() - _changed_s(Path(info.directory)))
        return replace(info, heartbeat_age_s=age, eta_s=None)
    if state == activity.WAITING:
        return replace(info, place=int(replay.waiting["place"]), holder=_holder(replay.waiting), eta_s=None)
    if state != activity.RUNNING:
        return replace(info, eta_s=None, pid=None)
    if replay.finishing:
        info = replace(info, detail=because("finishing", is_profile=bool(info.kind)))
    stopped = info.pid is not None and is_stopped(info.pid)
    return replace(info, detail=because("runner_stopped", pid=info.pid)) if stopped else info


def _judge(replay: Replay, context: StateContext, held: bool, run: str) -> tuple[str, Reason | None]:
    """Return state and reason of a run with a valid journal."""
    start = replay.start
    if context.host_id and start.get("host_id") and start["host_id"] != context.host_id:
        return activity.ELSEWHERE, because("other_machine", host=start["host_id"][:4])
    if held:
        return (activity.WAITING, Reason("machine_busy")) if replay.waiting else (activity.RUNNING, None)
    end, status = replay.end, str(replay.end.get("status", ""))
    reason: Reason | None = end.get("reason")
    if status == "failed":
        return activity.FAILED, read_error(end["error"]).reason if end.get("error") else reason
    saved = context.is_saved(run)
    if end.get("saved") and saved is False:
        return activity.UNSAVED, Reason("record_gone")
    if end.get("saved") is False and not saved:
        return activity.UNSAVED, because("not_saved", why=read_reason(end.get("why")))
    if status == "cancelled":
        return activity.CANCELLED, reason
    if status == "finished":
        return activity.FINISHED, reason if reason == Reason(FINISHED_ON_REQUEST) else None
    if end.get("saved") or saved:
        return activity.FINISHED, Reason(SAVED_AS_FAR)
    if status == "interrupted":
        return activity.INTERRUPTED, reason
    if replay.boot_id and context.boot_id and replay.boot_id != context.boot_id:
        return activity.REBOOTED, Reason("rebooted_since")
    return activity.INTERRUPTED, Reason(RUNNER_DIED)


def describe_run(
    run: RunDirectory,
    replay: Replay,
    request: Mapping[str, Any],
    counts: Mapping[str, int],
) -> RunInfo:
    """Describe a run from its journal, without its state."""
    eta = replay.latest.get("eta_s")
    return RunInfo(
        id=run.id,
        state="",
        detail=None,
        started_utc=str(replay.start.get("started_utc", "")),
        models=tuple(model_names(replay.spec.models)),
        name=str((request.get("card") or {}).get("name", "")),
        directory=str(run.path),
        pid=replay.pid,
        pid_start=replay.pid_start,
        cells=counts["cells"],
        cells_done=counts["cells_done"],
        executions=counts["executions"],
        eta_s=float(eta) if isinstance(eta, (int, float)) else None,
        kind=replay.spec.profile.kind if replay.spec.profile is not None else "",
    )


def unreadable_info(run: RunDirectory, held: bool, why: Reason, *, begins: bool = False) -> RunInfo:
    """Describe a run whose files cannot be read; with `begins`, because its runner may still write them."""
    state = activity.RUNNING if held else activity.INTERRUPTED
    return RunInfo(run.id, state, _BEGINS if held and begins else why, "", (), "", str(run.path), None, 0, 0, 0, None)


def unbegun_info(run: RunDirectory, held: bool) -> RunInfo:
    """Describe a run without a journal; a live runner is about to write it."""
    blank = not held and _size(run) > 0
    why = Reason("journal_unreadable" if blank else "not_begun")
    return replace(unreadable_info(run, held, why, begins=True), resumable=not held)


def _size(run: RunDirectory) -> int:
    try:
        return os.stat(run.path / NAME).st_size
    except OSError:
        return 0


def _holder(waiting: dict[str, Any]) -> Holder | None:
    found = waiting.get("holder")
    if not isinstance(found, dict):
        return None
    eta = found.get("eta_s")
    return Holder(
        int(found.get("pid", 0)),
        str(found.get("user", "")),
        str(found.get("run", "")),
        None if eta is None else float(eta),
        bool(found.get("stopped")),
    )


def _changed_s(directory: Path) -> float:
    try:
        return os.stat(directory / NAME).st_mtime
    except OSError:
        return 0.0


def resume_refusal(info: RunInfo) -> Reason | None:
    """Return why a run cannot be resumed; None if it can."""
    if info.resumable:
        return None
    if info.state == activity.ELSEWHERE:
        return because("ran_elsewhere", silent_s=info.heartbeat_age_s or 0.0)
    if info.state == activity.FINISHED:
        return Reason("finished_and_saved")
    if info.state == activity.CANCELLED:
        return Reason("cancelled_and_saved" if info.executions else "cancelled_unmeasured")
    if info.state == activity.FAILED:
        return because("run_failed", why=info.detail)
    return info.detail if info.state in RESUMABLE else because("in_state", state=info.state)


Event = dict[str, Any]

_LOOK_S = 0.25
_TAIL_BYTES = 1 << 14


def ignore_event(_: Event) -> None:
    """Do nothing with an event."""


class RunObserver:
    """One run, followed by its journal and lock; a poll reads only what is new."""

    def __init__(self, run_dir: Path, *, counts_only: bool = False) -> None:
        """With `counts_only` count executions instead of keeping them."""
        self.directory = RunDirectory(run_dir)
        self.replay = Replay(counts_only=counts_only)
        self.alive = True
        """True if a runner held the lock at the last poll."""
        self._follower = Follower(run_dir)
        self._request: Mapping[str, Any] = {}
        self.broken: StoreError | None = None
        """The error that made the journal unusable; every later poll raises it again."""

    @property
    def id(self) -> str:
        """The run's id."""
        return self.directory.id

    @property
    def run_dir(self) -> Path:
        """The run's directory."""
        return self.directory.path

    @property
    def request(self) -> Mapping[str, Any]:
        """The run's request, read once; raise StoreError if it cannot be read."""
        if not self._request:
            self._request = self.directory.request()
        return self._request

    @property
    def begun(self) -> bool:
        """True if the journal's events belong to the followed run."""
        return True

    def poll(self, each: Callable[[Event], None] = ignore_event) -> list[Event]:
        """Test the lock, then read as `read` does."""
        # Test the lock first: a journal read after the lock is free is complete.
        self.alive = self.directory.is_held()
        return self.read(each)

    def read(self, each: Callable[[Event], None] = ignore_event) -> list[Event]:
        """Apply and return the new events; raise StoreError, now and later, if they are damaged.

        Call `each` after an event is applied and before the next one is.
        """
        if self.broken is not None:
            raise self.broken.with_traceback(None)
        events = self._follower.read()
        self.replay.damaged = self._follower.missing
        try:
            if _lacks_head(self.replay, events):
                self.replay.take(make_head(self.request))
            for event in events:
                self.replay.take(event)
                each(event)
        except StoreError as error:
            self.broken = error
            raise
        return events

    def events(self, pause: Callable[[float], None] = time.sleep) -> Iterator[list[Event]]:
        """Yield all events from the beginning, then new ones four times a second, until the run has ended."""
        while True:
            events = self.poll()
            yield events
            if not self.alive:
                break
            if not events:
                pause(_LOOK_S)
        self.note_end(Reason(RUNNER_DIED))

    def note_end(self, reason: Reason) -> None:
        """Set an end if the journal has none; only the runner writes the journal itself."""
        if not self.replay.end and self.replay.start:
            self.replay.end = {"status": "interrupted", "reason": reason}

    @property
    def error(self) -> TuibenchError | None:
        """Return the error of a run that could not be planned or resumed; None if there is none."""
        problem = self.replay.end.get("error")
        return None if problem is None else read_error(problem)

    def result(self) -> RunResult:
        """Return the result from the journal; raise TuibenchError if there is none."""
        if self.error is not None:
            raise self.error
        if not self.replay.start or not self.replay.planned:
            raise TuibenchError("ended_unplanned", run=self.id, why=None)
        return self.replay.result()

    def info(self, context: StateContext) -> RunInfo:
        """Poll and return the run's state; report damage in the state instead of raising."""
        held = self.alive = self.directory.is_held()
        try:
            request = self.request
            if not (self.run_dir / NAME).exists():
                return unbegun_info(self.directory, held)
            # First and last event are enough of an ended run, to keep lists cheap.
            ends = None if held or self.replay.events else read_ends(self.run_dir)
            if ends is not None:
                return ended_info(self.directory, request, context, *ends)
            self.read()
            if not self.replay.start:
                return unbegun_info(self.directory, held)
            return judged_info(self.directory, request, self.replay, context, held=held)
        except StoreError as error:
            damaged = isinstance(error, (StoreNewer, StoreDamaged))
            return unreadable_info(self.directory, held, error.reason, begins=not damaged)
        except NONSENSE:
            return unreadable_info(self.directory, held, Reason("journal_inconsistent"))


def read_state(run: RunDirectory, context: StateContext) -> RunInfo:
    """Return the run's current state; report damage in the state instead of raising."""
    return RunObserver(run.path).info(context)


def states_of(runs: Sequence[RunDirectory], context: StateContext) -> tuple[RunInfo, ...]:
    """Return the state of each run, in the given order."""
    return tuple(read_state(run, context) for run in runs)


def read_replay(run: RunDirectory) -> tuple[Replay, History]:
    """Replay a journal; raise StoreError if it is unreadable, StoreDamaged if an event is invalid."""
    history = read_history(run.path)
    state = Replay()
    state.damaged = history.missing
    if history.damaged and not any(event["ev"] == "run_start" for event in history.events):
        state.take(make_head(run.request()))
    return replay(history.events, state), history


def read_ends(run_dir: Path) -> tuple[Event, Event] | None:
    """Return the first and last event of an ended run, or None if the last one is no end with counts."""
    try:
        with os.fdopen(open_regular(run_dir / NAME), "rb") as handle:
            first = decode_event(handle.readline())
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - _TAIL_BYTES))
            last = decode_event(handle.read().rstrip(b"\n").rpartition(b"\n")[2])
    except OSError:
        return None
    whole = first is not None and last is not None and first["ev"] == "run_start" and last["ev"] == "run_end"
    return (first, last) if first and last and whole and "executions" in last else None


def make_head(request: Mapping[str, Any]) -> Event:
    """Rebuild a run's first event from its request, without the runner's own data: machine, versions and time."""
    return {
        "ev": "run_start",
        "seq": 0,
        "t_ns": 0,
        "run": request["id"],
        "spec": request["spec"],
        "host_id": request.get("host_id", ""),
    }


def _lacks_head(state: Replay, events: Sequence[Event]) -> bool:
    """Return whether the first event of a journal was lost to damage."""
    return bool(state.damaged) and not state.start and not any(e["ev"] == "run_start" for e in events)

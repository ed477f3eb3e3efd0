"""The state of a run, from its files and the kernel's lock alone: no daemon, no pid file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuibench.core import activity
from tuibench.core.activity import AS_FAR, ON_REQUEST, RESUMABLE, Holder, RunInfo, finishing_words
from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer
from tuibench.core.label import model_names
from tuibench.core.units import seconds
from tuibench.host.process import is_stopped
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, NONSENSE
from tuibench.runs.replay import Replay
from tuibench.runs.resumption import COUNTS, count, read_ends, read_replay

_BOOT_ID = re.compile(r"[0-9a-f-]{36}")
_BEGINS = "it just begins"


@dataclass(frozen=True, slots=True)
class Observer:
    """The observer's context: a run's state also depends on the observing machine and its boot."""

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


def read_state(run: RunDirectory, observer: Observer) -> RunInfo:
    """Return the run's current state; report damage in the state instead of raising."""
    held = run.is_held()
    try:
        request = run.request()
        if not (run.path / NAME).exists():
            return _not_begun(run, held)
        ends = None if held else read_ends(run)
        return _read_ended(run, observer, request, *ends) if ends else _read_whole(run, observer, request, held)
    except (StoreNewer, StoreDamaged) as error:
        return _unreadable(run, held, error.message)
    except StoreError as error:
        return _unreadable(run, held, _BEGINS if held else error.message)
    except NONSENSE:
        return _unreadable(run, held, "its journal makes no sense")


def _read_whole(run: RunDirectory, observer: Observer, request: dict[str, Any], held: bool) -> RunInfo:
    """Describe a running or interrupted run from its whole journal."""
    replay, history = read_replay(run)
    if not replay.start:
        return _not_begun(run, held)
    latest: dict[str, Any] = next((e for e in reversed(history.events) if e["ev"] == "progress"), {})
    info = describe_run(run, replay, request, count(replay), latest)
    # Executions cannot be assigned without the plan.
    lost = bool(info.executions == 0 and history.damaged)
    return judge_run(info, replay, observer, held, damage=replay.damage_words, lost=lost)


def judge_run(
    info: RunInfo, replay: Replay, observer: Observer, held: bool, *, damage: str = "", lost: bool = False
) -> RunInfo:
    """Set the run's state from its journal and lock; `lost` if it cannot be resumed."""
    state, detail = _judge(replay, observer, held, info.id)
    detail = "; ".join(filter(None, (detail, damage)))
    info = replace(info, state=state, detail=detail, resumable=state in RESUMABLE and not lost)
    if state == activity.ELSEWHERE:
        age = max(0.0, observer.now() - _changed_s(Path(info.directory)))
        return replace(info, heartbeat_age_s=age, eta_s=None)
    if state == activity.WAITING:
        return replace(info, place=int(replay.waiting["place"]), holder=_holder(replay.waiting), eta_s=None)
    if state != activity.RUNNING:
        return replace(info, eta_s=None, pid=None)
    if replay.finishing:
        info = replace(info, detail=f"finishing: {finishing_words(bool(info.kind))}")
    stopped = info.pid is not None and is_stopped(info.pid)
    return replace(info, detail=f"its runner is stopped: kill -CONT {info.pid}") if stopped else info


def _read_ended(
    run: RunDirectory, observer: Observer, request: dict[str, Any], first: dict[str, Any], last: dict[str, Any]
) -> RunInfo:
    """Describe an ended run from the first and last line of its journal, to keep lists cheap."""
    replay = Replay()
    replay.take(first)
    replay.take(last)
    info = describe_run(run, replay, request, {name: int(last[name]) for name in COUNTS}, {})
    return replace(judge_run(info, replay, observer, held=False), pid=None)


def _judge(replay: Replay, observer: Observer, held: bool, run: str) -> tuple[str, str]:
    """Return state and reason of a run with a valid journal."""
    start = replay.start
    if observer.host_id and start.get("host_id") and start["host_id"] != observer.host_id:
        return activity.ELSEWHERE, f"on another machine, host {start['host_id'][:4]}"
    if held:
        return (activity.WAITING, "for the machine") if replay.waiting else (activity.RUNNING, "")
    end, status = replay.end, str(replay.end.get("status", ""))
    if status == "failed":
        return activity.FAILED, str(end.get("error", {}).get("message", ""))
    saved = observer.is_saved(run)
    if end.get("saved") and saved is False:
        return activity.UNSAVED, "its record is no longer in the store"
    if end.get("saved") is False and not saved:
        return activity.UNSAVED, str(end.get("why", "the store could not be written"))
    if status == "cancelled":
        return activity.CANCELLED, str(end.get("reason", ""))
    if status == "finished":
        return activity.FINISHED, ON_REQUEST if end.get("reason") == ON_REQUEST else ""
    if end.get("saved") or saved:
        return activity.FINISHED, AS_FAR
    if status == "interrupted":
        return activity.INTERRUPTED, str(end.get("reason", ""))
    if replay.boot_id and observer.boot_id and replay.boot_id != observer.boot_id:
        return activity.REBOOTED, "the machine was started anew"
    return activity.INTERRUPTED, "its runner died"


def describe_run(
    run: RunDirectory,
    replay: Replay,
    request: Mapping[str, Any],
    counts: Mapping[str, int],
    latest: Mapping[str, Any],
) -> RunInfo:
    """Describe a run from its journal, without its state; `latest` is its last progress."""
    eta = latest.get("eta_s")
    return RunInfo(
        id=run.id,
        state="",
        detail="",
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


def _unreadable(run: RunDirectory, held: bool, why: str) -> RunInfo:
    state = activity.RUNNING if held else activity.INTERRUPTED
    return RunInfo(run.id, state, why, "", (), "", str(run.path), None, 0, 0, 0, None)


def _not_begun(run: RunDirectory, held: bool) -> RunInfo:
    """Describe a run without a journal; a live runner is about to write it."""
    blank = not held and _size(run) > 0
    why = "its journal is damaged: no event in it can be read" if blank else "it had not begun"
    return replace(_unreadable(run, held, _BEGINS if held else why), resumable=not held)


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


def resume_refusal(info: RunInfo) -> str:
    """Return why a run cannot be resumed; '' if it can."""
    if info.resumable:
        return ""
    words = {
        activity.ELSEWHERE: f"it ran on another machine, last heard of {seconds(info.heartbeat_age_s or 0)} ago",
        activity.FINISHED: "it is finished and saved",
        activity.CANCELLED: "it was cancelled, and what it had is saved"
        if info.executions
        else "it was cancelled before anything was measured",
        activity.FAILED: f"it failed: {info.detail}",
    }
    return words.get(info.state, info.detail if info.state in activity.RESUMABLE else f"it is {info.state}")


def states_of(runs: Sequence[RunDirectory], observer: Observer) -> tuple[RunInfo, ...]:
    """Return the state of each run, in the given order."""
    return tuple(read_state(run, observer) for run in runs)

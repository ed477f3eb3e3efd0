"""The state of a run, judged by its journal and the kernel's lock alone: no daemon, no pid file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tuibench.core import activity
from tuibench.core.activity import RESUMABLE, Holder, RunInfo
from tuibench.core.label import model_names
from tuibench.core.reason import FINISHED_ON_REQUEST, RUNNER_DIED, SAVED_AS_FAR, Reason, because, error_text
from tuibench.host.system import is_stopped
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME
from tuibench.runs.replay import Replay

_BOOT_ID = re.compile(r"[0-9a-f-]{36}")
_BEGINS = Reason("beginning")


@dataclass(frozen=True, slots=True)
class StateContext:
    """What a run's state depends on beside its files: the observing machine, its boot and the store."""

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
        return activity.FAILED, error_text(str(end.get("error", {}).get("message", "")))
    saved = context.is_saved(run)
    if end.get("saved") and saved is False:
        return activity.UNSAVED, Reason("record_gone")
    if end.get("saved") is False and not saved:
        return activity.UNSAVED, because("not_saved", why=str(end.get("why") or ""))
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

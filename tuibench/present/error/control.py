"""Words of the errors of starting, resuming and ending runs."""

from __future__ import annotations

from tuibench.core import activity
from tuibench.core.ids import short_id
from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint

_RESUMABLE = {
    "cancel": "tuibench resume {0} measures the rest; tuibench remove {0} deletes it",
    "extend": "tuibench resume {0} measures the rest",
    "finish": "tuibench resume {0} --finish saves the partial result",
}
"""Hints for an action on a run that can be resumed."""
_FINISHED = {
    "cancel": "tuibench show {0} prints its result",
    "extend": "tuibench rerun {0} measures it again",
    "finish": "tuibench show {0} prints its result",
}
"""Hints for an action on a finished run."""


def state_words(state: object) -> str:
    """Return the state of a run as lists show it."""
    return "queued" if state == activity.WAITING else show(state, 20)


def _in_state(fields: Fields) -> str:
    asked = fields["asked"]
    if asked == "discard":
        hint = "tuibench cancel {0} ends it"
    elif fields["resumable"]:
        hint = _RESUMABLE[asked]
    else:
        hint = _FINISHED[asked] if fields["state"] == activity.FINISHED else "tuibench ps --all lists it"
    return hint.format(short_id(fields["run"]))


def _instead(fields: Fields) -> str:
    """Return a hint for a run that cannot be resumed."""
    short, state = short_id(fields["run"]), fields["state"]
    if state in activity.ALIVE:
        return f"tuibench attach {short} follows it"
    if state == activity.CANCELLED and not fields["executions"]:
        return "start it again"
    if state in (activity.FINISHED, activity.CANCELLED):
        return f"tuibench rerun {short} measures it again"
    return f"tuibench export {short} -x FILE writes the partial result" if fields["executions"] else ""


def _no_directory(fields: Fields) -> str:
    where, why = fields["where"], show(fields["why"] or "no reason is known", 500)
    return f"no directory for the run can be made in {show(where)}: {why}" if where else _NO_TEMPORARY + why


def _ended_before_start(fields: Fields) -> str:
    output = f" ({show(fields['output'], 500)})" if fields["output"] else ""
    return f"{show(fields['why'], 500)} before the run began{output}"


def _ended_unplanned(fields: Fields) -> str:
    why = show(fields["why"] or "", 500)
    return f"{why} before the run was planned" if why else f"run {short_id(fields['run'])} ended before it was planned"


def _unread(fields: Fields) -> str:
    run, why = short_id(fields["run"]), fields["why"]
    return f"run {run} cannot be read: {show(why, 500)}" if why else f"run {run}: its journal cannot be read"


_NO_TEMPORARY = "no temporary directory can be used: "
_AGAIN = "tuibench rerun {run:id} measures it again"

CONTROL_ERRORS: dict[str, MessageAndHint] = {
    # Start
    "no_run_directory": (_no_directory, "set TMPDIR to a directory that can be written to"),
    "directory_shared": ("the directory belongs to another user, or others may write there", ""),
    "run_without_saving": (
        "a --no-save run cannot be detached: it ends with the command that started it",
        "start it in the foreground",
    ),
    "ended_before_start": (_ended_before_start, ""),
    "ended_unplanned": (_ended_unplanned, ""),
    "no_event_to_save": ("run {run:id} has nothing to save: no event of its journal can be read", ""),
    "journal_unread": (_unread, "tuibench remove {run:id} removes it"),
    "events_inconsistent": (
        "run {run:id}: its journal is inconsistent: {why}",
        "use the version that wrote it, or tuibench remove {run:id}",
    ),
    # Resume and follow
    "not_resumable": ("run {run:id} cannot be resumed: {why}", _instead),
    "measured_file_missing": ("{model} is missing", "put it back, or save the partial result with --finish"),
    "run_elsewhere": ("run {run:id} is {why}, last heartbeat {silent_s:seconds} ago", "attach to it on that machine"),
    # End or extend
    "run_in_state": (lambda fields: f"run {short_id(fields['run'])} is {state_words(fields['state'])}", _in_state),
    "run_of_other_user": ("run {run:id} belongs to another user", "ask its owner"),
    "process_of_other_user": ("process {pid} belongs to another user", "ask its owner"),
    "run_unreachable": ("run {run:id} cannot be signalled: {text}", ""),
    "run_ends_slowly": ("run {run:id} has not ended yet", "it ends within a minute"),
    "run_queued": (
        "run {run:id} is queued; it has nothing to finish",
        "tuibench cancel {run:id} removes it from the queue",
    ),
    "ended_before_finish": ("run {run:id} ended before it could be finished", "see tuibench ps --all"),
    "ended_before_more": ("run {run:id} ended before it could be given more", _AGAIN),
    "run_finishing": ("run {run:id} is being finished on request", _AGAIN),
    "more_time_out_of_range": ("{given} s is out of range", "give more than 0 s and at most {most_s:seconds}"),
    "profile_without_target": (
        "run {run:id} makes a profile, which has no target",
        "tuibench profile takes --processes, --runs and --samples",
    ),
    "run_without_target": (
        "run {run:id} measures a fixed number of executions and has no target",
        "tuibench rerun {run:id} with another number of --executions measures more",
    ),
}

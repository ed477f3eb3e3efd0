"""Words of the errors of actions on saved results and projects."""

from __future__ import annotations

from os.path import basename

from tuibench.core import activity
from tuibench.core.ids import short_id
from tuibench.core.text import cut_middle, show
from tuibench.present.error.control import state_words
from tuibench.present.error.template import Fields, MessageAndHint

_NAME_COLUMNS = 30
"""Columns of a file's name, so that the hint after it stays visible."""


def _with_run(fields: Fields) -> str:
    """Return what can be done with an unsaved run."""
    short = short_id(fields["run"])
    if fields["state"] in activity.ALIVE:
        return f"tuibench attach {short} follows it to its end"
    if fields["state"] == activity.ELSEWHERE:
        return "tuibench ps shows the machine"
    if fields["resumable"]:
        resume = "saves it" if fields["state"] == activity.UNSAVED else "measures the rest"
        return f"tuibench export {short} -x FILE writes the partial result, tuibench resume {short} " + resume
    return f"see tuibench ps --all; tuibench remove {short} removes it"


def _type_one(fields: Fields) -> str:
    more = fields["count"] - len(fields["names"])
    return f"type the id of one: {', '.join(fields['names'])}" + (f" and {more} more" if more else "")


def _named(fields: Fields) -> str:
    """Return the text that named a run; the dashboard passes whole ids, which nobody types."""
    return short_id(fields["given"]) if fields["given"] == fields["run"] else show(fields["given"], 40)


def _running(fields: Fields) -> str:
    ids = fields["ids"]
    return f"{', '.join(map(short_id, ids))} {'is' if len(ids) == 1 else 'are'} still running"


def _file_gone(fields: Fields) -> str:
    """Return the remedy before the long path, so that 80 columns show it."""
    name = cut_middle(show(basename(fields["path"])), _NAME_COLUMNS)
    way = _new_path(fields) if fields["id"] else "press R and enter its new path"
    return f"{name} is missing: {way} (was {show(fields['path'])})"


def _new_path(fields: Fields) -> str:
    return f"tuibench rerun {short_id(fields['id'])} --model PATH gives its new path"


def _lowered(text: str) -> str:
    return f"{show(text[:1].lower())}{show(text[1:], 500)}"


_CHILD_TASKS = {
    "fetch": "fetching {}",
    "hash": "reading {}",
    "import": "{}: reading it",
    "inspect": "{}: reading the model",
}
"""Names of the tasks of a child; other tasks read the layers of a file."""


def _child_died(fields: Fields) -> str:
    task = _CHILD_TASKS.get(fields["task"], "{}: reading its layers").format(show(fields["file"]))
    return f"{task} failed: {show(fields['why'], 500)}"


def _after_death(fields: Fields) -> str:
    return show(fields["tail"] or ("try it again" if fields["task"] == "fetch" else ""), 500)


_CHECK = "tuibench store check --read-data reports the damage, --repair moves the file to quarantine"
_TO_RESTORE = "tuibench trash restore {id:id} brings it back"

LIBRARY_ERRORS: dict[str, MessageAndHint] = {
    # Find
    "several_called": ("{count:count {noun}} are called {given:40}", _type_one),
    "original_removed": ("the original of {given:40} was removed", "tuibench trash list shows the removals"),
    "in_trash": ("{given:40} is in the trash", _TO_RESTORE),
    "run_not_in_store": (
        lambda fields: f"{_named(fields)} is a run that is not in the store: it is {state_words(fields['state'])}",
        _with_run,
    ),
    "without_measurements": ("{given:40} has no measurements", _with_run),
    "run_still_running": ("{run:id} is still running", "tuibench attach {run:id} follows it to its end"),
    "no_command": ("benchmarks of {tool:80} cannot be repeated by a command", ""),
    "benchmark_gone": ("{id:id} is no longer in the store", "u restores the last removal"),
    "record_damaged": ("the record of {id:id} is damaged", _CHECK),
    # Remove and restore
    "runs_still_running": (_running, "tuibench cancel ID ends a run and saves its measurements"),
    "runs_not_saved": ("{ids:ids}: the measurements are not saved yet", "tuibench resume {first:id} saves them"),
    "run_unread": (
        "{run:id}: its measurements would be deleted permanently, and cannot be read here: {why}",
        "tuibench remove -y {run:id} deletes them",
    ),
    "runs_without_measurements": ("{ids:ids}: nothing was measured, so nothing could be restored", ""),
    "nothing_to_undo": ("there is nothing to undo", "the trash of this machine is empty"),
    "trash_empty": ("the trash is empty", "there is nothing to restore"),
    # Projects
    "model_unread": ("{model} could not be read", "give the path of an .onnx file"),
    "project_in_use": ("{ids:ids}: still measuring for this project", "cancel the active runs first"),
    # Export and import
    "export_overwrites": ("-x {target} would overwrite {path}", "give the result another name"),
    "target_without_name": ("-x needs a file name", "such as -x result.json; -x - writes to stdout"),
    "target_is_directory": ("{path} is a directory", "give a file name for -x"),
    "target_not_regular": ("{path} is not a regular file", "use -x - for stdout"),
    "target_read_only": ("{path} is read-only", "make it writable or give another name"),
    "target_unwritable": (
        lambda fields: f"{show(fields['path'])} cannot be written: {_lowered(fields['text'])}",
        lambda fields: "make its directory first" if fields["missing"] else "choose another file",
    ),
    "copy_unwritable": (
        lambda fields: f"{show(fields['path'], 120)} cannot be written: {_lowered(fields['text'])}",
        "make its directory writable, or free some space",
    ),
    "file_in_trash": ("{path}: this result is in the trash", _TO_RESTORE),
    "file_of_run": (
        "{path}: this is run {run:id} of this machine, which is {state}",
        "tuibench resume {run:id} measures the rest; tuibench resume {run:id} --finish saves the partial result",
    ),
    "child_died": (_child_died, _after_death),
    # Measure again
    "measured_elsewhere": (
        "{id:id} was measured by {tool:80}: its settings are not known, so there is nothing to repeat",
        "tuibench benchmark MODEL --compare-to ID measures again and shows both",
    ),
    "other_model": (
        "{model} differs from the model that {id:id} measured",
        "--changed measures it as a new version",
    ),
    "ambiguous_stand_in": (
        "{model} could replace any of the models of {id:id}, as none is missing",
        "start it anew: tuibench benchmark MODEL MODEL",
    ),
    "measured_model_gone": ("{path}, which {id:id} measured, is missing", _new_path),
    "measured_model_changed": (
        "{path} has changed since {id:id} was measured",
        "--changed measures it as a new version; --model PATH gives the new path of the old file",
    ),
    "model_not_cached": ("{model:60} is no longer in the cache", "press R to fetch it"),
    "model_file_gone": (_file_gone, ""),
    "model_lost": ("{why}", "press R and enter its new path"),
    "must_be_downloaded": (
        "{address:80} must be downloaded first",
        "tuibench benchmark downloads it; give the path that it prints",
    ),
}

"""Words of the errors of runs, engines and the machine."""

from __future__ import annotations

from tuibench.core.text import show
from tuibench.core.units import seconds
from tuibench.present.error.template import Fields, MessageAndHint

_START_AGAIN = "start the benchmark again; the journal is unchanged"


def holder_words(fields: Fields) -> str:
    """Return the words for the process that measures, for a user who waits."""
    run = fields["run"]
    who = f"pid {fields['pid']} of {show(fields['user'], 40)}" + (f", run {show(run)[-4:].lower()}" if run else "")
    if fields["stopped"]:
        return f"{who}, which is suspended"
    if fields["brief"]:
        return f"{who}, which reads a model for a moment"
    if fields["eta_s"] is None:
        return f"{who}, time left unknown" if run else who
    return f"{who}, about {seconds(fields['eta_s'])} left"


def _measuring(fields: Fields) -> str:
    still = f" still, after {seconds(fields['waited_s'])}" if fields["waited_s"] else ""
    before = f"; {fields['before']} more queued before this run" if fields["before"] else ""
    return f"this machine is measuring{still}: {fields['holder']}{before}"


def _wait_longer(fields: Fields) -> str:
    way = "a longer --wait, or none, waits longer" if fields["waited_s"] else "without --no-wait it is queued"
    return f"{way}; --share-host measures concurrently"


def _wait_or_tail(fields: Fields) -> str:
    """Return the remedy for a timeout; otherwise the last output of the process."""
    return "a larger --timeout waits longer; 2 doubles the default" if fields["late"] else show(fields["tail"], 500)


def _no_layer(fields: Fields) -> str:
    if not fields["part"]:
        return str(fields["why"])
    place = show(fields["part"]) if fields["process"] is None else f"process {fields['process']}"
    return f"no layer was measured: {place} {fields['why']}"


RUN_ERRORS: dict[str, MessageAndHint] = {
    "host_measuring": (_measuring, _wait_longer),
    "runner_exists": ("run {run:id} has a runner already", "tuibench attach {run:id} follows it"),
    "request_unreadable": ("the request of run {run:id} cannot be read: {text}", ""),
    "request_damaged": ("the request of run {run:id} cannot be read: it is damaged", ""),
    "journal_unwritable": ("the journal of the run cannot be written: {text}", "tuibench resume ID continues the run"),
    "disk_full": ("the disk is full", "free some space, then type tuibench resume ID"),
    "journal_unopened": (
        "the journal of run {run:id} cannot be read: {text}",
        "check the disk and the permissions of the data directory",
    ),
    "event_damaged": (
        "the journal of this run cannot be read: event {number} ({event:40}) is damaged: {text:80}",
        _START_AGAIN,
    ),
    "events_without_result": (
        "the journal of this run cannot be read: no result can be made of its events: {text:80}",
        _START_AGAIN,
    ),
    "samples_not_copied": ("samples cannot be copied to {path}: {text}", ""),
    "reading_died": ("{model}: reading the model failed: {why}", _wait_or_tail),
    "making_inputs_died": ("{model}: making inputs failed: {why}", _wait_or_tail),
    "no_time_for_a_plan": ("--max-time ended before the run was planned ({why})", "give it more time"),
    "no_time_to_measure": ("--max-time ended before anything was measured", "give it more time"),
    "no_layer_measured": (
        _no_layer,
        _wait_or_tail,
    ),
    "layers_not_changed_with": ("layers are not changed with {engine}", "omit -e for a loss profile"),
    "ort_file_has_no_layers": (
        "{model}: an .ort file has no nodes to match layers by",
        "profile the .onnx file that it was made from",
    ),
    "machine_changed": (
        lambda fields: f"the machine changed since the run started: {'; '.join(fields['changes'])}",
        (
            "tuibench resume {run:id} --mixed measures the rest and records the change; "
            "tuibench resume {run:id} --finish saves the partial result"
        ),
    ),
    "inputs_changed": (
        "the file of --inputs changed since this run began",
        "restore the old file, or start again",
    ),
    "model_changed_since": (
        "{path} changed since this run began",
        "measure it as it is now with tuibench rerun, or put the old file back",
    ),
    "plan_not_repeatable": (
        "the plan of this run cannot be made again on this machine",
        "tuibench rerun starts again",
    ),
    "no_core_requested": ("{cores} cores were requested", "request at least one core"),
    "too_many_cores": (
        "{cores} cores were requested, but only {have:count physical core} may be used here",
        "request at most {have}, or widen the affinity or the cpuset of this process",
    ),
}

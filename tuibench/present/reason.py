"""Words of reasons: one entry for each code, for shell, dashboard and exports alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any

from tuibench.core.ids import short_id
from tuibench.core.reason import (
    CANCELLED_ON_REQUEST,
    DIED,
    ERROR,
    FINISHED_ON_REQUEST,
    KILLED_BY_KERNEL,
    LEGACY_INTERVAL,
    LEGACY_TEXT,
    MAX_TIME,
    OUT_OF_MEMORY,
    RUNNER_DIED,
    SAVED_AS_FAR,
    SIGNAL,
    Failure,
    Reason,
    upgrade_end,
)
from tuibench.core.record import from_plain
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, seconds, size
from tuibench.present.comparison_reason import COMPARISON_WORDS
from tuibench.present.error.control import state_words
from tuibench.present.error.phrase import PHRASES
from tuibench.present.error.run import holder_words
from tuibench.present.error.tables import HINTS, MESSAGES
from tuibench.present.error.template import Fields
from tuibench.present.profile.reason import PROFILE_WORDS, cause_words
from tuibench.present.store import STORE_WORDS

_MAX_CHARS = 500
_FIELD_CHARS = 1000
"""Most characters of a hint and of one field."""
_SIGNALS = {"SIGTERM": "ended by its user", "SIGINT": "ended by its user", "SIGHUP": "ended by a hang-up"}
_NEVER = 100_000
"""Larger predictions are shown as out of reach, not as a number."""


def reason_words(reason: Reason | None, limit: int = _MAX_CHARS) -> str:
    """Return the words of a reason, safe to print; '' for none.

    A code of a newer version, or fields that do not fit, are shown as they are.
    """
    if reason is None or not reason.code:
        return ""
    # Word nested reasons once; the template and the raw fallback both use them.
    fields = {name: _in_words(value) for name, value in reason.fields.items()}
    words = _fill(_WORDS.get(reason.code), fields)
    subject = f"{show(fields.pop('subject'), _FIELD_CHARS)} " if fields.get("subject") else ""
    return subject + show(_raw(reason.code, fields) if words is None else words, limit)


def reason_hint(reason: Reason) -> str:
    """Return the hint for the error with this reason, or else that of its cause, safe to print; '' for none."""
    fields = {name: _in_words(value) for name, value in reason.fields.items()}
    own = show(_fill(HINTS.get(reason.code), fields) or "", _FIELD_CHARS)
    causes = (value for value in reason.fields.values() if isinstance(value, Reason))
    return own or next(filter(None, map(reason_hint, causes)), "")


def _fill(words: str | Callable[[Fields], str] | None, fields: Fields) -> str | None:
    """Return the words with these fields; None without words, or if the fields do not fit them."""
    if words is None:
        return None
    try:
        return _PRINTER.vformat(words, (), fields) if isinstance(words, str) else str(words(fields))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):  # a damaged journal holds anything
        return None


class _Printer(Formatter):
    """Formats fields safe to print: `{name}`, `{name:60}` for at most 60 characters, `{bytes:size}`, `{n:count core}`.

    Lists are separated by commas; `{names:or}` has "or" before the last, and `{names:versions}` the lowest first.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return one field."""
        if format_spec in _FORMS:
            value, format_spec = _FORMS[format_spec](value), ""
        elif format_spec.startswith("count "):
            return count_of(value, format_spec.removeprefix("count "))
        if isinstance(value, list):
            value = ", ".join(str(_print_value(one)) for one in value)
        if isinstance(value, str):
            return show(value, int(format_spec or _FIELD_CHARS))
        return format(value, format_spec)


def _join_or(names: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


_PRINTER = _Printer()
_FORMS: dict[str, Callable[[Any], str]] = {
    "size": size,
    "seconds": seconds,
    "percent": percent,
    "id": short_id,
    "ids": lambda ids: ", ".join(map(short_id, ids)),
    "or": _join_or,
    "versions": lambda series: _join_or(sorted(series, key=lambda one: (len(one), one))),  # 3.9 before 3.10
    "and": " and ".join,
    "+": " + ".join,
}


def read_reason(plain: Any) -> Reason | None:
    """Return the reason of a journal event; journal_inconsistent if it is damaged."""
    try:
        return from_plain(Reason, plain) if plain else None
    except (TypeError, ValueError):
        return Reason("journal_inconsistent")


def read_words(plain: Any) -> str:
    """Return the words of a reason in a journal event."""
    return reason_words(read_reason(plain))


def read_end(event: Mapping[str, Any]) -> Reason | None:
    """Return the reason in the last event of a journal."""
    return upgrade_end(read_reason(event.get("reason")))


def all_words(reasons: Iterable[Reason]) -> tuple[str, ...]:
    """Return the words of each reason."""
    return tuple(map(reason_words, reasons))


def export_words(reason: Reason | None) -> str:
    """Return the words of JSON exports: scripts may compare the names of signals and the ends of runs."""
    if reason is None:
        return ""
    if reason.code == SIGNAL:
        return str(reason.fields.get("signal", ""))
    if reason == Reason(MAX_TIME):
        return "max-time"
    if reason.code in (LEGACY_TEXT, ERROR):
        return str(reason.fields.get("text", ""))
    return no_interval_words(reason, 4096)


def no_interval_words(reason: Reason | None, limit: int = _MAX_CHARS) -> str:
    """Return the words, after "no interval: " where only the interval is missing."""
    words = reason_words(reason, limit)
    return f"no interval: {words}" if reason is not None and reason.code in _OF_INTERVALS else words


def replace_reasons(plain: Any) -> Any:
    """Return plain values with words in place of encoded reasons."""
    if isinstance(plain, list):
        return [replace_reasons(one) for one in plain]
    if isinstance(plain, dict):
        if plain.keys() == {"code", "fields"}:
            return export_words(read_reason(plain))
        if plain.keys() == {"reason", "exit_code"} and (reason := read_reason(plain["reason"])) is not None:
            return {"message": reason_words(reason), "hint": reason_hint(reason), "exit_code": plain["exit_code"]}
        return {name: replace_reasons(one) for name, one in plain.items()}
    return plain


def _in_words(value: Any) -> Any:
    """Return the value of a field with words in place of reasons."""
    if isinstance(value, list):
        return [_in_words(one) for one in value]
    return reason_words(value) if isinstance(value, Reason) else value


def _print_value(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(str(_print_value(one)) for one in value)
    return show(value, _MAX_CHARS) if isinstance(value, str) else value


def _raw(code: object, fields: Fields) -> str:
    words = ", ".join(f"{name} {_print_value(value)}" for name, value in fields.items())
    return str(code).replace("_", " ") + (f": {words}" if words else "")


def _share(fraction: float) -> str:
    value = fraction * 100
    if value < 0.1:
        return "under 0.1 %"
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def _after(words: str) -> Callable[[Fields], str]:
    """Return a maker of words with the number of executions, where the reason is that of a cell."""

    def make(fields: Fields) -> str:
        return f"{words} after {count_of(fields['executions'], 'execution')}" if "executions" in fields else words

    return make


def _interrupted(fields: Fields) -> str:
    return _after(fields["why"] or "interrupted")(fields)


def finishing_words(is_profile: bool) -> str:
    """Return the remaining work of a finishing run; a profile continues until it has its first useful part."""
    return "it ends as soon as it has something to show" if is_profile else "the current execution is the last"


def extension_words(more_s: float, executions: int) -> str:
    """Return the message that cells below their target got more time, with the number of added executions."""
    return f"more time on request: {seconds(more_s)} and up to {count_of(executions, 'execution')} more per cell"


def _changed_speed(measured: str, fields: Fields) -> str:
    change = fields["change"]
    word = "slower" if change > 0 else "faster"
    return f"{measured} is {percent(abs(change))} {word} than before the break (allowed {percent(fields['allowed'])})"


def _in_brackets(text: str) -> str:
    return f" ({show(text)})" if text else ""


def _disturbed(start: Callable[[Fields], str]) -> Callable[[Fields], str]:
    """Return a maker of the cause of a grade: its start, then the further disturbances."""

    def make(fields: Fields) -> str:
        parts = [start(fields)]
        if "stolen" in fields:
            parts.append(f"the hypervisor took {_share(fields['stolen'])} of the time")
        if "throttled_ms" in fields:
            parts.append(f"the cgroup's quota stopped it for {fields['throttled_ms']:.3g} ms")
        if "drift" in fields:
            parts.append(f"the speed of the CPU drifted by {_share(fields['drift'])}")
        return "; ".join(parts)

    return make


def _waited(fields: Fields) -> str:
    cause = "other processes, or the quota of its cgroup" if fields["has_quota"] else "other processes"
    return f"{_share(fields['waited'])} of the time the engine waited for a CPU: {cause}"


def _uncounted(fields: Fields) -> str:
    return show(fields["why"]) if fields["why"] else "this kernel does not count waiting"


def _preempted(fields: Fields) -> str:
    rate = f"its CPU was taken away {fields['per_s']:.3g} times a second"
    return f"{rate}; at best B without waiting times ({_uncounted(fields)})"


def _stopped(why: Callable[[Fields], str]) -> Callable[[Fields], str]:
    """Return a maker of the words of the stop rule: the interval so far, the rule, and what more would give."""

    def make(fields: Fields) -> str:
        executions, half, target = count_of(fields["executions"], "execution"), fields["half_width"], fields["target"]
        so_far = f"±{percent(half)} after {executions}" if half is not None else f"{executions}, no interval yet"
        words, more = so_far + why(fields), fields["more"]
        if not more or target is None:
            return words
        if more >= _NEVER:
            return f"{words}; ±{percent(target)} is not reachable on this machine now"
        cost = f"about {count_of(more, 'more execution')} ({seconds(fields['more_s'])})"
        return f"{words}; {cost} would give ±{percent(target)}"

    return make


_OF_INTERVALS = frozenset(
    {
        *(LEGACY_INTERVAL, "too_few_executions", "zero_value", "pooled", "no_executions_kept"),
        *("ratio_without_interval", "time_without_interval", "row_without_interval", "operand_without_interval"),
        "operand_too_short",
    }
)
"""Reasons why a number lacks only its interval."""

_PARTS = {
    "costs": "counting the operations of each layer",
    "roofline": "measuring the peak speeds of this machine",
    "zeros": "measuring the speedup from zeros",
    "layers": "timing layers",
    "what_if": "measuring single layers in another form",
    "weights": "looking at the weights",
    "loss": "changing one layer at a time",
}
_STAGES = {
    "first": "first inference",
    "profiling": "profiled runs",
    "timing": "runs without the profiler",
}
"""Stages of a part; others are shown by their names."""


def _making(fields: Fields) -> str:
    part, done, of, stage = fields["part"], fields["done"], fields["of"], show(fields.get("stage", ""))
    # Each process that times layers is a part of its own.
    count = f"process {min(done + 1, of)} of {of}" if part == "layers" else f"{done} of {of}" if of else ""
    words = ", ".join(filter(None, (_PARTS.get(part, show(part)), count)))
    return f"{words}: {_STAGES.get(stage, stage)}" if stage else words


_PHASES: dict[str, str] = {
    "inspect": "reading the model",
    "inputs": "making inputs",
    "start": "starting the worker",
    "load": "load",
    "first": "the first inference",
    "check": "checking the outputs",
    "warmup": "warm-up",
    "timed": "timing",
}
_HEADS = {
    "refused": "refused in",
    "timeout": "timeout in",
    "memory": "out of memory in",
}


def failure_words(failure: Failure, limit: int = 330) -> str:
    """Return one line such as `died by SIGFPE in the first inference`, safe to print; other kinds read `failed in`."""
    return reason_words(failure.as_reason(), limit)


def _failed_in(fields: Fields) -> str:
    signal, phase = fields["signal"], _PHASES.get(fields["phase"]) or show(fields["phase"], 20)
    died = fields["kind"] == "signal" and signal
    head = f"died by {show(signal, 20)} in" if died else _HEADS.get(fields["kind"], "failed in")
    where = "refused" if (fields["kind"], fields["phase"]) == ("refused", "load") else f"{head} {phase}"
    return where + (f": {show(fields['why'], _MAX_CHARS)}" if fields["why"] else "")


_WORDS: dict[str, str | Callable[[Fields], str]] = {
    LEGACY_TEXT: "{text}",
    LEGACY_INTERVAL: "{text}",
    # Numbers without a value or an interval
    "no_value": "no execution gave a value",
    "zero_value": "a value is zero",
    "too_few_executions": "{count} of at least {least} executions",
    "no_execution": "no execution finished",
    "too_few_iterations": "needs at least {more} more iterations",
    "pooled": "of all iterations together, as one execution has too few",
    "short_execution": "one execution has too few iterations",
    "cpu_time_unread": "the CPU time used was not read",
    "not_measured": "not measured",
    # Causes of a grade
    "quiet": _disturbed(lambda fields: f"quiet: {_share(fields['waited'])} of the time the engine waited for a CPU"),
    "waited_for_cpu": _disturbed(_waited),
    "waiting_unknown": _disturbed(lambda fields: f"the time spent waiting for a CPU is unknown ({_uncounted(fields)})"),
    "preempted": _disturbed(_preempted),
    # Ends of a cell
    "target": _stopped(lambda fields: f": within the target of ±{percent(fields['target'])}"),
    "maximum": _stopped(lambda _: ", the maximum"),
    "limit": _stopped(lambda fields: f", stopped by the limit of {seconds(fields['limit_s'])} per cell"),
    "hopeless": _stopped(
        lambda fields: f", stopped: the limit of {seconds(fields['limit_s'])} per cell does not reach the target"
    ),
    "failed": "failed",
    "cancelled": _after("cancelled"),
    "interrupted": _interrupted,
    MAX_TIME: _after("--max-time was reached"),
    FINISHED_ON_REQUEST: _after("finished on request"),
    "measuring": lambda fields: f"in progress, {count_of(fields['executions'], 'execution')}",
    # Failures
    "failed_in": _failed_in,
    DIED: lambda fields: f"{show(fields.get('process', ''))} died by {show(fields['signal'])}".lstrip(),
    KILLED_BY_KERNEL: "killed by the kernel: out of memory",
    "killed": "killed by the kernel",
    "worker_ended": "the worker ended with code {exit_code} and no result",
    OUT_OF_MEMORY: "out of memory: {text}",
    "phase_too_long": "the phase did not end within {limit_s:seconds}",
    "no_answer": "no answer within {s:seconds}",
    "ended_without_answer": "ended with code {exit_code} and no answer",
    "io_unavailable": lambda fields: f"the I/O class is unavailable (--io): {cause_words(fields)}",
    # Activities of a run
    "inspecting": "inspecting {model}",
    "making_inputs": "making inputs for {model}",
    "comparing_outputs": "comparing the outputs of {base} and {new}",
    "making_part": _making,
    # Ends and states of a run
    ERROR: "{text}",
    SIGNAL: lambda fields: _SIGNALS.get(fields["signal"], show(fields["signal"])),
    CANCELLED_ON_REQUEST: "cancelled on request",
    SAVED_AS_FAR: "saved as far as it was measured",
    RUNNER_DIED: "its runner died",
    "runner_killed": "the runner died by {signal}",
    "runner_exited": lambda fields: (
        f"the runner ended with code {fields['exit_code']}" + _in_brackets(fields["output"])
    ),
    "client_gone": "the client disconnected",
    "program_ending": "the program is ending",
    "nothing_measured": "nothing was measured",
    "beginning": "it is starting",
    "not_begun": "it had not started",
    "journal_unreadable": "its journal is damaged: no event in it can be read",
    "journal_inconsistent": "its journal is inconsistent",
    "lines_unreadable": lambda fields: f"{count_of(fields['lines'], 'line')} of its journal cannot be read",
    "several": lambda fields: "; ".join(fields["reasons"]),
    "finishing": lambda fields: f"finishing: {finishing_words(fields['is_profile'])}",
    "runner_stopped": "its runner is suspended; resume it with kill -CONT {pid}",
    "other_machine": "on another machine, host {host}",
    "machine_busy": "for the machine",
    "holder": holder_words,
    "holder_unknown": "another benchmark",
    "record_gone": "its record is no longer in the store",
    "not_saved": lambda fields: show(fields["why"] or "") or "the store could not be written",
    "rebooted_since": "the machine was rebooted",
    "ran_elsewhere": lambda fields: f"it ran on another machine; last heartbeat {seconds(fields['silent_s'])} ago",
    "finished_and_saved": "it is finished and saved",
    "cancelled_and_saved": "it was cancelled; the partial result is saved",
    "cancelled_unmeasured": "it was cancelled before anything was measured",
    "run_failed": "it failed: {why}",
    "in_state": lambda fields: f"it is {state_words(fields['state'])}",
    # Warnings of a run
    "cells_skipped": "--max-time was reached; cells not measured are skipped",
    "parts_skipped": "--max-time was reached; the profile is partial",
    "extended": lambda fields: extension_words(fields["limit_s"], fields["executions"]),
    "part_failed": "{part}: {why}",
    "shapes_inferred": "costs: the run without optimization failed: {why}; shapes are inferred instead",
    "mixed": "{difference}; continued because of --mixed",
    "anchor_failed": "the cheapest cell failed when it was measured again, so the machine may have changed",
    "anchor_differs": lambda fields: _changed_speed("the cheapest cell, measured again,", fields),
    "inference_differs": lambda fields: _changed_speed("one inference", fields),
    "io_levelled": "measured again with I/O class {io} to match the compared cell",
    "io_kept": "cannot be measured with the I/O class of the compared cell ({why}); keeps its own",
    "repeated": "{why} while timing; repeated once",
    "slow_calls": lambda fields: (
        f"{show(fields['cell'])}: one call takes {seconds(fields['call_s'])}, so it gets {fields['executions']}"
        " executions of a few calls each"
    ),
    # Differences between two environments
    "other_files": "the models are not the same: only layers with the same outputs and operators are compared",
    "changed": "{name}: {old} → {new}",
    "rebooted": "the machine was rebooted",
    "isa_lost": lambda fields: f"instruction sets lost: {' '.join(map(show, fields['names']))}",
    "isa_gained": lambda fields: f"instruction sets gained: {' '.join(map(show, fields['names']))}",
    **COMPARISON_WORDS,
    **PROFILE_WORDS,
    **STORE_WORDS,
    **PHRASES,
    **MESSAGES,
    # Outputs that were not checked, or differ
    "check_off": "--no-check",
    "no_reference": "no reference outputs",
    "no_outputs": "the engine computes no outputs",
    "not_asked_for": "not asked for",
    "point_without_inputs": "no inputs",
    "forecast": "a forecast",
    "no_onnx_twin": "there is no ONNX model of the same network to compare with",
    "already_optimized": "an .ort file is already optimized, so there is no unoptimized reference",
    "draws_random_numbers": "the model draws random numbers ({ops})",
    "reference_refused": lambda fields: f"ONNX Runtime: {cause_words(fields)}",
    "reference_did_not_end": "the reference run did not end",
    "reference_failed": lambda fields: f"ONNX Runtime without optimizations: {cause_words(fields)}",
    "unoptimized_did_not_end": "the run without optimizations did not end",
    "optimized_differs": "optimized and unoptimized outputs of ONNX Runtime differ: {why}",
    "output_missing": "output '{name}' is missing",
    "output_not_in_reference": "output '{name}' is not in the reference",
    "output_not_comparable": "output '{name}': {why}",
    "value_missing": "present on one side only",
    "map_missing": "a map on one side only",
    "sequence_missing": "a sequence on one side only",
    "other_keys": "maps with different keys",
    "other_count": "{items} items instead of {expected}",
    "other_shape": "shape [{shape}] instead of [{expected}]",
    "other_type": "type {type} instead of {expected}",
    "nothing_finite": "but every output is NaN or infinite",
    "nan_on_one_side": "NaN or infinity on one side only",
    # Results of other tools
    "drain_counted": "{tool} includes the drain, so the steady rate is unknown",
    "cpu_time_untold": "{tool} does not record the CPU time",
    "no_executions_kept": "{tool} saves no executions",
    "untold": "{tool} does not report it",
}

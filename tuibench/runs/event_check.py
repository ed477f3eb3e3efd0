"""Validates journal events with correct checksums: another version or an editor may have written invalid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.cell import Cell, Execution
from tuibench.core.errors import ExitCode
from tuibench.core.model import Point
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.strict import fits

NONSENSE = (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError, StopIteration)
"""Errors that invalid events cause in their readers."""
_MOST_DEEP = 64
_LARGEST = 2**63
"""Greater than any count, time or size."""
_MOST_PROCESSES = 10_000
_MOST_BINS = 256
_WIDEST_BIN = 2.0
_NUMBER = int | float | None
_PLACE = {"cell": str, "n": int, "round": int, "anchor": bool}
_START = {
    **dict.fromkeys(("run", "host_id", "boot_id", "started_utc", "again"), str),
    **dict.fromkeys(("spec", "host"), dict[str, Any]),
    "pid": int | None,
    "pid_start": int | None,
    "versions": dict[str, str],
}
_FIELDS: dict[str, dict[str, Any]] = {
    "run_start": _START,
    "sitting": _START,
    "waiting": {"place": int, "holder": dict[str, Any] | None, "words": str},
    "granted": {"waited_s": _NUMBER, "shared": bool},
    "plan": {"inputs_sha256": str | None},
    "execution_start": _PLACE,
    "execution_done": {**_PLACE, "wall_s": _NUMBER, "result": dict[str, Any]},
    "execution_failed": {**_PLACE, "wall_s": _NUMBER, "again": bool, "failure": dict[str, Any]},
    "cell_done": {"cell": str, "stopped_by": str},
    "warning": {"cell": str | None, "message": str, "keep_io": str | None},
    "extended": {"wish": str, "limit_s": _NUMBER, "executions": int, "cells": dict[str, dict[str, Any]]},
    "profile_part": {"part": str, "n": int | None, "id": str | None, "level": str, "begin": dict[str, Any] | None},
    "progress": {
        **dict.fromkeys(("cell", "activity", "stage", "phase", "grade"), str | None),
        **dict.fromkeys(("eta_s", "p50_ms", "half_width_pct"), _NUMBER),
        **dict.fromkeys(("n", "round", "done", "of", "live"), int | None),
    },
    "run_end": {
        **dict.fromkeys(("status", "reason", "why", "project", "note"), str | None),
        **dict.fromkeys(("cells", "cells_done", "executions", "exit_code"), int | None),
        "saved": bool | None,
        "error": dict[str, Any] | None,
    },
}
"""Types of the fields that readers rely on; readers handle missing fields themselves."""
_INNER: dict[str, dict[str, Any]] = {
    "holder": {"pid": int, "user": str, "run": str, "eta_s": _NUMBER, "stopped": bool},
    "begin": {"points": int | None, "ms_each": _NUMBER},
    "error": {"message": str, "hint": str | None, "exit_code": int},
}
"""The same for objects inside an event."""
_NOT_NEGATIVE = ("timed_s", "seconds_ran", "mean_ns", "std_ns", "floor_ns", "effective_n", "calls_per_s", "load_ms")


def is_sane(value: Any) -> bool:
    """Return whether a JSON value has limited depth and every number is in the range of a clock or counter."""
    level = [value]
    for _ in range(_MOST_DEEP):
        below: list[Any] = []
        for each in level:
            kind = type(each)
            if kind is float or kind is int:
                if not -_LARGEST <= each < _LARGEST:
                    return False
            elif kind is dict:
                below.extend(each.values())
            elif kind is list:
                below.extend(each)
        if not below:
            return True
        level = below
    return False


def has_envelope(event: Mapping[str, Any]) -> bool:
    """Return whether an event has its type, number and time."""
    numbers = (event.get("seq"), event.get("t_ns"), event.get("v", 1))
    return type(event.get("ev")) is str and all(type(each) is int and each >= 0 for each in numbers)


def check_fields(event: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError if a field of an event is invalid."""
    fields = _FIELDS.get(event["ev"], {})
    _check(event, fields)
    for name, inner in _INNER.items():
        if name in fields and event.get(name) is not None:
            _check(event[name], inner)
    codes = (event.get("exit_code"), (event.get("error") or {}).get("exit_code"))
    for code in codes if event["ev"] == "run_end" else ():
        ExitCode(code or 0)
    for bounds in event["cells"].values() if event["ev"] == "extended" else ():
        _check(bounds, {"limit_s": int | float, "executions": int})


def _check(found: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name, kind in fields.items():
        if name not in found:
            continue
        value = found[name]
        if not fits(kind, value):
            raise TypeError(f"{name} is of another type")
        # Executions of the anchor count downwards.
        if name != "n" and type(value) in (int, float) and value < 0:
            raise ValueError(f"{name} is below zero")


def check_spec(spec: BenchmarkSpec) -> BenchmarkSpec:
    """Return a specification that a run can have; raise ValueError for others."""
    asked, effort = spec.profile, spec.effort
    axes = (*spec.cores, *spec.batches, *spec.sequence_lengths, spec.inputs.distinct, effort.max_executions)
    times = (effort.timed_s, effort.warmup_s, effort.limit_s, effort.min_executions)
    if not spec.models or not spec.engines or min(axes) < 1 or min(times) < 0:
        raise ValueError("no specification of a run")
    if asked is not None and not (1 <= asked.processes <= _MOST_PROCESSES and spec.cores and asked.levels):
        raise ValueError("no specification of a profile")
    return spec


def check_plan(models: int, points: Sequence[Point], cells: Sequence[Cell]) -> None:
    """Raise ValueError if a cell has no model or point, or a point no model."""
    ids = {point.id for point in points}
    if any(cell.point not in ids for cell in cells):
        raise ValueError("a cell without its point")
    if any(not 0 <= model < models for model in (*(p.model for p in points), *(c.model for c in cells))):
        raise ValueError("a cell without its model")
    if any(point.items < 1 for point in points) or any(cell.asked.cores < 1 for cell in cells):
        raise ValueError("a cell of nothing")


def check_execution(execution: Execution) -> Execution:
    """Return an execution with plausible figures; raise ValueError for others."""
    if execution.iterations < 1 or execution.p50_ns <= 0:
        raise ValueError("an execution without iterations")
    if min(*(getattr(execution, name) for name in _NOT_NEGATIVE), *execution.percentiles_ns.values()) < 0:
        raise ValueError("a time below zero")
    bins = execution.histogram
    counts = (*bins["counts"], bins["under"], bins["over"])
    if not 0 < bins["ratio"] <= _WIDEST_BIN or not bins["low_ns"] > 0 or len(counts) > _MOST_BINS + 2:
        raise ValueError("a histogram that no execution has")
    if any(type(count) is not int or count < 0 for count in counts) or not sum(counts):
        raise ValueError("a histogram without counts")
    return execution

"""Checks of imported results: types as the dataclasses declare them, then ids, names, ranges and intervals."""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tuibench.core import cell, model, profile, scenario, spec
from tuibench.core import result as run
from tuibench.core.cell import CellResult, Estimate, Execution
from tuibench.core.engine import IO_CLASSES
from tuibench.core.errors import UsageError
from tuibench.core.reason import LEGACY_TEXT, Drift, Failure, Reason, Verdict, because
from tuibench.core.record import upgraded
from tuibench.core.result import RunResult
from tuibench.core.schema import AMOUNT, CORES, COUNT, LENGTH, MAX_S, SIZE, Range, holds
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.setting import ranges_of
from tuibench.core.value import ADDED_LATER, dataclass


class InvalidImport(UsageError):
    """The file cannot be imported; the field `place` names the value in it."""


ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
MAX_TEXT_CHARS = 100_000
"""Length limit of texts that lists show and the store's index keeps for every benchmark."""
_LISTED = ("foreign", "host", "started_utc")
_LATENCIES = ("p50", "p90", "p95", "p99", "p99_9", "mean", "std", "floor")
_NEEDED = ("models", "engines", "scenarios", "cores")
_MOST_BINS = 256
_WIDEST_BIN = 2.0
_ROUNDING = 1e-9
MOST_SHOWN = 61
"""Characters of a text of the file in an error; one more than a message shows."""


def _amounts(*names: str) -> dict[str, Range]:
    return dict.fromkeys(names, AMOUNT)


Ranges = Mapping[type, Mapping[str, Range]]

_MEASURED: Ranges = {
    run.RunResult: _amounts("seconds", "waited_s"),
    run.RunSession: _amounts("executions"),
    Verdict: _amounts("n", "ratio"),
    cell.CellResult: {"items": COUNT, "sittings": COUNT, **_amounts("load_ms", "first_ms", "memory_bytes")},
    # By default a cell has as many streams as cores.
    cell.Asked: {"cores": CORES, "batch": LENGTH, "dims": SIZE, "streams": CORES},
    cell.Used: {"streams": CORES, **_amounts("cpus", "threads", "batch", "distinct_inputs")},
    cell.Execution: {"iterations": COUNT, **_amounts(
        "timed_s", "seconds_ran", "p50_ns", "mean_ns", "std_ns", "floor_ns", "percentiles_ns", "effective_n",
        "calls_per_s", "cpu_s", "load_ms", "first_ms", "memory_bytes",
    )},
    cell.Pooled: _amounts("items_per_sec", "seconds_ran", "iterations", "median", "mean", "std", "percentiles"),
    cell.Estimate: _amounts("n"),
    cell.Warmup: _amounts("seconds", "iterations"),
    cell.Samples: _amounts("kept", "total"),
    cell.Noise: _amounts("blocks", "disturbed_blocks"),
    model.ModelSummary: _amounts("file_bytes", "external_bytes", "nodes"),
    model.Point: _amounts("model", "batch", "items", "dims", "chosen", "distinct"),
    model.FedInput: _amounts("shape"),
    profile.CostProfile: _amounts("batch", "items", "dims"),
    profile.PerformanceProfile: {"cores": CORES, **_amounts(
        "cpus", "threads", "batch", "items", "dims", "processes", "runs", "load_ms", "peak_bytes",
    )},
    profile.Roofline: {"cores": CORES},
    profile.LossProfile: _amounts("samples"),
    profile.LossPoint: _amounts("samples"),
}  # fmt: skip


def allowed_ranges() -> Ranges:
    """Return the range of each number in a result by class and field; those of its specification from the settings."""
    asked = ranges_of((*benchmark_setting.settings(), *profile_setting.settings()))
    effort = asked[spec.Effort]
    effort["min_executions"] = effort["max_executions"] = effort["executions"]
    effort["timed_s"] = effort["limit_s"] = (0, MAX_S)
    return {**_MEASURED, **asked}


_STATES = ("ok", "failed", "partial", "skipped")
_CHOICES: Mapping[type, Mapping[str, Collection[str]]] = {
    run.RunResult: {"status": ("finished", "cancelled", "interrupted")},
    cell.CellResult: {"status": _STATES},
    cell.Asked: {"scenario": (*scenario.names(), *scenario.names(planned=True))},
    cell.Check: {"state": ("agrees", "differs", "unchecked")},
    cell.Grade: {"letter": ("A", "B", "C", "D")},
    cell.Used: {"io": IO_CLASSES},
    Verdict: {"kind": ("faster", "slower", "equivalent", "undecided")},
    Failure: {
        "kind": (
            *("refused", "setting", "signal", "timeout", "memory", "exit", "exception", "inputs", "engine", "model"),
        ),
        "phase": ("inspect", "inputs", "start", "load", "first", "check", "warmup", "timed"),
    },
    model.Port: {"kind": ("tensor", "sequence", "map", "optional")},
    profile.CountBound: {"code": (profile.NODES, profile.EXECUTED, profile.SECONDS)},
    profile.LayerTime: {"kind": (profile.LAYER, profile.RUNTIME, profile.FOLDED, profile.RESIDUAL)},
    profile.LossProfile: {"kind": (spec.APPROXIMATED, "measured")},
    profile.Profile: {"kind": spec.KINDS},
    spec.ProfileSpec: {"kind": spec.KINDS},
}
"""The allowed names of each field that has some."""
_KEY = re.compile(r"[0-9a-f]{12}\Z")
_PERCENTILE = re.compile(r"[0-9]+(\.[0-9]+)?\Z")


@dataclass
class ExportedComparison:
    """The form of a comparison in exports: its facts and its sentence in one object."""

    base: str
    new: str
    metric: str
    ratio: float
    low: float | None
    high: float | None
    n: int
    interleaved: bool
    verdict: str | None
    why_no_verdict: str | None
    sentence: str
    base_name: str = dataclasses.field(default="", metadata=ADDED_LATER)
    new_name: str = dataclasses.field(default="", metadata=ADDED_LATER)
    margin: float = dataclasses.field(default=0.0, metadata=ADDED_LATER)
    more_pairs: int | None = dataclasses.field(default=None, metadata=ADDED_LATER)
    more_s: float | None = dataclasses.field(default=None, metadata=ADDED_LATER)
    drift: Drift | None = dataclasses.field(default=None, metadata=ADDED_LATER)


_EMPTY: Mapping[str, Any] = {"code": LEGACY_TEXT, "fields": {"text": ""}}
"""An empty sentence where a reason is required."""


def find_impossible(result: RunResult) -> Reason | None:
    """Return the first impossible value in a well-formed result; None if there is none."""
    return next(_problems(result), None)


def _problems(result: RunResult) -> Iterator[Reason]:
    if not ULID.match(result.id):
        yield because("id_no_ulid", place="tuibench.id", given=result.id[:MOST_SHOWN])
    known = allowed_ranges()
    yield from _range_problems(result, known, "tuibench")
    for name, value in result.spec.options.items():
        allowed = known[spec.BenchmarkSpec].get(name)
        if allowed is not None:
            yield from outside(value, allowed, f"tuibench.spec.options.{name}")
    yield from _text_problems(result)
    seen: set[str] = set()
    for i, found in enumerate(result.cells):
        place = f"tuibench.cells[{i}]"
        if not _KEY.match(found.key):
            yield because("key_of_other_form", place=f"{place}.key", given=found.key[:MOST_SHOWN])
        if found.key in seen:
            yield because("cell_key_repeated", place=f"{place}.key")
        seen.add(found.key)
        yield from _cell_problems(found, known, place)
    for i, pair in enumerate(result.comparisons):
        for name, key in (("base", pair.base), ("new", pair.new)):
            if not _KEY.match(key):
                place = f"tuibench.comparisons[{i}].{name}"
                yield because("key_of_other_form", place=place, given=key[:MOST_SHOWN])


def _range_problems(value: Any, ranges: Ranges, place: str) -> Iterator[Reason]:
    """Yield each number outside its range, with its place and the range."""
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            if not isinstance(part, (int, float, str)):
                yield from _range_problems(part, ranges, f"{place}[{i}]")
    elif dataclasses.is_dataclass(value):
        if isinstance(value, Estimate):
            yield from _order_problems(value, place)
        known = ranges.get(type(value), {})
        choices = _CHOICES.get(type(value), {})
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if part is not None and part not in choices.get(field.name, (part,)):
                names = list(choices[field.name])
                yield because("none_of_names", place=f"{place}.{field.name}", names=names, **_given(part))
            if field.name in known:
                yield from outside(part, known[field.name], f"{place}.{field.name}")
            elif part is not None and not isinstance(part, (int, float, str)):
                yield from _range_problems(part, ranges, f"{place}.{field.name}")


def _order_problems(estimate: Estimate, place: str) -> Iterator[Reason]:
    low, high = estimate.low, estimate.high
    if low is not None and high is not None and low - high > _ROUNDING * abs(high):
        yield because("interval_reversed", place=place)


def outside(value: Any, allowed: Range, place: str) -> Iterator[Reason]:
    """Yield each number in `value`, at any depth, that is outside the range."""
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from outside(part, allowed, f"{place}[{i}]")
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from outside(part, allowed, f"{place}.{name[:MOST_SHOWN]}")
    elif isinstance(value, (int, float)) and not holds(allowed, value):
        low, high = (end if math.isfinite(end) else None for end in allowed)
        yield because("number_out_of_range", place=place, given=value, low=low, high=high)


def _text_problems(result: RunResult) -> Iterator[Reason]:
    asked = result.spec
    for name in _NEEDED:
        if not getattr(asked, name):
            yield because("list_empty", place=f"tuibench.spec.{name}")
    for name, sizes in asked.dims:
        if not sizes:
            yield because("dim_without_size", place="tuibench.spec.dims", name=name[:MOST_SHOWN])
    listed = {name: getattr(result, name) for name in _LISTED}
    listed |= {f"spec.models[{i}].asked": source.asked for i, source in enumerate(asked.models)}
    listed |= {f"spec.engines[{i}]": engine for i, engine in enumerate(asked.engines)}
    listed |= {f"spec.scenarios[{i}]": scenario for i, scenario in enumerate(asked.scenarios)}
    listed |= {f"cells[{i}].asked.engine": one.asked.engine for i, one in enumerate(result.cells)}
    for name, text in listed.items():
        if len(text) > MAX_TEXT_CHARS:
            yield because("text_too_long", place=f"tuibench.{name}", chars=len(text), most=MAX_TEXT_CHARS)


def _cell_problems(cell: CellResult, ranges: Ranges, place: str) -> Iterator[Reason]:
    for name in _LATENCIES:
        if name not in cell.latency_ms:
            yield because("field_missing", place=f"{place}.latency_ms.{name}")
    estimates = {f"latency_ms.{name[:MOST_SHOWN]}": estimate for name, estimate in cell.latency_ms.items()}
    estimates |= {"items_per_sec": cell.items_per_sec, "items_per_cpu_sec": cell.items_per_cpu_sec}
    for name, estimate in estimates.items():
        yield from _range_problems(estimate, ranges, f"{place}.{name}")
        yield from _estimate_problems(estimate, f"{place}.{name}")
    for n, execution in enumerate(cell.executions):
        yield from _execution_problems(execution, f"{place}.executions[{n}]")


def _estimate_problems(estimate: Estimate, place: str) -> Iterator[Reason]:
    bounds = {"low": estimate.low, "value": estimate.value, "high": estimate.high}
    for name, bound in bounds.items():
        yield from outside(bound, AMOUNT, f"{place}.{name}")
    known = [bound for bound in bounds.values() if bound is not None and math.isfinite(bound)]
    if any(low > high * (1 + _ROUNDING) for low, high in pairwise(known)):
        yield because("value_outside_interval", place=place)


def _execution_problems(execution: Execution, place: str) -> Iterator[Reason]:
    histogram = execution.histogram
    counts, ratio = histogram.get("counts"), histogram.get("ratio")
    whole = [*counts, histogram.get("under"), histogram.get("over")] if isinstance(counts, list) else [None]
    is_one = {type(ratio), type(histogram.get("low_ns"))} <= {int, float} and all(type(part) is int for part in whole)
    # Percentiles are computed from the histogram by powers of the ratio.
    if not is_one or len(whole) - 2 > _MOST_BINS or not 0 < (ratio or 0) <= _WIDEST_BIN:
        yield because("impossible_bins", place=f"{place}.histogram")
    if not all(map(_PERCENTILE.match, execution.percentiles_ns)):
        yield because("percentile_without_number", place=f"{place}.percentiles_ns")


NOT_FINITE = {f"not finite: {word}": float(word) for word in ("nan", "inf", "-inf")}
"""Numbers that JSON cannot represent, by the reason that an export gives for their null."""
_TYPES: Mapping[Any, str] = {
    str: "text", int: "whole_number", float: "number", bool: "bool", dict: "object", list: "list",
}  # fmt: skip


def restore(kind: Any, value: Any, place: str, reasons: Mapping[str, str]) -> Any:
    """Return a value of a file for `from_plain`; raise InvalidImport with its place if it is not of the declared type.

    Numbers that JSON cannot represent come back by `reasons`. Unknown keys are dropped: newer writers may add some.
    """
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        options = [part for part in parts if part is not types.NoneType]
        if value is None and len(options) < len(parts) and reasons.get(place) not in NOT_FINITE:
            return None
        if len(options) == 1:
            return restore(options[0], value, place, reasons)
        return _require(options, value, place)
    if kind is float and value is None:
        if reasons.get(place) not in NOT_FINITE:
            raise InvalidImport("null_without_reason", place=place)
        return NOT_FINITE[reasons[place]]
    if origin is tuple:
        return _restore_list(parts, _require([list], value, place), place, reasons)
    if origin is dict:
        found = _require([dict], value, place)
        return {name: restore(parts[1], part, f"{place}.{name}", reasons) for name, part in found.items()}
    if kind is Reason:
        # The coded form is the store's own; a file could put anything into it.
        return _require([str], value, place) or _EMPTY
    if kind is run.Comparison:
        return upgraded(kind, _restore_fields(ExportedComparison, value, place, reasons))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _restore_fields(kind, value, place, reasons)
    return _require([int, float] if kind is float else [kind], value, place)


def _require(kinds: Sequence[Any], value: Any, place: str) -> Any:
    """Return the value if it is of one of these types, with true different from 1."""
    if type(value) not in kinds:
        raise InvalidImport("value_of_other_type", place=place, expected=_TYPES[kinds[-1]], **_given(value))
    return value


def _restore_list(kinds: tuple[Any, ...], value: list[Any], place: str, reasons: Mapping[str, str]) -> list[Any]:
    if kinds[-1] is not Ellipsis and len(value) != len(kinds):
        raise InvalidImport("list_of_other_length", place=place, count=len(value), expected=len(kinds))
    # A series has thousands of numbers: one call for all of them.
    if all(kind in (float, Ellipsis) for kind in kinds) and {int, float}.issuperset(map(type, value)):
        return value
    wanted = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else kinds
    pairs = enumerate(zip(wanted, value, strict=True))
    return [restore(kind, part, f"{place}[{i}]", reasons) for i, (kind, part) in pairs]


def _restore_fields(kind: Any, value: Any, place: str, reasons: Mapping[str, str]) -> dict[str, Any]:
    found, hints, fields = _require([dict], value, place), _hints(kind), dataclasses.fields(kind)
    # For any other field a default would be a wrong number.
    later = {one.name for one in fields if one.metadata.get("later")}
    texts = {one.name for one in fields if one.metadata.get("text")}
    for name in hints:
        if name not in found and name not in later:
            raise InvalidImport("field_missing", place=f"{place}.{name}")
    return {
        name: _require([str], part, f"{place}.{name}")
        if name in texts
        else restore(hints[name], part, f"{place}.{name}", reasons)
        for name, part in found.items()
        if name in hints
    }


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    # A point's failure is exported as kind, phase and message; `Point.upgrade` reads it.
    return hints | {"failure": tuple[str, str, str] | None} if kind is model.Point else hints


def _given(value: Any) -> dict[str, Any]:
    """Return the fields for a value of the file: its type if it has parts, else the value."""
    if isinstance(value, (dict, list)):
        return {"given": None, "type": _TYPES[type(value)]}
    return {"given": value[:MOST_SHOWN] if isinstance(value, str) else value, "type": None}

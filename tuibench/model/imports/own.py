"""Converts an export of tuibench back to the result that it was written from."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tuibench.core.cell import CellResult, Samples
from tuibench.core.model import Point
from tuibench.core.record import from_plain, upgraded
from tuibench.core.result import RunResult
from tuibench.core.schema import BENCHMARK, NEWEST
from tuibench.core.text import show
from tuibench.model.imports.checks import Refusal, Schema, find_impossible, find_problem

KEY = "tuibench"
"""Key of all of tuibench's own data in an export."""

_HINT = "export it again; a file that was edited by hand may no longer be one"
_NOT_FINITE = {f"not finite: {word}": float(word) for word in ("nan", "inf", "-inf")}
_LATER_IN_COMPARISONS: Mapping[str, Any] = {
    "base_name": "",
    "new_name": "",
    "margin": 0.02,
    "more_pairs": None,
    "more_s": None,
}
"""Fields that comparisons of older exports lack."""


def read_own(document: dict[str, Any], schema: Schema) -> RunResult:
    """Return the result in an export; raise Refusal with the place of the first problem."""
    own = document[KEY]
    if not isinstance(own, dict):
        raise Refusal(f"'{KEY}' in it is no object", _HINT)
    _check_version(own, document.get("version"))
    _fill(own)
    problem = find_problem(document, schema)
    if problem:
        raise Refusal(problem, _HINT)
    result = from_plain(RunResult, _restored(RunResult, own, KEY, own["reasons"]))
    problem = find_impossible(result)
    if problem:
        raise Refusal(problem, _HINT)
    return _without_files(result)


def _check_version(own: dict[str, Any], version: object) -> None:
    number = own.get("schema")
    if not isinstance(number, int) or isinstance(number, bool):
        raise Refusal(f"{KEY}.schema is missing", _HINT)
    if not BENCHMARK <= number <= NEWEST:
        who = f"tuibench {show(version, 40)}" if isinstance(version, str) and version else "another version of tuibench"
        what = f"has schema {number}, written by {who}; this version reads schemas up to {NEWEST}"
        raise Refusal(what, "import it with that version, or with a newer one" if number > NEWEST else _HINT)


def _fill(own: dict[str, Any]) -> None:
    found = own.get("comparisons")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            for name, value in _LATER_IN_COMPARISONS.items():
                one.setdefault(name, value)


def _restored(kind: Any, value: Any, place: str, reasons: Mapping[str, str]) -> Any:
    """Restore the numbers that JSON cannot represent; refuse null if a number is required."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = next(a for a in arguments if a is not type(None))
        told = value is not None or reasons.get(place) in _NOT_FINITE
        return _restored(inner, value, place, reasons) if told else None
    if kind is float and value is None:
        if reasons.get(place) not in _NOT_FINITE:
            raise Refusal(f"{show(place)} is null, and no reason is given for it", _HINT)
        return _NOT_FINITE[reasons[place]]
    if origin is tuple and isinstance(value, list):
        if arguments[0] is float and None not in value:
            return value
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        return [_restored(k, v, f"{place}[{i}]", reasons) for i, (k, v) in enumerate(zip(kinds, value, strict=True))]
    if origin is dict and arguments[1] is not Any:
        return {name: _restored(arguments[1], part, f"{place}.{name}", reasons) for name, part in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints, value = _hints(kind), upgraded(kind, value)
        if value is None:
            return None
        return {n: _restored(hints[n], part, f"{place}.{n}", reasons) for n, part in value.items() if n in hints}
    return value


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _without_files(result: RunResult) -> RunResult:
    """Return the result without file names, so that no file is ever opened because a foreign file names it."""
    return dataclasses.replace(
        result, cells=tuple(_cell_without_files(cell) for cell in result.cells),
        points=tuple(_point_without_files(point) for point in result.points),
    )  # fmt: skip


def _cell_without_files(cell: CellResult) -> CellResult:
    executions = tuple(dataclasses.replace(e, samples=_without_file(e.samples)) for e in cell.executions)
    samples = _without_file(cell.samples) if cell.samples is not None else None
    return dataclasses.replace(cell, executions=executions, samples=samples)


def _without_file(samples: Samples) -> Samples:
    return dataclasses.replace(samples, file=None)


def _point_without_files(point: Point) -> Point:
    return dataclasses.replace(point, bundle=None, reference=dataclasses.replace(point.reference, file=None))

"""Matching cells of two results: cells with equal requests, then cells that differ in one setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.cell import Asked, CellResult, Execution, measured
from tuibench.core.label import Names, describe, model_name
from tuibench.core.reason import Reason, because
from tuibench.core.result import Comparison, RunResult
from tuibench.core.scenario import LATENCY, find
from tuibench.core.text import show
from tuibench.stats.comparison import DELTA, Operand, compare


def metric_of(cell: CellResult) -> str:
    """Return the metric of a cell: latency for one request at a time, throughput for streams."""
    return find(cell.asked.scenario).metric


def operand_of(cell: CellResult, executions: Sequence[tuple[int, Execution]], name: str) -> Operand:
    """Return the operand for `compare`, from executions with their rounds."""
    logs = [(number, _log_time(cell, execution)) for number, execution in executions]
    return Operand(cell.key, name, [(number, value) for number, value in logs if value is not None])


def without_axis(asked: Asked, axis: str) -> str:
    """Return the identity of a request without one axis: equal for cells that differ only in that axis."""
    if axis == "engine":
        return replace(asked, engine="").key
    return replace(asked, model_sha256="", version="").key


def bars_between(base: CellResult, new: CellResult, axis: str) -> tuple[Reason, ...]:
    """Return reasons against a verdict because of unequal work; `axis` is the requested difference."""
    bars: list[Reason] = []
    if axis == "model":
        bars.append(Reason("models_differ"))
    for cell in (base, new):
        check, engine = cell.check, cell.asked.engine
        if check is None or check.state == "unchecked":
            bars.append(because("outputs_unchecked", engine=engine))
        elif check.state == "differs":
            bars.append(because("outputs_differ", engine=engine))
    if base.used is not None and new.used is not None:
        for field, noun in (
            ("precision", "precision"),
            ("io", "I/O class"),
            ("batch", "batch"),
            ("streams", "streams"),
        ):
            old, other = getattr(base.used, field), getattr(new.used, field)
            if None not in (old, other) and old != other:
                bars.append(because("settings_differ", name=noun, base=old, new=other))
    return tuple(dict.fromkeys(bars))


def _log_time(cell: CellResult, execution: Execution) -> float | None:
    """Return ln of the time by the cell's metric; None if the execution has none."""
    if metric_of(cell) == LATENCY:
        return math.log(execution.p50_ns) if execution.p50_ns > 0 else None
    per_second = execution.calls_per_s * cell.items
    return -math.log(per_second) if per_second > 0 else None


Rounds = Mapping[str, Sequence[tuple[int, Execution]]]
"""Key of a cell -> its executions, each with its round."""


def compare_cells(
    cells: Sequence[CellResult],
    rounds: Rounds,
    names: Names,
    *,
    interleaved: bool = True,
    delta: float = DELTA,
    pair_s: float | None = None,
) -> tuple[Comparison, ...]:
    """Compare each cell with the first engine and with the first model at equal settings, in the order of `cells`."""
    able = measured(cells)
    found = []
    for base, new, axis in _pairs(able):
        left = operand_of(base, rounds.get(base.key, ()), _base_name(base, axis, able, names))
        right = operand_of(new, rounds.get(new.key, ()), _name(new, axis, names))
        if interleaved and not {r for r, _ in left.logs} & {r for r, _ in right.logs}:
            continue
        bars = bars_between(base, new, axis)
        metric = metric_of(base)
        found.append(
            compare(left, right, interleaved=interleaved, bars=bars, metric=metric, delta=delta, pair_s=pair_s)
        )
    return tuple(found)


def _pairs(cells: Sequence[CellResult]) -> Iterator[tuple[CellResult, CellResult, str]]:
    for axis in ("engine", "model"):
        first: dict[str, CellResult] = {}
        for cell in cells:
            base = first.setdefault(without_axis(cell.asked, axis), cell)
            if base is not cell:
                yield base, cell, axis


def _name(cell: CellResult, axis: str, names: Names) -> str:
    return show(cell.asked.engine) if axis == "engine" else model_name(cell, names)


def _base_name(cell: CellResult, axis: str, cells: Sequence[CellResult], names: Names) -> str:
    """Return the name of the base, with the shared settings if the run has several pairs with that name."""
    field = "engine" if axis == "engine" else "model_sha256"
    same = [c for c in cells if getattr(c.asked, field) == getattr(cell.asked, field)]
    name = _name(cell, axis, names)
    return name if len(same) < 2 else f"{name} ({describe(cell, same, names)})"


_BLANK: dict[str, dict[str, Any]] = {
    "precision": {"precision": ""},
    "pin": {"pin": ""},
    "options": {"options": {}},
    "streams": {"streams": 0},
    "cores": {"cores": 0},
}
"""Settings that may differ within a pair, and their placeholder in the pair's identity.

Batch and dims are excluded, because they change the work of a call.
"""
_NOUNS = {"pin": "pinning"}
_LONGEST = 60

Key = Callable[[CellResult, Names], Hashable]


@dataclass(frozen=True, slots=True)
class Match:
    """Two matching cells, and the one requested setting in which they differ; '' for none."""

    old: CellResult
    new: CellResult
    axis: str
    differs: tuple[Reason, ...] = ()


def match_cells(old: RunResult, new: RunResult, names: tuple[Names, Names]) -> tuple[Match, ...]:
    """Return pairs in the order of the new result's cells; `names` are the model names of both results."""
    rest = _Rest(old.cells, new.cells, names)
    if old.foreign or new.foreign:
        return tuple(
            Match(a, b, "engine", _foreign_differences(a, b, names)) for a, b in rest.take(_as_told, alone=True)
        )
    found = [Match(a, b, "") for a, b in rest.take(lambda cell, _: cell.asked.key)]
    for axis, key, alone in _STEPS:
        found += [Match(a, b, axis, (_difference(a, b, axis, names),)) for a, b in rest.take(key, alone)]
    order = {id(cell): place for place, cell in enumerate(new.cells)}
    return tuple(sorted(found, key=lambda match: order[id(match.new)]))


class _Rest:
    """The cells without a matching cell so far."""

    def __init__(self, old: Sequence[CellResult], new: Sequence[CellResult], names: tuple[Names, Names]) -> None:
        self._old, self._new = list(old), list(new)
        self._names = names

    def take(self, key: Key, alone: bool = False) -> list[tuple[CellResult, CellResult]]:
        """Pair cells that share a key, by order; with `alone` only if each operand has just one."""
        old, new = _group(self._old, key, self._names[0]), _group(self._new, key, self._names[1])
        found = [
            pair
            for shared in new
            if shared in old and not (alone and len(old[shared]) + len(new[shared]) > 2)
            for pair in zip(old[shared], new[shared], strict=False)
        ]
        gone = {id(cell) for pair in found for cell in pair}
        self._old, self._new = ([cell for cell in cells if id(cell) not in gone] for cells in (self._old, self._new))
        return found


def _group(cells: Sequence[CellResult], key: Key, names: Names) -> dict[Hashable, list[CellResult]]:
    groups: dict[Hashable, list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(key(cell, names), []).append(cell)
    return groups


def _without(axis: str) -> Key:
    return lambda cell, _: replace(cell.asked, **_BLANK[axis]).key


def _as_told(cell: CellResult, names: Names) -> Hashable:  # noqa: ARG001 - every key has this form
    """Return the settings that other tools record."""
    asked = cell.asked
    return asked.scenario, asked.cores, asked.batch, asked.streams if find(asked.scenario).has_streams else 1


_STEPS: tuple[tuple[str, Key, bool], ...] = (
    # A changed file keeps its name: among several models it is compared with its own earlier version.
    ("model", lambda c, names: (without_axis(c.asked, "model"), names.get(c.asked.model_sha256)), False),
    ("model", lambda c, _: without_axis(c.asked, "model"), False),
    ("engine", lambda c, _: without_axis(c.asked, "engine"), False),
    *((axis, _without(axis), True) for axis in _BLANK),
)
"""The setting that may differ, the identity of a pair without it, and True if the pair must be the only one."""


def _difference(old: CellResult, new: CellResult, axis: str, names: tuple[Names, Names]) -> Reason:
    left, right = _value(old.asked, axis, names[0]), _value(new.asked, axis, names[1])
    if axis == "model" and left == right:
        left, right = (f"{left} {cell.asked.model_sha256[:8]}" for cell in (old, new))
    noun = _NOUNS.get(axis, axis)
    if axis == "streams" and any(
        cell.used is not None and cell.used.streams != cell.asked.streams for cell in (old, new)
    ):
        noun = "streams asked for"
    return because("settings_differ", name=noun, base=left, new=right)


def _foreign_differences(old: CellResult, new: CellResult, names: tuple[Names, Names]) -> tuple[Reason, ...]:
    """Return the known differences, and a note that the others are unknown."""
    axes = [a for a in ("engine", "model") if _value(old.asked, a, names[0]) != _value(new.asked, a, names[1])]
    return (*(_difference(old, new, axis, names) for axis in axes), Reason("settings_unknown"))


def _value(asked: Asked, axis: str, names: Names) -> str:
    if axis == "model":
        version = "" if asked.version == "original" else f" {show(asked.version, _LONGEST)}"
        return show(names.get(asked.model_sha256, asked.model_sha256[:12]), _LONGEST) + version
    if axis == "options":
        return show(" ".join(f"{name}={value}" for name, value in asked.options.items()), _LONGEST) or "none"
    return show(getattr(asked, axis), _LONGEST)

"""Matching cells of two results: cells with equal requests, then cells that differ in one setting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.cell import Asked, CellResult
from tuibench.core.run import RunResult
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.runs.side import without_axis

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

Names = Mapping[str, str]
"""The sha256 of a model -> its name in one result; results of other tools have no sha256."""

Key = Callable[[CellResult, Names], Hashable]


@dataclass(frozen=True, slots=True)
class Match:
    """Two matching cells, and the one requested setting in which they differ; '' for none."""

    old: CellResult
    new: CellResult
    axis: str
    differs: tuple[str, ...] = ()


def match_cells(old: RunResult, new: RunResult, names: tuple[Names, Names]) -> tuple[Match, ...]:
    """Return pairs in the order of the new result's cells; `names` are the model names of both results."""
    rest = _Rest(old.cells, new.cells, names)
    if old.foreign or new.foreign:
        return tuple(Match(a, b, "engine", _foreign_words(a, b, names)) for a, b in rest.take(_as_told, alone=True))
    found = [Match(a, b, "") for a, b in rest.take(lambda cell, _: cell.asked.key)]
    for axis, key, alone in _STEPS:
        found += [Match(a, b, axis, (_words(a, b, axis, names),)) for a, b in rest.take(key, alone)]
    order = {id(cell): place for place, cell in enumerate(new.cells)}
    return tuple(sorted(found, key=lambda match: order[id(match.new)]))


class _Rest:
    """The cells without a partner so far."""

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


def _words(old: CellResult, new: CellResult, axis: str, names: tuple[Names, Names]) -> str:
    left, right = _value(old.asked, axis, names[0]), _value(new.asked, axis, names[1])
    if axis == "model" and left == right:
        left, right = (f"{left} {cell.asked.model_sha256[:8]}" for cell in (old, new))
    noun = _NOUNS.get(axis, axis)
    if axis == "streams" and any(
        cell.used is not None and cell.used.streams != cell.asked.streams for cell in (old, new)
    ):
        noun = "streams asked for"
    return f"{noun}: {left} against {right}"


def _foreign_words(old: CellResult, new: CellResult, names: tuple[Names, Names]) -> tuple[str, ...]:
    """Return the known differences, and a note that the others are unknown."""
    axes = [a for a in ("engine", "model") if _value(old.asked, a, names[0]) != _value(new.asked, a, names[1])]
    unknown = "content of the model, precision, pinning and inputs of a side are not known"
    return (*(_words(old, new, axis, names) for axis in axes), unknown)


def _value(asked: Asked, axis: str, names: Names) -> str:
    if axis == "model":
        version = "" if asked.version == "original" else f" {show(asked.version, _LONGEST)}"
        return show(names.get(asked.model_sha256, asked.model_sha256[:12]), _LONGEST) + version
    if axis == "options":
        return show(" ".join(f"{name}={value}" for name, value in asked.options.items()), _LONGEST) or "none"
    return show(getattr(asked, axis), _LONGEST)

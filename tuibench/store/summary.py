"""The row of a benchmark in lists, derived from its result once, when the result is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tuibench.core.card import DAMAGED, BenchmarkRow, Metadata
from tuibench.core.headline import to_facts
from tuibench.core.trash import NEWER

if TYPE_CHECKING:  # listing needs no results, and importing their types takes 12 ms
    from tuibench.core.run import RunResult

_NAMES = tuple(field.name for field in fields(BenchmarkRow))
_NUMBERS = frozenset({"cells", "measured", "card_generation"})
_FACTS = "facts"
_TYPES = tuple(int if name in _NUMBERS else dict if name == _FACTS else str for name in _NAMES)
_ALL = itemgetter(*_NAMES)
_KINDS = dict(zip(_NAMES, _TYPES, strict=True))
_LATER: dict[str, Any] = {"kind": "", _FACTS: {}, "headline": ""}
"""Optional fields of a row, with their defaults."""


def summarize(result: RunResult) -> dict[str, Any]:
    """Return the part of a row that comes from the result; the rest comes from the metadata."""
    from tuibench.core.result_headline import headline_of  # as above

    headline = headline_of(result)
    asked = [cell.asked for cell in result.cells]
    letters = [cell.grade.letter for cell in result.cells if cell.grade is not None and cell.grade.letter]
    measured = result.profile.performance if result.profile is not None else None
    if measured is not None and measured.grade is not None and measured.grade.letter:
        letters.append(measured.grade.letter)
    batches = [cell.asked.batch if cell.asked.batch is not None else _used_batch(cell.used) for cell in result.cells]
    if result.profile is not None:
        batches.append(result.profile.costs.batch)
    return {
        "id": result.id,
        "host": result.host,
        "started_utc": result.started_utc,
        "status": result.status,
        "models": _join(os.path.basename(os.path.normpath(source.asked)) for source in result.spec.models),
        "model_sha256": result.models[0].sha256 if result.models else "",
        "engines": _join(one.engine for one in asked) or _join(result.spec.engines),
        "scenarios": _join(one.scenario for one in asked) or _join(result.spec.scenarios),
        "cores": _join(sorted({one.cores for one in asked})) or _join(result.spec.cores),
        "batches": _join(sorted({batch for batch in batches if batch is not None})) or _join(result.spec.batches),
        "cells": len(result.cells),
        "measured": sum(cell.status in ("ok", "partial") for cell in result.cells),
        "grade": headline.grade or max(letters, default=""),
        "foreign": result.foreign,
        "kind": result.spec.profile.kind if result.spec.profile is not None else "",
        # Never empty: empty facts mean that they are not derived yet.
        _FACTS: to_facts(headline) or {"status": result.status},
    }


def join_metadata(summary: Mapping[str, Any], metadata: Metadata, generation: int) -> BenchmarkRow:
    """Return the whole row; raise TypeError for an invalid summary. Fields of newer versions are dropped."""
    own = {
        "name": metadata.name,
        "note": metadata.note,
        "project": metadata.project or "",
        "rerun_of": metadata.rerun_of or "",
        "card_generation": generation,
    }
    return to_row({**summary, **own})


def damaged_row(ulid: str) -> BenchmarkRow:
    """Return the row for a record that cannot be read."""
    return to_row({**{name: kind() for name, kind in zip(_NAMES, _TYPES, strict=True)}, "id": ulid, "status": DAMAGED})


def foreign_row(ulid: str, told: Iterable[Mapping[str, Any]]) -> BenchmarkRow:
    """Return the row for a record of a newer version, with the fields that this version knows."""
    known = {name: value for one in told for name, value in one.items() if type(value) is _KINDS.get(name)}
    return to_row({**to_document(damaged_row(ulid)), **known, "id": ulid, "status": NEWER, _FACTS: {}})


def to_document(row: BenchmarkRow) -> dict[str, Any]:
    """Return a row as stored in the index."""
    return {name: getattr(row, name) for name in _NAMES}


def to_row(document: Mapping[str, Any]) -> BenchmarkRow:
    """Return a row of the index; raise TypeError if it is invalid. Unknown fields are dropped."""
    try:
        values = _ALL(document)
    except KeyError:
        values = _older(document)
    if tuple(map(type, values)) != _TYPES:
        wrong = next(name for name, value, kind in zip(_NAMES, values, _TYPES, strict=True) if type(value) is not kind)
        raise TypeError(f"{wrong} of a row is no {'number' if wrong in _NUMBERS else 'text'}")
    return BenchmarkRow(*values)


def _older(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of a row that was written before some of its fields existed."""
    try:
        return tuple(_ALL({**_LATER, **document}))
    except KeyError as error:
        raise TypeError(f"a row without {error}") from error


def _used_batch(used: Any) -> int | None:
    return used.batch if used is not None else None


def _join(values: Iterable[object]) -> str:
    return ",".join(dict.fromkeys(str(value) for value in values))

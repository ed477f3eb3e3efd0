"""Comparison of two stored results: as within a run, but never with a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.cell import CellResult, Estimate, latency, throughput
from tuibench.core.failure import failure_words
from tuibench.core.ids import short_id
from tuibench.core.label import CellName, model_names, varying_axes
from tuibench.core.result import CellPair, Comparison, Figure, RunResult, SideBySide
from tuibench.core.scenario import LATENCY
from tuibench.core.text import show
from tuibench.runs.comparison import Match, Names, bars_between, match_cells, metric_of, side_of
from tuibench.runs.environment import environment_changes
from tuibench.stats.comparison import Side, compare
from tuibench.stats.interval import LEAST

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class _Book:
    """The results with the names used in words about a pair."""

    old: RunResult
    new: RunResult
    names: tuple[Names, Names]
    """Names of the models of each result."""
    axes: tuple[str, ...]
    """Axes in which any two cells differ."""

    @property
    def ids(self) -> tuple[str, str]:
        return short_id(self.old.id), short_id(self.new.id)


def compare_results(old: RunResult, new: RunResult) -> SideBySide:
    """Compare every cell of `new` with the matching cell of `old`."""
    names = _names(old), _names(new)
    every = [cell.asked for cell in (*old.cells, *new.cells)]
    book = _Book(old, new, names, varying_axes(every))
    matches = match_cells(old, new, names)
    paired = {id(cell) for match in matches for cell in (match.old, match.new)}
    return SideBySide(
        old_id=old.id,
        new_id=new.id,
        pairs=tuple(_pair(match, book) for match in matches),
        old_only=tuple(_name(cell, book, 0).words() for cell in old.cells if id(cell) not in paired),
        new_only=tuple(_name(cell, book, 1).words() for cell in new.cells if id(cell) not in paired),
        environment=(*_other_model(book, matches), *_environment(book)),
    )


def _other_model(book: _Book, matches: Sequence[Match]) -> Iterator[str]:
    """Yield the difference of the models if no cells pair, because a changed file keeps its name."""
    models = [[model.sha256 for model in run.models if model.sha256] for run in (book.old, book.new)]
    if matches or not all(models) or not set(models[0]).isdisjoint(models[1]):
        return
    named = [[names.get(one, one[:8]) for one in shas] for shas, names in zip(models, book.names, strict=True)]
    # Equal names need a checksum to be distinguished.
    if not set(named[0]).isdisjoint(named[1]):
        named = [
            [f"{name} {one[:8]}" for name, one in zip(*each, strict=True)] for each in zip(named, models, strict=True)
        ]
    left, right = (", ".join(dict.fromkeys(show(one, _LONGEST) for one in each)) for each in named)
    yield f"model: {left} against {right}"


def _pair(match: Match, book: _Book) -> CellPair:
    old, new = match.old, match.new
    metric = metric_of(new)
    # Another tool keeps only one long measurement, so the other operand is reduced to one too.
    whole = all(cell.executions or cell.pooled is None for cell in (old, new))
    figures = [_figure(cell, metric, whole) for cell in (old, new)]
    bars = tuple(dict.fromkeys([*bars_between(old, new, match.axis), *match.differs, *_conditions(book)]))
    comparison, reason = _compare(match, bars, book, whole)
    return CellPair(
        cell=_name(new, book, 1, but=match.axis, was=old),
        bars=bars,
        unit="ms" if metric == LATENCY else "items/s",
        old=figures[0],
        new=figures[1],
        comparison=comparison,
        reason=reason,
    )


def _compare(match: Match, bars: Sequence[str], book: _Book, whole: bool) -> tuple[Comparison | None, str]:
    metric = metric_of(match.new)
    silent = [f"{name}: {_silence(cell)}" for cell, name in zip((match.old, match.new), book.ids, strict=True)
              if _value(cell, metric, whole) is None]  # fmt: skip
    if silent:
        return None, "; ".join(silent)
    sides = [_side(cell, name, metric, whole) for cell, name in zip((match.old, match.new), book.ids, strict=True)]
    if not all(side.logs for side in sides):
        return None, "no execution of a side has a time"
    found = compare(sides[0], sides[1], interleaved=False, bars=bars, metric=metric)
    return found, "" if found.low is not None else _why_no_interval(match, book, whole)


def _side(cell: CellResult, name: str, metric: str, whole: bool) -> Side:
    if whole:
        return side_of(cell, list(enumerate(cell.executions)), name)
    value = _value(cell, metric, whole)
    if value is None or not value > 0:
        return Side(cell.key, name, [])
    return Side(cell.key, name, [(0, math.log(value) if metric == LATENCY else -math.log(value))])


def _value(cell: CellResult, metric: str, whole: bool) -> float | None:
    return _figure(cell, metric, whole).estimate.value


def _figure(cell: CellResult, metric: str, whole: bool) -> Figure:
    if whole:
        estimate = latency(cell) if metric == LATENCY else throughput(cell)
    elif cell.pooled is not None:
        value = cell.pooled.median if metric == LATENCY else cell.pooled.items_per_sec
        estimate = Estimate(value, reason="of all iterations together")
    else:
        estimate = Estimate(None, reason="not measured")
    return Figure(cell.key, estimate, cell.grade.letter if cell.grade else "", cell.status)


def _silence(cell: CellResult) -> str:
    """Return the reason why a cell has no number."""
    return failure_words(cell.failure) if cell.failure else f"{cell.status}: {show(cell.stopped_by) or 'not measured'}"


def _why_no_interval(match: Match, book: _Book, whole: bool) -> str:
    if whole:
        fewer = min(len(match.old.executions), len(match.new.executions))
        return f"no interval: {fewer} of at least {LEAST} executions on a side"
    tools = [run.foreign or "it" for run, cell in ((book.old, match.old), (book.new, match.new)) if not cell.executions]
    return f"no interval: {' and '.join(dict.fromkeys(show(tool, _LONGEST) for tool in tools))} keeps no executions"


def _conditions(book: _Book) -> Iterator[str]:
    """Yield the facts by which a result differs from one measured alone and in one session."""
    for run, name in zip((book.old, book.new), book.ids, strict=True):
        if run.shared_host:
            yield f"{name} was measured beside another benchmark"
        if any(session.mixed for session in run.sittings):
            yield f"{name} was measured in sessions under unequal conditions"


def _environment(book: _Book) -> Iterator[str]:
    old, new = book.old, book.new
    for run, name in zip((old, new), book.ids, strict=True):
        if not run.environment:
            yield f"nothing is known of the machine of {name}" + (f", by {show(run.foreign)}" if run.foreign else "")
    if old.host and new.host and old.host != new.host:
        yield f"another machine: {show(old.host, _LONGEST)} → {show(new.host, _LONGEST)}"
    if old.environment and new.environment:
        yield from environment_changes(old.environment, old.versions, new.environment, new.versions)


def _name(cell: CellResult, book: _Book, side: int, but: str = "", was: CellResult | None = None) -> CellName:
    """Return the name without the axis in which the pair differs; differing cores and streams show both values."""
    axes = tuple(axis for axis in book.axes if axis != but)
    model = book.names[side].get(cell.asked.model_sha256, cell.asked.model_sha256[:12])
    asked = was.asked if was is not None else None
    return CellName(cell.asked, axes, model, _streams(cell), asked, _streams(was))


def _streams(cell: CellResult | None) -> int | None:
    """Return the number of streams really used; None if unknown."""
    return cell.used.streams if cell is not None and cell.used is not None else None


def _names(run: RunResult) -> dict[str, str]:
    """Return names of models by sha256; of two files with the same content the first name."""
    names: dict[str, str] = {}
    hashes = [model.sha256 for model in run.models] or [cell.asked.model_sha256 for cell in run.cells[:1]]
    for sha256, name in zip(hashes, model_names(run.spec.models), strict=False):
        names.setdefault(sha256, name)
    return names

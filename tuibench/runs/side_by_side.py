"""Comparison of two stored results: as within a run, but never with a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.cell import CellResult, Estimate, latency, throughput
from tuibench.core.ids import short_id
from tuibench.core.label import CellName, Names, names_by_sha256, varying_axes
from tuibench.core.reason import Reason, because, failure_words
from tuibench.core.result import CellPair, Comparison, Figure, RunResult, SideBySide
from tuibench.core.scenario import LATENCY
from tuibench.core.text import show
from tuibench.runs.comparison import Match, bars_between, match_cells, metric_of, operand_of
from tuibench.runs.environment import environment_changes
from tuibench.stats.comparison import Operand, compare
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
    names = names_by_sha256(old), names_by_sha256(new)
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


def _other_model(book: _Book, matches: Sequence[Match]) -> Iterator[Reason]:
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
    yield because("settings_differ", name="model", base=left, new=right)


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


def _compare(match: Match, bars: Sequence[Reason], book: _Book, whole: bool) -> tuple[Comparison | None, Reason | None]:
    metric = metric_of(match.new)
    named = list(zip((match.old, match.new), book.ids, strict=True))
    silent = [_silence(cell, name) for cell, name in named if _value(cell, metric, whole) is None]
    if silent:
        return None, silent[0] if len(silent) == 1 else because("several", reasons=silent)
    base, new = (_operand(cell, name, metric, whole) for cell, name in named)
    if not base.logs or not new.logs:
        return None, Reason("operand_without_time")
    found = compare(base, new, interleaved=False, bars=bars, metric=metric)
    return found, None if found.verdict.low is not None else _why_no_interval(match, book, whole)


def _operand(cell: CellResult, name: str, metric: str, whole: bool) -> Operand:
    if whole:
        return operand_of(cell, list(enumerate(cell.executions)), name)
    value = _value(cell, metric, whole)
    if value is None or not value > 0:
        return Operand(cell.key, name, [])
    return Operand(cell.key, name, [(0, math.log(value) if metric == LATENCY else -math.log(value))])


def _value(cell: CellResult, metric: str, whole: bool) -> float | None:
    return _figure(cell, metric, whole).estimate.value


def _figure(cell: CellResult, metric: str, whole: bool) -> Figure:
    if whole:
        estimate = latency(cell) if metric == LATENCY else throughput(cell)
    elif cell.pooled is not None:
        value = cell.pooled.median if metric == LATENCY else cell.pooled.items_per_sec
        estimate = Estimate(value, reason=Reason("pooled_only"))
    else:
        estimate = Estimate(None, reason=Reason("not_measured"))
    return Figure(cell.key, estimate, cell.grade.letter if cell.grade else "", cell.status)


def _silence(cell: CellResult, name: str) -> Reason:
    """Return the reason why a cell of the result with this name has no number."""
    if cell.failure is not None:
        return because("operand_failed", name=name, failure=failure_words(cell.failure))
    return because("operand_unmeasured", name=name, status=cell.status, why=cell.stopped_by or Reason("not_measured"))


def _why_no_interval(match: Match, book: _Book, whole: bool) -> Reason:
    if whole:
        fewer = min(len(match.old.executions), len(match.new.executions))
        return because("operand_too_short", count=fewer, least=LEAST)
    tools = [run.foreign or "it" for run, cell in ((book.old, match.old), (book.new, match.new)) if not cell.executions]
    return because("no_executions_kept", tool=" and ".join(dict.fromkeys(tools)))


def _conditions(book: _Book) -> Iterator[Reason]:
    """Yield the facts by which a result differs from one measured alone and in one session."""
    for run, name in zip((book.old, book.new), book.ids, strict=True):
        if run.shared_host:
            yield because("shared_host", name=name)
        if any(session.mixed for session in run.sittings):
            yield because("mixed_sessions", name=name)


def _environment(book: _Book) -> Iterator[Reason]:
    old, new = book.old, book.new
    for run, name in zip((old, new), book.ids, strict=True):
        if not run.environment:
            yield because("machine_unknown", name=name, tool=run.foreign)
    if old.host and new.host and old.host != new.host:
        yield because("changed", name="another machine", old=old.host, new=new.host)
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

"""Comparison of two results: equal cells matched, then cells that differ in one setting, side by side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tuibench.core.cell import (
    Asked,
    CellResult,
    Estimate,
    Execution,
    MainNumber,
    main_number,
    measured,
    metric_of,
    ran_elsewhere,
)
from tuibench.core.drift import find_drift
from tuibench.core.ids import short_id
from tuibench.core.label import CellName, Names, describe, model_name, names_by_sha256, varying_axes
from tuibench.core.reason import Drift, Reason, because
from tuibench.core.result import CellPair, Comparison, Figure, RunResult, SideBySide
from tuibench.core.scenario import find
from tuibench.core.text import show
from tuibench.runs.environment import environment_changes
from tuibench.stats.comparison import Operand, compare
from tuibench.stats.interval import LEAST


def operand_of(cell: CellResult, executions: Sequence[tuple[int, Execution]], name: str) -> Operand:
    """Return the operand for `compare`, from executions with their rounds."""
    main = main_number(cell)
    logs = [(number, main.ln_time(main.of_execution(cell, execution))) for number, execution in executions]
    return Operand(cell.key, name, [(number, value) for number, value in logs if value is not None])


def without_axis(asked: Asked, axis: str) -> str:
    """Return the identity of a request without one axis: equal for cells that differ only in that axis."""
    if axis == "engine":
        return replace(asked, engine="").key
    return replace(asked, model_sha256="", version="").key


def bars_between(base: CellResult, new: CellResult, axis: str, drift: Drift | None = None) -> tuple[Reason, ...]:
    """Return reasons against a verdict because of unequal work; `axis` is the requested difference.

    Two models are compared if their outputs are, too, however far they drift.
    """
    bars: list[Reason] = []
    if axis == "model" and drift is None:
        bars.append(Reason("models_differ"))
    elif drift is not None and drift.reason is not None:
        bars.append(drift.reason)
    for cell in (base, new):
        check, engine = cell.check, cell.asked.engine
        if check is None or check.state == "unchecked":
            bars.append(because("outputs_unchecked", engine=engine))
        elif check.state == "differs":
            bars.append(because("outputs_differ", engine=engine))
        if ran_elsewhere(cell):
            bars.append(because("ran_in_engine_inside", engine=engine))
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


Rounds = Mapping[str, Sequence[tuple[int, Execution]]]
"""Key of a cell -> its executions, each with its round."""


def compare_cells(
    cells: Sequence[CellResult],
    rounds: Rounds,
    names: Names,
    *,
    pair_s: float | None = None,
    drifts: Sequence[Drift] = (),
) -> tuple[Comparison, ...]:
    """Compare each cell with the first engine and with the first model at equal settings, in the order of `cells`."""
    able = measured(cells)
    found = []
    for base, new, axis in _pairs(able):
        left = operand_of(base, rounds.get(base.key, ()), _base_name(base, axis, able, names))
        right = operand_of(new, rounds.get(new.key, ()), _name(new, axis, names))
        if not left.logs or not right.logs:
            continue
        # A cell repeated in another I/O class may share no round with its base.
        shared = not {number for number, _ in left.logs}.isdisjoint(number for number, _ in right.logs)
        drift = _drift_of(base, new, drifts) if axis == "model" else None
        bars, metric = bars_between(base, new, axis, drift), metric_of(base)
        comparison = compare(left, right, interleaved=shared, bars=bars, metric=metric, pair_s=pair_s)
        found.append(replace(comparison, verdict=replace(comparison.verdict, drift=drift)) if drift else comparison)
    return tuple(found)


def _drift_of(base: CellResult, new: CellResult, drifts: Sequence[Drift]) -> Drift | None:
    old, other = base.asked, new.asked
    return find_drift(drifts, old.model_sha256, other.model_sha256, old.batch, old.dims)


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
_MAX_CHARS = 60

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
        noun = "streams requested"
    return because("settings_differ", name=noun, base=left, new=right)


def _foreign_differences(old: CellResult, new: CellResult, names: tuple[Names, Names]) -> tuple[Reason, ...]:
    """Return the known differences, and a note that the others are unknown."""
    axes = [a for a in ("engine", "model") if _value(old.asked, a, names[0]) != _value(new.asked, a, names[1])]
    return (*(_difference(old, new, axis, names) for axis in axes), Reason("settings_unknown"))


def _value(asked: Asked, axis: str, names: Names) -> str:
    if axis == "model":
        version = "" if asked.version == "original" else f" {show(asked.version, _MAX_CHARS)}"
        return show(names.get(asked.model_sha256, asked.model_sha256[:12]), _MAX_CHARS) + version
    if axis == "options":
        return show(" ".join(f"{name}={value}" for name, value in asked.options.items()), _MAX_CHARS) or "none"
    return show(getattr(asked, axis), _MAX_CHARS)


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
        old_only=tuple(_pair_name(cell, book, 0).words() for cell in old.cells if id(cell) not in paired),
        new_only=tuple(_pair_name(cell, book, 1).words() for cell in new.cells if id(cell) not in paired),
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
    left, right = (", ".join(dict.fromkeys(show(one, _MAX_CHARS) for one in each)) for each in named)
    yield because("settings_differ", name="model", base=left, new=right)


def _pair(match: Match, book: _Book) -> CellPair:
    old, new = match.old, match.new
    main = main_number(new)
    # Another tool keeps only one long measurement, so the other operand is reduced to one too.
    whole = all(cell.executions or cell.pooled is None for cell in (old, new))
    figures = [_figure(cell, main, whole) for cell in (old, new)]
    bars = tuple(dict.fromkeys([*bars_between(old, new, match.axis), *match.differs, *_conditions(book)]))
    comparison, reason = _compare(match, bars, book, whole)
    return CellPair(
        cell=_pair_name(new, book, 1, but=match.axis, was=old),
        bars=bars,
        unit=main.unit,
        old=figures[0],
        new=figures[1],
        comparison=comparison,
        reason=reason,
    )


def _compare(match: Match, bars: Sequence[Reason], book: _Book, whole: bool) -> tuple[Comparison | None, Reason | None]:
    main = main_number(match.new)
    named = list(zip((match.old, match.new), book.ids, strict=True))
    silent = [_silence(cell, name) for cell, name in named if _figure(cell, main, whole).estimate.value is None]
    if silent:
        return None, silent[0] if len(silent) == 1 else because("several", reasons=silent)
    base, new = (_operand(cell, name, main, whole) for cell, name in named)
    if not base.logs or not new.logs:
        return None, Reason("operand_without_time")
    found = compare(base, new, interleaved=False, bars=bars, metric=metric_of(match.new))
    return found, None if found.verdict.low is not None else _why_no_interval(match, book, whole)


def _operand(cell: CellResult, name: str, main: MainNumber, whole: bool) -> Operand:
    if whole:
        return operand_of(cell, list(enumerate(cell.executions)), name)
    logarithm = main.ln_time(_figure(cell, main, whole).estimate.value)
    return Operand(cell.key, name, [] if logarithm is None else [(0, logarithm)])


def _figure(cell: CellResult, main: MainNumber, whole: bool) -> Figure:
    if whole:
        estimate = main.estimate(cell)
    elif cell.pooled is not None:
        estimate = Estimate(main.of_pooled(cell.pooled), reason=Reason("pooled_only"))
    else:
        estimate = Estimate(None, reason=Reason("not_measured"))
    return Figure(cell.key, estimate, cell.grade.letter if cell.grade else "", cell.status)


def _silence(cell: CellResult, name: str) -> Reason:
    """Return the reason why a cell of the result with this name has no number."""
    if cell.failure is not None:
        return because("operand_failed", name=name, why=cell.failure.as_reason())
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


def _pair_name(cell: CellResult, book: _Book, side: int, but: str = "", was: CellResult | None = None) -> CellName:
    """Return the name without the axis in which the pair differs; differing cores and streams show both values."""
    axes = tuple(axis for axis in book.axes if axis != but)
    model = book.names[side].get(cell.asked.model_sha256, cell.asked.model_sha256[:12])
    asked = was.asked if was is not None else None
    return CellName(cell.asked, axes, model, _streams(cell), asked, _streams(was))


def _streams(cell: CellResult | None) -> int | None:
    """Return the number of streams really used; None if unknown."""
    return cell.used.streams if cell is not None and cell.used is not None else None

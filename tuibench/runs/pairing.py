"""Pairs of comparable cells of a run: cells that differ only in engine, or only in model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tuibench.core.cell import CellResult, Execution
from tuibench.core.choice import measured
from tuibench.core.model import ModelSummary
from tuibench.core.run import Comparison
from tuibench.core.text import show
from tuibench.runs.naming import Names, describe, model_name
from tuibench.runs.side import bars_between, metric_of, side_of, without_axis
from tuibench.stats.comparison import DELTA, compare

_MOST_SAID = 3

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
        left = side_of(base, rounds.get(base.key, ()), _base_name(base, axis, able, names))
        right = side_of(new, rounds.get(new.key, ()), _name(new, axis, names))
        if interleaved and not {r for r, _ in left.logs} & {r for r, _ in right.logs}:
            continue
        bars = bars_between(base, new, axis)
        metric = metric_of(base)
        found.append(
            compare(left, right, interleaved=interleaved, bars=bars, metric=metric, delta=delta, pair_s=pair_s)
        )
    return tuple(found)


def explain_missing(
    models: Sequence[ModelSummary], labels: Sequence[str], cells: Sequence[CellResult], found: Sequence[Comparison]
) -> tuple[str, ...]:
    """Return a sentence for each further model that has no comparison; `labels` name the models in order."""
    able = measured(cells)
    model_of = {cell.key: cell.asked.model_sha256 for cell in able}
    compared = {model_of[c.new] for c in found if model_of[c.new] != model_of[c.base]}
    sentences = []
    first: dict[str, str] = {}
    for model, label in zip(models, labels, strict=False):
        if model.sha256 in first:
            sentences.append(f"{label} has the same content as {first[model.sha256]}: measured once.")
        elif first and model.sha256 not in compared:
            base, name = next(iter(first.items()))
            why = _why_apart(*([c for c in able if c.asked.model_sha256 == sha] for sha in (base, model.sha256)))
            sentences += [f"{label} is not compared with {name}: {why}."] if why else []
        first.setdefault(model.sha256, label)
    return tuple(sentences)


def _why_apart(base: Sequence[CellResult], new: Sequence[CellResult]) -> str:
    """Return '' if one model has no numbers: its failure is reason enough."""
    if not base or not new:
        return ""
    for noun, say in (("batch sizes", _batch_words), ("dims", _dim_words)):
        left, right = (list(dict.fromkeys(say(cell) for cell in cells)) for cells in (base, new))
        if not set(left) & set(right):
            return f"their {noun} differ ({' / '.join(right[:_MOST_SAID])} against {' / '.join(left[:_MOST_SAID])})"
    return "no round measured both with the same settings"


def _batch_words(cell: CellResult) -> str:
    return "none" if cell.asked.batch is None else str(cell.asked.batch)


def _dim_words(cell: CellResult) -> str:
    return " ".join(f"{show(name, 40)}={size}" for name, size in cell.asked.dims.items()) or "none"


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

"""The figures of a result as text: scaling over every axis with several values, or the histogram of its one cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tuibench.core.run import RunResult
from tuibench.core.units import count_of
from tuibench.plots.baseline import marks_of, merged_histogram
from tuibench.plots.figure import draw
from tuibench.plots.grid import coordinate_name
from tuibench.plots.histogram import draw_histogram
from tuibench.plots.scaling import Scaling, axes_of, figure_of, scaling
from tuibench.plots.selection import Selection
from tuibench.plots.styled import text_of
from tuibench.report.label import describe, first_cell

_NARROWEST, _WIDEST = 20, 120
_HEIGHT, _LOW, _FEW = 14, 10, 3
"""Rows of a figure, and of one with fewer than three values."""
_METRICS = {"cores": "throughput", "batch": "throughput", "shape": "latency"}
_TITLES = {"cores": "Core scaling", "batch": "Batch scaling", "shape": "Shape scaling"}
_IN_THE_TABLE = ("missing", "note")
"""Kinds of sentences about single cells, which the table beside the figures already contains."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure as text with its sentences."""

    title: str
    text: str
    sentences: tuple[str, ...]


def drawings(run: RunResult, width: int, ascii_only: bool = False) -> tuple[Drawing, ...]:
    """Return all figures of a result; none if no measurement can be drawn."""
    width = min(max(width, _NARROWEST), _WIDEST)
    found = [_scaling(scaling(run, Selection(axis, metric=_METRICS[axis])), width, ascii_only) for axis in axes_of(run)]
    every = [drawing for drawing in found if drawing is not None]
    return tuple(every) if found else tuple(_histogram(run, width, ascii_only))


def _scaling(shown: Scaling, width: int, ascii_only: bool) -> Drawing | None:
    if not any(line.measured for line in shown.lines):
        return None
    fixed = shown.selection.fixed.items()
    held = [count_of(n, "core") if key == "cores" else f"{coordinate_name(key)} {n}" for key, n in fixed]
    title = ", ".join([_TITLES[shown.selection.axis], *held])
    sentences = [f"{s.kind[:1].upper()}{s.kind[1:]}: {s.text}" for s in shown.sentences if s.kind not in _IN_THE_TABLE]
    left_out = len(shown.choices.sides) - len(shown.lines)
    sentences += [f"Not drawn: {left_out} more of {len(shown.choices.sides)} sides"] if left_out else []
    figure = figure_of(shown)
    few = figure.x_ticks is not None and len(figure.x_ticks) < _FEW
    rows = draw(figure, width, _LOW if few else _HEIGHT, ascii_only=ascii_only)
    return Drawing(title, text_of(rows), tuple(sentences))


def _histogram(run: RunResult, width: int, ascii_only: bool) -> Iterator[Drawing]:
    cell = first_cell(run)
    histogram = merged_histogram(cell) if cell is not None else None
    if cell is not None and histogram is not None:
        rows = draw_histogram(histogram, width, _HEIGHT, marks=marks_of(cell), ascii_only=ascii_only)
        yield Drawing(f"Calls of {describe(run, cell)}", text_of(rows), ())

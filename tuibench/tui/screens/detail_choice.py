"""Selectors of a scaling figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tuibench.plots.grid import coordinate_name
from tuibench.plots.quantity import UNITS
from tuibench.plots.scaling import Scaling
from tuibench.plots.selection import MOST_SIDES
from tuibench.tui.widgets.selector_line import Selector

_MANY = 4
"""Maximum number of selectors that fit with their names."""
_NAMELESS = ("metric", "stat")
"""Selectors whose values need no name."""


def selectors_of(shown: Scaling, held: str, around: str, key_of: Callable[[str], str]) -> list[Selector]:
    """Return the selectors; keys `around` change the axis `held`, `key_of` returns a key as bound by the user."""
    selection, choices = shown.selection, shown.choices
    selectors = [_fixed(shown, name, around if name == held else "", key_of) for name in open_axes(shown)]
    if selection.axis == "shape" and len(choices.dims) > 1:
        dims = tuple(coordinate_name(dim) for dim in choices.dims)
        selectors.append(Selector("over", dims, choices.dims.index(selection.dim), key_of("figure")))
    units = tuple(UNITS[each] if each != "efficiency" else "eff %" for each in choices.metrics)
    selectors.append(Selector("metric", units, choices.metrics.index(selection.metric), key_of("metric")))
    at = choices.statistics.index(selection.statistic)
    selectors.append(Selector("stat", choices.statistics, at, key_of("statistic")))
    if len(choices.sides) > 1:
        every = "all" if len(choices.sides) <= MOST_SIDES else f"first {MOST_SIDES}"
        names = (every, *(side.label for side in choices.sides))
        alone = [side.key for side in choices.sides].index(selection.sides[0]) + 1
        selectors.append(Selector("side", names, alone if len(selection.sides) == 1 else 0, key_of("side")))
    if len(selectors) > _MANY:
        return [replace(each, name="") if each.name in _NAMELESS else each for each in selectors]
    return selectors


def _fixed(shown: Scaling, name: str, around: str, key_of: Callable[[str], str]) -> Selector:
    """Return the selector of a fixed axis; its key selects the axis that left and right change."""
    values = shown.choices.fixed[name]
    at, texts = values.index(shown.selection.fixed[name]), tuple(map(str, values))
    return Selector(coordinate_name(name), texts, at, around or key_of("figure"), spread=bool(around))


def open_axes(shown: Scaling) -> tuple[str, ...]:
    """Return the axes that are fixed in the figure and have other values."""
    return tuple(name for name, values in shown.choices.fixed.items() if len(values) > 1)

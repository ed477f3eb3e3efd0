"""The selectors of a scaling figure, and what is remembered of them from one benchmark and session to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tuibench.plots.grid import coordinate_name
from tuibench.plots.quantity import METRICS, UNITS
from tuibench.plots.scaling import Scaling
from tuibench.plots.selection import MOST_SIDES, Selection
from tuibench.tui.widgets.selector_line import Selector

_MANY = 4
"""Selectors that fit with their names."""
_NAMELESS = ("metric", "stat")
"""What their values tell."""


def selectors_of(shown: Scaling, held: str, around: str, key_of: Callable[[str], str]) -> list[Selector]:
    """The keys of `around` change the axis that is `held`; `key_of` writes a key as the user has bound it."""
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
    """The key beside one that is not held makes it the one."""
    values = shown.choices.fixed[name]
    at, texts = values.index(shown.selection.fixed[name]), tuple(map(str, values))
    return Selector(coordinate_name(name), texts, at, around or key_of("figure"), spread=bool(around))


def open_axes(shown: Scaling) -> tuple[str, ...]:
    """What a figure does not go over and could be held elsewhere."""
    return tuple(name for name, values in shown.choices.fixed.items() if len(values) > 1)


def remembered_selection(found: Mapping[str, Any], axis: str) -> Selection:
    """What was chosen last; whatever of it this benchmark does not have is chosen anew by `scaling`."""
    metric = found.get("metric")
    sides = found.get("sides")
    return Selection(
        axis=axis,
        sides=tuple(each for each in sides if isinstance(each, str)) if isinstance(sides, list) else (),
        fixed=_numbers(found.get("fixed")),
        metric=metric if metric in METRICS else "throughput",
        statistic=_text(found.get("statistic")),
        dim=_text(found.get("dim")),
    )


def to_remember(shown: Scaling, before: Mapping[str, Any]) -> dict[str, Any]:
    """The choices as the state file keeps them, beside what other benchmarks left there.

    All sides are no choice: of another benchmark they are others. So is the only statistic that there is.
    """
    chosen, choices = shown.selection, shown.choices
    every = tuple(side.key for side in choices.sides[:MOST_SIDES])
    found: dict[str, Any] = {
        "metric": chosen.metric,
        "fixed": {**_numbers(before.get("fixed")), **chosen.fixed},
        "dim": chosen.dim or _text(before.get("dim")),
    }
    if len(choices.sides) > 1:
        found["sides"] = [] if chosen.sides == every else list(chosen.sides)
    if len(choices.statistics) > 1:
        found["statistic"] = chosen.statistic
    return found


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _numbers(found: Any) -> dict[str, int]:
    return {k: v for k, v in found.items() if isinstance(v, int)} if isinstance(found, dict) else {}

"""Footer keys of a benchmark's tabs: those that do something on this tab of this benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tuibench.core.run import RunResult
from tuibench.plots.scaling import Selection, scaling
from tuibench.tui import key
from tuibench.tui.widgets.key_line import together

AXES = {"cores": "cores", "batches": "batch", "shapes": "shape"}
"""Tabs that show how a benchmark scales, with their axes."""
LAST = ("palette", "help")
_AROUND = ("previous-value", "next-value")
_MOVE = ("up", "down")
_OWN = {
    "baseline": ("figure", *_MOVE),
    "comparison": ("side", "figure", "metric", *_MOVE),
}
COMMON = ("rerun", "rerun-changed", "compare", "copy-command")
"""The actions used most on any benchmark."""
_OTHERS = ("tab-previous", "tab-next", "back", *COMMON, "export", "edit", "log", "remove")
_WORDS = {"up": "line", "down": "line", **key.ONE_WORD}


def hints_of(tab: str, run: RunResult) -> tuple[str, ...]:
    """Return ids of keys, the most important first."""
    if tab in AXES:
        choices = scaling(run, Selection(axis=AXES[tab])).choices
        held = sum(len(values) > 1 for values in choices.fixed.values())
        own = (*(_AROUND if held else ()), "metric", "statistic")
        own = (*own, *(("side",) if len(choices.sides) > 1 else ()), *(("figure",) if held > 1 else ()))
        return (*own, *_MOVE, "open", "wide", *_OTHERS)
    around = _AROUND if tab == "baseline" and len(run.cells) > 1 else ()
    return tuple(each for each in (*around, *_OWN.get(tab, _MOVE), *_OTHERS) if each != tab)


def pairs_of(hints: Iterable[str], keymap: Mapping[str, str], ascii_only: bool) -> list[tuple[str, str]]:
    """Return keys and words for the footer; two keys with the same word are merged."""
    return together((key.shown(each, keymap, ascii_only), _WORDS.get(each, key.KEYS[each].word)) for each in hints)

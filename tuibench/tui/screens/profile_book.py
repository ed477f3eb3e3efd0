"""What a page of profiles shows, whatever the profile is of: a book for each kind says it in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tuibench.insight.bar import DISPLAYS, label_of
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.screens.profile_book_layers import LayerTable
from tuibench.tui.widgets.record_table import Column, Line
from tuibench.tui.widgets.row import LineLike

Bars = Sequence[tuple[str, float, str]]
"""Label, length, text."""


@dataclass(frozen=True, slots=True)
class Summed:
    """Bars of one kind, and what has to be said with them."""

    title: str
    bars: Bars
    words: tuple[str, ...] = ()
    """By which method; in place of bars, why there are none."""


@dataclass(frozen=True, slots=True)
class Depth:
    """One value per layer, from the model's beginning to its end."""

    title: str
    keys: tuple[str, ...]
    values: tuple[float | None, ...]
    texts: Sequence[str]
    """Each value in words."""
    log: bool = False
    """Whether they are shown on a logarithmic axis."""
    empty: str = ""
    """Why there is no value of any layer, where that is known."""


class Book:
    """To be subclassed; everything in it is worked out without asking the desk."""

    kinds: tuple[str, ...] = ()
    """What can be shown of each layer, in the order in which a key goes through them."""
    usual = ""
    """What is shown until another one is chosen, as the shell shows it; '' for the first."""
    kinds_name = "type"
    """What that choice is called."""
    unit: str = ""
    """What the figures of the table are where its titles do not tell."""
    displays: tuple[str, ...] = DISPLAYS
    sorts: tuple[str, ...] = ()
    """Names of columns to sort by; the first is the order that a table begins with."""
    _table: LayerTable[Any]

    def facts(self, glyphs: Glyphs) -> Sequence[Fact]:
        """The model summary."""
        raise NotImplementedError

    def said(self, kind: str) -> Sequence[LineLike]:
        """What follows from it for what is shown, in a sentence or two."""
        raise NotImplementedError

    def summed(self, kind: str, display: str) -> Summed:
        """A bar for each group of layers."""
        raise NotImplementedError

    def columns(self, glyphs: Glyphs) -> tuple[Column, ...]:
        """Of the table of layers; those of the highest rank go first where room is short."""
        return self._table.columns()

    def keys(self, sort: str, reverse: bool, text: str, bar: str = "") -> tuple[str, ...]:
        """The layers to show, in order; `text` narrows them to those with all of its words, `bar` to its own."""
        return self._table.keys(sort, reverse, text, partial(self.is_of, bar) if bar else None)

    def is_of(self, bar: str, row: Any) -> bool:
        """Whether a bar of that label stands for a row: there is one for each type of layer."""
        return label_of(row.layer.op) == bar

    def line(self, key: str, glyphs: Glyphs) -> Line:
        """One layer in the table."""
        return self._table.line(key)

    def details(self, key: str, glyphs: Glyphs) -> Sequence[Fact]:
        """Everything that is known of a layer."""
        raise NotImplementedError

    def brief(self, key: str, glyphs: Glyphs) -> Sequence[LineLike]:
        """A layer in two or three lines."""
        raise NotImplementedError

    def name_of(self, key: str, glyphs: Glyphs) -> str:
        """What a layer is called: the first of its lines."""
        line = next(iter(self.brief(key, glyphs)), key)
        return (line if isinstance(line, str) else str(line[0])).strip() or key

    def depth(self, kind: str, display: str) -> Depth:
        """The values over the depth of the model."""
        raise NotImplementedError

"""The interface between a profile page and its content; each kind of profile has its own book."""

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
"""Label, length and text of each bar."""


@dataclass(frozen=True, slots=True)
class Summed:
    """Bars of one kind, with their title and notes."""

    title: str
    bars: Bars
    words: tuple[str, ...] = ()
    """The method behind the bars; without bars, the reason."""


@dataclass(frozen=True, slots=True)
class Depth:
    """One value per layer, in the order of the model."""

    title: str
    keys: tuple[str, ...]
    values: tuple[float | None, ...]
    texts: Sequence[str]
    """Each value as text."""
    log: bool = False
    """True for a logarithmic axis."""
    empty: str = ""
    """Why no layer has a value, if known."""


class Book:
    """Base class of the books; computes everything from the profile, without calling the desk."""

    kinds: tuple[str, ...] = ()
    """Quantities that can be shown per layer, in the order of the key that switches them."""
    usual = ""
    """The quantity shown first, the same as in the shell; '' for the first of `kinds`."""
    kinds_name = "type"
    """Name of the choice among `kinds`."""
    unit: str = ""
    """Unit of the table's figures, if the titles do not name it."""
    displays: tuple[str, ...] = DISPLAYS
    sorts: tuple[str, ...] = ()
    """Names of sortable columns; the first is the initial order."""
    _table: LayerTable[Any]

    def facts(self, glyphs: Glyphs) -> Sequence[Fact]:
        """Return the model summary."""
        raise NotImplementedError

    def said(self, kind: str) -> Sequence[LineLike]:
        """Return the conclusion for the shown quantity, in a sentence or two."""
        raise NotImplementedError

    def summed(self, kind: str, display: str) -> Summed:
        """Return a bar for each group of layers."""
        raise NotImplementedError

    def columns(self, glyphs: Glyphs) -> tuple[Column, ...]:
        """Return the columns of the table; the highest ranks are hidden first if room is short."""
        return self._table.columns()

    def keys(self, sort: str, reverse: bool, text: str, bar: str = "") -> tuple[str, ...]:
        """Return the keys of the layers in order, filtered by the words of `text` and by the bar `bar`."""
        return self._table.keys(sort, reverse, text, partial(self.is_of, bar) if bar else None)

    def is_of(self, bar: str, row: Any) -> bool:
        """Return whether a row belongs to the bar of that label; by default, bars are types of layer."""
        return label_of(row.layer.op) == bar

    def line(self, key: str, glyphs: Glyphs) -> Line:
        """Return the table line of a layer."""
        return self._table.line(key)

    def details(self, key: str, glyphs: Glyphs) -> Sequence[Fact]:
        """Return all facts of a layer."""
        raise NotImplementedError

    def brief(self, key: str, glyphs: Glyphs) -> Sequence[LineLike]:
        """Return a layer's summary in two or three lines."""
        raise NotImplementedError

    def name_of(self, key: str, glyphs: Glyphs) -> str:
        """Return the name of a layer: the first line of its summary."""
        line = next(iter(self.brief(key, glyphs)), key)
        return (line if isinstance(line, str) else str(line[0])).strip() or key

    def depth(self, kind: str, display: str) -> Depth:
        """Return the values over the depth of the model."""
        raise NotImplementedError

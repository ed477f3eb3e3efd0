"""The table of layers in a book, built from the columns of reports and exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Generic, TypeVar

from rich.cells import cell_len

from tuibench.present.profile.costs import UNKNOWN
from tuibench.present.profile.costs import Column as Told
from tuibench.present.profile.summary import DISPLAYS, label_of
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail.facts import Fact
from tuibench.tui.widgets.record_table import Column, Line
from tuibench.tui.widgets.row import LineLike

R = TypeVar("R")
_WIDTHS = {
    "number": 5, "op": 12, "weight": 14, "name": 14, "shapes": 24, "kernel": 12, "why": 20, "reason": 20,
    "macs": 7, "flops": 7, "params": 7, "bytes": 7, "gflops": 7, "ms": 7, "int8": 7, "half": 4,
}  # fmt: skip
_NUMBER = 5
_GROWING = ("op", "weight", "name", "why", "reason")
_WIDE = {"op": 24, "weight": 48, "name": 48, "shapes": 48, "kernel": 24, "why": 40}
_PARTS = {"op": 6, "weight": 3}
_FROZEN = ("number", "op")


class LayerTable(Generic[R]):
    """Keeps prepared rows; formats a row's line only when it becomes visible."""

    def __init__(
        self,
        columns: Sequence[Told[R]],
        rows: Sequence[tuple[str, R]],
        arrange: Callable[[str, bool, str], Sequence[tuple[str, R]]],
        style: Callable[[R], str] = lambda _: "",
        with_sum: Callable[[R, float], R] | None = None,
    ) -> None:
        """`rows` are pairs of key and row; `arrange` takes a column, a direction and a text to filter by.

        `with_sum` returns a row with the cumulative share up to it.
        """
        self.told = tuple(columns)
        self.rows: dict[str, R] = dict(rows)
        self._arrange = arrange
        self._style = style
        self._with_sum = with_sum
        self._sums: dict[str, float] = {}
        """Cumulative shares, in the last arranged order."""

    def columns(self) -> tuple[Column, ...]:
        """Return the columns for the screen's table."""
        return tuple(
            Column(
                one.key,
                one.title,
                max(_WIDTHS.get(one.key, _NUMBER if one.right else 8), cell_len(one.title)),
                grow=one.key in _GROWING,
                right=one.right,
                rank=one.rank,
                wide=_WIDE.get(one.key, 0),
                part=_PARTS.get(one.key, 0),
                frozen=one.key in _FROZEN,
                middle=one.middle,
            )
            for one in self.told
        )

    def keys(self, sort: str, reverse: bool, text: str, only: Callable[[R], bool] | None = None) -> tuple[str, ...]:
        """Return the keys of rows that contain all words of the text, in order, optionally only those that `only`
        accepts.
        """
        arranged = self._arrange(sort, reverse, text)
        if only is not None:
            arranged = [(one, row) for one, row in arranged if only(row)]
        if self._with_sum is not None:
            sums = accumulate(getattr(row, "share", None) or 0.0 for _, row in arranged)
            self._sums = dict(zip((one for one, _ in arranged), sums, strict=True))
        return tuple(one for one, _ in arranged)

    def row(self, one: str) -> R:
        """Return a row with its cumulative share in the current order."""
        row = self.rows[one]
        return self._with_sum(row, self._sums[one]) if self._with_sum is not None and one in self._sums else row

    def line(self, one: str) -> Line:
        """Return a row as a line of the table."""
        row = self.row(one)
        return Line(one, tuple(column.text(row) for column in self.told), self._style(row))

    def facts(self, one: str, skip: Sequence[str] = ()) -> list[Fact]:
        """Return every non-empty column of one row as a named fact."""
        row = self.row(one)
        return [
            Fact(column.title, text + (f"  ({column.hint})" if column.hint else ""))
            for column in self.told
            if column.key not in skip and (text := column.text(row)) not in ("", "–")
        ]

    def brief(self, one: str, keys: Sequence[str], glyphs: Glyphs, names: Mapping[str, str] | None = None) -> LineLike:
        """Return some columns of one row as one line, each with its title."""
        row = self.row(one)
        said = []
        for column in self.told:
            text = column.text(row)
            if column.key in keys and text not in ("", "–"):
                title = (names or {}).get(column.key, column.title)
                # Without a known reason, state the value alone.
                said.append(f"{title} {text}".removesuffix(f" because {UNKNOWN}"))
        return (f" {f' {glyphs.dot} '.join(said)}", "dim")


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


def processes(count: int) -> str:
    """Return a number of processes in words."""
    return f"{count} process" if count == 1 else f"{count} processes"

"""The table of layers in a book, built from the columns of reports and exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

from rich.cells import cell_len

from tuibench.insight.column import UNKNOWN
from tuibench.insight.column import Column as Told
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
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

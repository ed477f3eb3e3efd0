"""A book's table of layers, made of the columns that reports and exports have, too."""

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
    """Rows are worked out once; a line of them when it comes into sight."""

    def __init__(
        self,
        columns: Sequence[Told[R]],
        rows: Sequence[tuple[str, R]],
        arrange: Callable[[str, bool, str], Sequence[tuple[str, R]]],
        style: Callable[[R], str] = lambda _: "",
        with_sum: Callable[[R, float], R] | None = None,
    ) -> None:
        """`rows` are pairs of a key and a row; `arrange` sorts by a column, perhaps reversed, those with a text.

        `with_sum` gives a row, which has a share then, the share of all up to it.
        """
        self.told = tuple(columns)
        self.rows: dict[str, R] = dict(rows)
        self._arrange = arrange
        self._style = style
        self._with_sum = with_sum
        self._sums: dict[str, float] = {}
        """Of the rows as they were arranged last."""

    def columns(self) -> tuple[Column, ...]:
        """As a table on the screen has them."""
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
        """Those with all words of a text, in order; where `only` is given, of those that it takes."""
        arranged = self._arrange(sort, reverse, text)
        if only is not None:
            arranged = [(one, row) for one, row in arranged if only(row)]
        if self._with_sum is not None:
            sums = accumulate(getattr(row, "share", None) or 0.0 for _, row in arranged)
            self._sums = dict(zip((one for one, _ in arranged), sums, strict=True))
        return tuple(one for one, _ in arranged)

    def row(self, one: str) -> R:
        """A row as it stands in the order of now."""
        row = self.rows[one]
        return self._with_sum(row, self._sums[one]) if self._with_sum is not None and one in self._sums else row

    def line(self, one: str) -> Line:
        """The same as the table shows it."""
        row = self.row(one)
        return Line(one, tuple(column.text(row) for column in self.told), self._style(row))

    def facts(self, one: str, skip: Sequence[str] = ()) -> list[Fact]:
        """Every column by its name, for one row."""
        row = self.row(one)
        return [
            Fact(column.title, text + (f"  ({column.hint})" if column.hint else ""))
            for column in self.told
            if column.key not in skip and (text := column.text(row)) not in ("", "–")
        ]

    def brief(self, one: str, keys: Sequence[str], glyphs: Glyphs, names: Mapping[str, str] | None = None) -> LineLike:
        """Some columns of one row in a line, each with its name."""
        row = self.row(one)
        said = []
        for column in self.told:
            text = column.text(row)
            if column.key in keys and text not in ("", "–"):
                title = (names or {}).get(column.key, column.title)
                # Without a reason, only that it is so.
                said.append(f"{title} {text}".removesuffix(f" because {UNKNOWN}"))
        return (f" {f' {glyphs.dot} '.join(said)}", "dim")

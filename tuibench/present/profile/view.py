"""The model of a profile's page: one definition of its figures, tables and sentences for shell, exports and screens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, Generic, TypeVar

from tuibench.core.errors import UsageError
from tuibench.core.text import show
from tuibench.core.units import percent
from tuibench.present.plots.depth import Depth
from tuibench.present.plots.drawing import Span
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import DISPLAYS, LOG, SHARES, Summary, label_of
from tuibench.present.table import NONE, UNKNOWN, Column, LayerLike, arranged

Fact = tuple[str, str, str]
"""Label, text and style of a fact on the screen."""
DOT = " · "
_NEAR = 5
_MAX_CHARS = 80


class UnknownLayer(UsageError):
    """No layer of the profile has that name."""


R = TypeVar("R", bound=LayerLike)


@dataclass(frozen=True, slots=True)
class LayerDetail:
    """One layer with all its details, safe to print."""

    title: str
    pairs: tuple[Pair, ...]


class ProfileView(Generic[R]):
    """One profile as pages, exports and screens show it; texts of rows are made when they are asked for."""

    title = ""
    """First line of the shell's page."""
    detail_title = ""
    """First line of the page of single layers."""
    markdown_title = ""
    origin = ""
    """Addition to the title of the table."""
    nothing = ""
    """Reason for a page without tables; '' if there are tables."""
    is_ratio = False
    """True if the bars are ratios, of which no shares are shown unless asked for."""
    counted = ""
    """Noun for the number of rows behind a bar on the screen; '' to leave it out."""
    kinds: tuple[str, ...] = ()
    """Quantities of the bars, in the order of the key that switches them."""
    usual = ""
    """The quantity shown first."""
    kinds_name = "type"
    """Name of the choice among `kinds`."""
    displays: tuple[str, ...] = DISPLAYS
    unit = ""
    """Unit of the table's figures, if the titles do not name it."""
    usual_sort = ""
    sorts: tuple[str, ...] = ()
    """Titles of sortable columns on the screen; the first is the initial order."""
    narrow = 8
    """Number of columns in a terminal of 80."""
    csv_columns: tuple[str, ...] = ()

    def __init__(self, rows: Iterable[R], columns: Sequence[Column[R]]) -> None:
        self.rows = tuple(rows)
        self.columns = tuple(columns)
        self._by_key = {row.key: row for row in self.rows}
        self._sums: dict[str, float] = {}
        """Cumulative shares, in the order last shown."""

    # What each kind of profile defines

    def model_lines(self) -> Iterable[str]:
        """Return the summary of the model as sentences for the shell and exports."""
        raise NotImplementedError

    def facts(self) -> Iterable[Fact]:
        """Return the summary of the model for the screen."""
        raise NotImplementedError

    def conclusions(self) -> Sequence[str]:
        """Return the sentences above the bars, for the shell and exports."""
        return ()

    def said(self, kind: str) -> Sequence[str]:
        """Return the conclusion on one quantity, for the screen."""
        raise NotImplementedError

    def summarize(self, kind: str, display: str) -> Summary:
        """Return a bar for each operator."""
        raise NotImplementedError

    def legend(self, rows: Sequence[R]) -> Iterable[str]:
        """Return the meaning of the signs and columns of these rows."""
        raise NotImplementedError

    def detail(self, row: R, most: int | None = None) -> tuple[Pair, ...]:
        """Return all facts of a row, with at most `most` names in a list."""
        raise NotImplementedError

    def names(self, row: R) -> Iterable[str]:
        """Return the names by which a row can be requested."""
        raise NotImplementedError

    def brief(self, row: R) -> list[Span]:
        """Return a row's summary in two or three lines."""
        raise NotImplementedError

    def depth(self, kind: str, display: str) -> Depth:
        """Return a quantity over the depth of the model."""
        raise NotImplementedError

    def csv_rows(self, row: R) -> Iterable[tuple[str, ...]]:
        """Return a row's lines of the CSV."""
        raise NotImplementedError

    def style(self, row: R) -> str:
        """Return the style of a row on the screen."""
        return ""

    # Selected rows

    def selected(self, shown: Shown, usual: str | None = None) -> list[R]:
        """Return the requested rows in the requested order, with their cumulative shares."""
        # The sort column may be missing: it can be chosen before it is known which columns a profile has.
        known = any(shown.sort.casefold() in (one.key.casefold(), one.title.casefold()) for one in self.columns)
        sort = shown.sort if known else self.usual_sort if usual is None else usual
        return summed(arranged(self._picked(shown.layer), self.columns, sort, shown.reverse, shown.text))

    def details(self, shown: Shown) -> list[LayerDetail]:
        """Return the details of the layers with the requested name: usually one, several if they share a weight."""
        return [LayerDetail(_title(row), self.detail(row)) for row in self.selected(shown)]

    def _picked(self, layer: str) -> Sequence[R]:
        """Return rows with that name or number, ignoring case only if no exact match exists; all rows for no name."""
        if not layer:
            return self.rows
        exact = [row for row in self.rows if f"{row.number or ''}" == layer or layer in self.names(row)]
        if exact:
            return exact
        every = [(row, [name for name in self.names(row) if name]) for row in self.rows]
        folded = layer.casefold()
        alike = [row for row, known in every if folded in (name.casefold() for name in known)]
        if alike:
            return alike
        near = dict.fromkeys(name for _, known in every for name in known if folded in name.casefold())
        raise UnknownLayer("unknown_layer", given=layer, similar=list(near)[:_NEAR])

    # Rows on the screen

    def keys(self, sort: str, reverse: bool, text: str, bar: str = "") -> tuple[str, ...]:
        """Return the keys of the layers in order, filtered by the words of `text` and by the bar `bar`."""
        rows = arranged(self.rows, self.columns, sort, reverse, text)
        if bar:
            rows = [row for row in rows if label_of(row.op) == bar]
        self._sums = {row.key: total for row, total in zip(rows, _sums(rows), strict=True)}
        return tuple(self._sums)

    def row(self, key: str) -> R:
        """Return a row with its cumulative share in the order last shown."""
        row = self._by_key[key]
        return _with_sum(row, self._sums[key]) if key in self._sums else row

    def name_of(self, key: str) -> str:
        """Return the name of a layer: the first line of its summary."""
        return self.brief(self.row(key))[0][0].strip() or key

    def line_of(self, row: R, *keys: str) -> Span:
        """Return some columns of a row as one line, each with its title."""
        # Without a known reason, state the value alone.
        said = [
            f"{column.title} {text}".removesuffix(f" because {UNKNOWN}")
            for column in self.columns
            if column.key in keys and (text := column.text(row)) not in ("", NONE)
        ]
        return f" {DOT.join(said)}", "dim"


def summed(rows: Sequence[R]) -> list[R]:
    """Return the rows with their cumulative shares in this order."""
    return [_with_sum(row, total) for row, total in zip(rows, _sums(rows), strict=True)]


def _with_sum(row: R, total: float) -> R:
    return row if row.share is None else replace(row, cumulative=total)


def _sums(rows: Iterable[R]) -> Iterator[float]:
    return accumulate(row.share or 0.0 for row in rows)


def top_rows(rows: Sequence[Any], shown: Shown) -> Sequence[Any]:
    """Return the requested number of rows."""
    return rows if shown.top is None else rows[: max(shown.top, 0)]


def _title(row: LayerLike) -> str:
    place = "Layer" if row.number is None else f"Layer {row.number}"
    return " ".join(filter(None, (f"{place}:", show(row.op, _MAX_CHARS), show(row.weight, _MAX_CHARS))))


# Depth


def over_depth(
    title: str,
    keys: Sequence[str],
    values: Sequence[float | None],
    unit: Callable[[float], str],
    display: str,
    total: float | None = None,
    others: Mapping[int, str] | None = None,
) -> Depth:
    """Return values, logarithms, or shares of `total`, by default of their sum; `others` are texts without a value."""
    total = math.fsum(value for value in values if value is not None) if total is None else total
    shown: list[float | None] = list(values)
    if display == SHARES and total:
        shown = [100 * value / total if value is not None else None for value in values]
        title = f"{title}, % of total"
    elif unit is percent:
        # Scale to percent, so that axis and texts agree.
        shown = [100 * value if value is not None else None for value in values]
        title = title if "%" in title else f"{title}, %"
    text = partial(_share, total) if display == SHARES and total else unit
    return Depth(title, tuple(keys), tuple(shown), _Texts(values, text, others or {}), display == LOG)


def _share(total: float, value: float) -> str:
    return percent(value / total)


class _Texts(Sequence[str]):
    """Formats a text on access: a model may have thousands of layers."""

    def __init__(self, values: Sequence[float | None], unit: Callable[[float], str], others: Mapping[int, str]) -> None:
        self._values, self._unit, self._others = values, unit, others

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        value = self._values[at]
        return self._others.get(at) or (UNKNOWN if value is None else self._unit(value))


Pair = tuple[str, str]
"""(label, value), both safe to print."""

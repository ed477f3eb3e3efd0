"""Columns of tables: declared once, laid out by content for the shell and by declared widths for the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, TypeVar

from tuibench.core.text import cut, cut_apart, cut_start, pad, show, to_ascii, width_of
from tuibench.core.units import percent_number

UNKNOWN, NONE = "unknown", "–"
"""Texts for a value that could not be found out, and for one that a row does not have."""
MAX_CHARS = 400
"""Most characters of a name in a cell."""
_GAP = "  "
_INDENT = "  "
_WIDEST = 60
"""Greatest width of a growing column on the screen."""

R = TypeVar("R")


def _nothing(_: Any) -> None:
    """Return no sort value: the rows keep their order."""


def _no_text(_: Any) -> str:
    """Return no text: every column of the row is shown."""
    return ""


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a screen, a report or an export."""

    key: str
    title: str
    width: int = 0
    """Width on the screen, where the rows are not all known; in the shell it follows from the content."""
    text: Callable[[R], str] = str
    """Return the cell's text."""
    _: KW_ONLY
    value: Callable[[R], float | str | None] = _nothing
    """Return the sort value of a row."""
    head: str = ""
    """Title on the screen, if it differs."""
    right: bool = False
    """True to align its cells to the right, as numbers are."""
    ascending: bool = False
    """True if the least value comes first; None always comes last."""
    rank: int = 0
    """0 is always shown in the shell; where space is short, the highest rank is dropped first."""
    least: int | None = None
    """Least width after a cut in the shell; None if it is never cut."""
    most: int | None = None
    """Greatest width where space is short; None for no limit."""
    middle: bool = False
    """True if it is cut in the middle, since both ends of a name matter."""
    start: bool = False
    """True if it is cut at the start in the shell, since the end of a path identifies it."""
    instead: Callable[[R], str] = _no_text
    """Return the text that takes the place of this column and of all behind it in the shell; '' for none."""
    shared: tuple[str, str] = ("", "")
    """Prefix and suffix common to all its cells, safe to print; the screen cuts them before the middle."""
    grow: bool = False
    """True if it takes a share of the screen's spare width."""
    wide: int = 0
    """Width used when all columns are shown and the screen's table scrolls sideways; 0 for `width`."""
    part: int = 0
    """Limits `wide` to 1/part of the table's width, so that the numbers behind the column are visible at once."""
    frozen: bool = False
    """True if it stays in place while the columns to its right scroll; for columns at the left."""
    hint: str = ""


def number_column(
    key: str, title: str, value: Callable[[R], float | None], text: Callable[[R], str], width: int = 5, **more: Any
) -> Column[R]:
    """Declare a column of numbers."""
    return Column(key, title, max(width, width_of(title)), text, value=value, right=True, **more)


def name_column(
    key: str, title: str, value: Callable[[R], str], text: Callable[[R], str] | None = None, width: int = 8, **more: Any
) -> Column[R]:
    """Declare a column of names; without `text` a cell is the name, safe to print."""
    texts = text if text is not None else lambda row: show(value(row), MAX_CHARS) or NONE
    return Column(key, title, max(width, width_of(title)), texts, value=value, ascending=True, **more)


def place_column(place: Callable[[R], int | None], text: Callable[[R], str], hint: str = "") -> Column[R]:
    """Declare the column of a layer's place in the model."""
    return number_column("number", "#", place, text, ascending=True, frozen=True, hint=hint)


def op_column(op: Callable[[R], str], least: int = 8) -> Column[R]:
    """Declare the column of a layer's operator."""
    return name_column(
        "op", "op", op, lambda row: show(op(row), 80), 12,
        least=least, most=16, grow=True, wide=24, part=6, frozen=True,
    )  # fmt: skip


def weight_column(weight: Callable[[R], str], text: Callable[[R], str] | None = None, least: int = 16) -> Column[R]:
    """Declare the column of the weight that identifies a layer."""
    return name_column("weight", "weight", weight, text, 14, least=least, middle=True, grow=True, wide=48, part=3)


def node_column(node: Callable[[R], str], rank: int) -> Column[R]:
    """Declare the column of a layer's node."""
    return name_column("name", "node", node, None, 14, rank=rank, least=16, middle=True, grow=True, wide=48)


def shapes_column(shapes: Callable[[R], str], rank: int) -> Column[R]:
    """Declare the column of a layer's shapes."""
    return name_column("shapes", "shapes", shapes, shapes, 24, rank=rank, least=24, wide=48)


def reason_column(key: str, title: str, reason: Callable[[R], str], rank: int) -> Column[R]:
    """Declare the column of the reason for missing values."""
    return name_column(key, title, reason, reason, 20, rank=rank, least=12, grow=True, wide=40)


def percent_text(value: float | None) -> str:
    """Return a share for a column of per cent."""
    return NONE if value is None else percent_number(value)


# Rows


def column_of(columns: Sequence[Column[R]], key: str) -> Column[R] | None:
    """Return the column with this key or title, ignoring case; None if there is none."""
    wanted = key.casefold()
    return next((column for column in columns if wanted in (column.key.casefold(), column.title.casefold())), None)


def ordered(rows: Iterable[R], column: Column[R] | None, reverse: bool = False) -> list[R]:
    """Return the rows sorted by a column; rows without a value come last, equal ones keep their order."""
    if column is None:
        return list(rows)
    pairs = [(column.value(row), row) for row in rows]
    known = [(_comparable(value), row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.ascending == reverse)
    return [row for _, row in known] + [row for value, row in pairs if value is None]


@dataclass(frozen=True, slots=True)
class LayerLike:
    """The common part of the rows of all tables of layers."""

    key: str
    """The id within the profile."""
    op: str
    weight: str
    """The name of its weight."""
    number: int | None
    """The place in the model, from 1; None for work that belongs to no node of the model."""
    searched: str
    """The text that a filter searches, in lower case."""
    _: KW_ONLY
    share: float | None = None
    """The share of the whole model; None if unknown."""
    cumulative: float | None = None
    """The share of this row and all rows above it, in the order shown."""


L = TypeVar("L", bound=LayerLike)


def arranged(
    rows: Sequence[L], columns: Sequence[Column[L]], sort: str, reverse: bool = False, text: str = ""
) -> list[L]:
    """Return the rows that contain every word of a text, sorted by a column; an unknown one keeps the old order."""
    words = text.casefold().split()
    kept = [row for row in rows if all(word in row.searched for word in words)] if words else rows
    return ordered(kept, column_of(columns, sort), reverse)


def _comparable(value: float | str) -> tuple[int, float, str]:
    """Return a sort key for numbers and words in one column; NaN sorts below all numbers."""
    if isinstance(value, str):
        return 1, 0.0, value.casefold()
    return (0, value, "") if value == value else (0, float("-inf"), "")


# Shell


def table_lines(columns: Sequence[Column[R]], rows: Iterable[R], width: int | None) -> list[str]:
    """Return a line of titles and one per row; `width` None cuts nothing, for pipes."""
    listed = list(rows)
    texts = [[column.title, *map(column.text, listed)] for column in columns]
    # Drop optional columns without any text.
    kept = [i for i, column in enumerate(columns) if column.rank == 0 or any(texts[i][1:])]
    natural = {i: max(map(width_of, texts[i])) for i in kept}
    widths = dict(natural) if width is None else _shrunk(columns, kept, natural, width)
    last = max(widths)
    cells = [_cells(columns[i], texts[i], widths[i], natural[i], pads=i != last) for i in widths]
    lines = [_GAP.join(line).rstrip() for line in zip(*cells, strict=True)]
    for place, i in enumerate(widths):
        for number, row in enumerate(listed, 1):
            if said := columns[i].instead(row):
                left = "".join(cells[each][number] + _GAP for each in range(place))
                lines[number] = left + (said if width is None else cut(said, width - width_of(left)))
    return lines


def _shrunk(columns: Sequence[Column[R]], kept: list[int], natural: dict[int, int], width: int) -> dict[int, int]:
    """Drop columns of the highest rank until the rest fits, then shorten the widest ones, down to their least width."""
    least = {i: natural[i] if (floor := columns[i].least) is None else min(floor, natural[i]) for i in kept}

    def excess(widths: dict[int, int]) -> int:
        return sum(widths.values()) + len(_GAP) * (len(widths) - 1) - width

    while excess(least) > 0 and (able := [i for i in least if columns[i].rank]):
        del least[max(able, key=lambda i: columns[i].rank)]
    widths = {i: natural[i] for i in least}
    for _ in range(excess(widths)):
        if not (able := [i for i in widths if widths[i] > least[i]]):
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _cells(column: Column[R], texts: list[str], width: int, natural: int, pads: bool) -> list[str]:
    if width < natural:
        shorten = cut_start if column.start else cut
        texts = cut_apart(texts, width) if column.middle else [shorten(text, width) for text in texts]
    return [pad(text, width, column.right) for text in texts] if pads or column.right else texts


# Screen


@dataclass(frozen=True, slots=True)
class Layout:
    """Indexes of the shown columns with their widths, and the titles of the dropped ones."""

    shown: tuple[tuple[int, int], ...]
    dropped: tuple[str, ...]

    @property
    def width(self) -> int:
        """Width of a line in terminal columns, with one blank between two table columns."""
        return _width(self.shown)

    def frozen(self, columns: Sequence[Column[Any]], room: int) -> int:
        """Return how many shown columns stay in place while the others scroll; 0 if they would fill half of `room`."""
        count = next((n for n, (i, _) in enumerate(self.shown) if not columns[i].frozen), len(self.shown))
        return count if 2 * _width(self.shown[:count]) < room else 0


def _width(shown: Sequence[tuple[int, int]]) -> int:
    return sum(width for _, width in shown) + max(len(shown) - 1, 0)


def lay_out(columns: Sequence[Column[Any]], room: int, wide: bool = False) -> Layout:
    """Fit columns into `room` by their declared widths; with `wide`, keep all of them at any total width."""
    kept = list(range(len(columns)))
    widths = [max(c.width, _wide(c, room) if wide else 0) for c in columns]
    # Of equal ranks, drop the rightmost first.
    while not wide and len(kept) > 1 and sum(widths[i] for i in kept) + len(kept) - 1 > room:
        kept.remove(max(kept, key=lambda i: (columns[i].rank, i)))
    if len(kept) == 1 and not wide:
        widths[kept[0]] = min(widths[kept[0]], max(room, 0))
    room -= sum(widths[i] for i in kept) + max(len(kept) - 1, 0)
    growing = [i for i in kept if columns[i].grow]
    for left, i in zip(range(len(growing), 0, -1), growing, strict=True):
        added = max(min(room // left, _WIDEST - widths[i]), 0)
        widths[i] += added
        room -= added
    dropped = tuple(c.head or c.title or c.key for i, c in enumerate(columns) if i not in kept)
    return Layout(tuple((i, widths[i]) for i in kept), dropped)


def _wide(column: Column[Any], room: int) -> int:
    return min(column.wide, room // column.part) if column.part else column.wide


def wrap_lines(lines: Iterable[str], width: int | None) -> list[str]:
    """Break lines between words where a terminal would break inside of them; None leaves them unchanged."""
    if width is None:
        return list(lines)
    import textwrap  # 2 ms, needed on a terminal only

    wrapper = textwrap.TextWrapper(
        max(width, 2 * len(_INDENT)), subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
    # A percent sign stays with its number.
    parts = (wrapper.wrap(line.replace(" %", "\xa0%")) if len(line) > width else [line] for line in lines)
    return [line.replace("\xa0%", " %") for part in parts for line in part]


def as_text(lines: Iterable[str], ascii_only: bool = False) -> str:
    """Return lines as one text, each with a line end."""
    text = "".join(f"{line}\n" for line in lines)
    return to_ascii(text) if ascii_only else text

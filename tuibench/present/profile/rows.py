"""The selected rows of a profile, and all details of one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tuibench.core.errors import UsageError
from tuibench.core.profile import CostProfile, LossProfile, PerformanceProfile
from tuibench.core.text import show
from tuibench.core.text import wrapped as by_columns
from tuibench.core.units import count_of
from tuibench.present.plots.bars import draw_bars
from tuibench.present.plots.drawing import text_of
from tuibench.present.profile.costs import Column, CostRow, arrange_costs, column_of, cost_rows
from tuibench.present.profile.detail import Pair, cost_detail, layer_detail, loss_detail
from tuibench.present.profile.layers import LayerRow, arrange, layer_rows
from tuibench.present.profile.loss import LossRow, arrange_losses, loss_columns, loss_rows
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import Summary
from tuibench.present.table import Column as Laid
from tuibench.present.table import fit, lay_out, to_ascii

R = TypeVar("R")
_NEAR = 5
_LONGEST = 80


class UnknownLayer(UsageError):
    """No layer of the profile has that name."""


def cut(rows: Sequence[R], shown: Shown) -> Sequence[R]:
    """Return the requested number of rows."""
    return rows if shown.top is None else rows[: max(shown.top, 0)]


@dataclass(frozen=True, slots=True)
class LayerDetail:
    """One layer with all its details, safe to print."""

    title: str
    pairs: tuple[Pair, ...]


def shown_layers(
    measured: PerformanceProfile, costs: CostProfile | None, shown: Shown, usual: str = "ms"
) -> tuple[LayerRow, ...]:
    """Return the selected rows of a performance profile, in the requested order."""
    named = {node.id: node.name for node in costs.nodes} if costs is not None else {}

    def names(row: LayerRow) -> Iterator[str]:
        yield from (row.layer.key, row.layer.weight)
        for node in row.layer.nodes:
            yield from (node, named.get(node, ""))

    rows = _picked(layer_rows(measured, costs), shown.layer, lambda row: row.number, names)
    return arrange(rows, shown.sort or usual, shown.reverse, shown.text)


def shown_costs(costs: CostProfile, shown: Shown, usual: str = "flops") -> tuple[CostRow, ...]:
    """Return the selected rows of a FLOPS profile."""
    rows = _picked(
        cost_rows(costs),
        shown.layer,
        lambda row: row.number,
        lambda row: (row.node.id, row.node.name, row.node.weight),
    )
    return arrange_costs(rows, shown.sort or usual, shown.reverse, shown.text)


def shown_losses(loss: LossProfile, shown: Shown, usual: str = "worst") -> tuple[LossRow, ...]:
    """Return the selected rows of a loss profile, measured or approximated."""
    columns = loss_columns(loss)
    rows = _picked(
        loss_rows(loss),
        shown.layer,
        lambda row: row.number,
        lambda row: (row.layer.id, row.layer.name, row.layer.weight),
    )
    # The sort column may be missing: it can be chosen before it is known whether outputs look like classes.
    sort = shown.sort if column_of(columns, shown.sort) else usual
    return arrange_losses(rows, columns, sort, shown.reverse, shown.text)


def layer_details(measured: PerformanceProfile, costs: CostProfile | None, shown: Shown) -> list[LayerDetail]:
    """Return the details of the layers with the requested name: usually one, several if they share a weight."""
    return [
        LayerDetail(_title(row.number, row.layer.op, row.layer.weight), layer_detail(measured, row, costs))
        for row in shown_layers(measured, costs, shown)
    ]


def cost_details(costs: CostProfile, shown: Shown) -> list[LayerDetail]:
    """Return the details of the nodes of a FLOPS profile with the requested name."""
    return [
        LayerDetail(_title(row.number, row.node.op, row.node.weight), cost_detail(row))
        for row in shown_costs(costs, shown)
    ]


def loss_details(loss: LossProfile, shown: Shown) -> list[LayerDetail]:
    """Return the details of the layers of a loss profile with the requested name."""
    return [
        LayerDetail(_title(row.number, row.layer.op, row.layer.weight), loss_detail(loss, row))
        for row in shown_losses(loss, shown)
    ]


def _title(number: int | None, op: str, weight: str) -> str:
    place = "Layer" if number is None else f"Layer {number}"
    return " ".join(filter(None, (f"{place}:", show(op, _LONGEST), show(weight, _LONGEST))))


def _picked(
    rows: Sequence[R], layer: str, number: Callable[[R], int | None], names: Callable[[R], Iterable[str]]
) -> Sequence[R]:
    """Return the rows with that name or number, ignoring case only if no exact match exists; all rows for no name."""
    if not layer:
        return rows
    exact = [row for row in rows if _is_number(number(row), layer) or layer in names(row)]
    if exact:
        return exact
    every = [(row, [name for name in names(row) if name]) for row in rows]
    folded = layer.casefold()
    alike = [row for row, known in every if folded in (name.casefold() for name in known)]
    if alike:
        return alike
    near = dict.fromkeys(name for _, known in every for name in known if folded in name.casefold())
    some = ", ".join(show(name, 60) for name in list(near)[:_NEAR])
    hint = f"such as {some}" if near else "it is called by its number (#), a node that it is made of, or its weight"
    raise UnknownLayer(f"no layer is called '{show(layer, 60)}'", hint)


def _is_number(number: int | None, layer: str) -> bool:
    return number is not None and str(number) == layer


@dataclass(frozen=True, slots=True)
class ProfileHeading:
    """The known names of a profile and its model."""

    name: str = ""
    id: str = ""
    model: str = ""
    started: str = ""
    note: str = ""


def heading_lines(heading: ProfileHeading) -> list[str]:
    """Return the heading as lines, without unknown parts."""
    name, short = show(heading.name), show(heading.id)
    named = f"{name} ({short})" if name and short else name or short
    pairs = (
        ("Profile", named),
        ("Model", show(heading.model, 4096)),
        ("Started", show(heading.started)),
        ("Note", show(heading.note, 4096)),
    )
    return [f"{label}: {value}" for label, value in pairs if value]


_MOST_BARS = 12
_WIDE = 100
"""Terminal width from which more than the narrow table is shown."""
_NARROWEST = 20
_LABEL = 22


def layer_table(columns: Sequence[Column[R]], rows: Sequence[R], width: int, narrow: int) -> list[str]:
    """Return a line of titles and one per row; below 100 columns only the first `narrow` columns."""
    shown = columns if width >= _WIDE else columns[:narrow]
    laid = [Laid(each.title, each.right, each.least, each.rank, each.middle) for each in shown]
    limits = [each.most if width < _WIDE else None for each in shown]
    texts = [[_limited(each.text(row), most) for each, most in zip(shown, limits, strict=True)] for row in rows]
    return lay_out(laid, texts, width)


def _limited(text: str, most: int | None) -> str:
    return text if most is None else fit(text, most)


def bar_lines(bars: Sequence[tuple[str, float, str]], width: int, ascii_only: bool) -> list[str]:
    """Return one line per (label, length, text) up to a limit, then the number of the others."""
    more = len(bars) - _MOST_BARS
    rest = [f"and {count_of(more, 'more operator')}"] if more > 0 else []
    return [*text_of(draw_bars(bars[:_MOST_BARS], width, ascii_only)).splitlines(), *rest]


def summed_lines(found: Summary, shown: Shown) -> list[str]:
    """Return the bars of a summary with its notes; without bars, the reason."""
    words = [line for each in found.words for line in wrapped(each, shown.width)]
    bars = [(bar.label, bar.length, bar.text) for bar in found.bars]
    if not bars and not words:
        return [f"{found.title}: none"]
    return [f"{found.title}:", *bar_lines(bars, shown.width, shown.ascii_only), *words]


def detail_lines(details: Sequence[LayerDetail], heading: ProfileHeading, shown: Shown) -> list[str]:
    """Return layers one after the other, each with a line per detail."""
    kept = cut(details, shown)
    lines = heading_lines(heading)
    for each in kept:
        lines += ["", each.title, *(line for pair in each.pairs for line in _pair_lines(*pair, shown.width))]
    return finished([*lines, *left_out(len(kept), len(details), "--top N")], shown.ascii_only)


def _pair_lines(label: str, value: str, width: int) -> list[str]:
    """Return a label, and beside it the value on as many lines as it needs."""
    room = max(width - _LABEL - 2, _NARROWEST)
    first, *more = by_columns(value, room) or [""]
    return [f"  {label:<{_LABEL}}{first}", *(f"{'':<{_LABEL + 2}}{line}" for line in more)]


def results_title(shown: Shown, what: str = "") -> str:
    """Return the title of the table of layers, with its filter."""
    return f"Layer results{what}" + (f" with '{show(shown.text, 60)}'" if shown.text else "")


def nothing_words(shown: Shown) -> str:
    """Return the words in place of a table without rows."""
    return "No layer holds that text" if shown.text else "There is no layer to show"


def left_out(shown: int, of: int, how: str) -> list[str]:
    """Return a line about the rows that are not shown, and how to see them."""
    return [f"{of - shown} more rows ({how})"] if shown < of else []


def wrapped(text: str, width: int) -> list[str]:
    """Return a sentence on as many lines as it needs, all but the first indented."""
    # Keep a number and its per cent sign on one line.
    whole = text.replace(" %", "\u00a0%")
    lines = by_columns(whole, max(width, _NARROWEST), "  ")
    return [line.replace("\u00a0", " ") for line in lines] or [""]


def finished(lines: Sequence[str], ascii_only: bool) -> list[str]:
    """Return the lines, in ASCII if requested."""
    return [to_ascii(line) for line in lines] if ascii_only else list(lines)


def capital(text: str) -> str:
    """Return a sentence with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"

"""The selected rows of a profile, and all details of one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tuibench.core.errors import UsageError
from tuibench.core.profile import CostProfile, LossProfile, PerformanceProfile
from tuibench.core.text import show
from tuibench.insight.column import column_of
from tuibench.insight.cost import CostRow, arrange_costs, cost_rows
from tuibench.insight.detail import Pair, cost_detail, layer_detail, loss_detail
from tuibench.insight.layer import LayerRow, arrange, layer_rows
from tuibench.insight.loss import LossRow, arrange_losses, loss_columns, loss_rows
from tuibench.report.profile_shown import Shown

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

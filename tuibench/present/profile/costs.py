"""Nodes of the FLOPS profile as rows: costs by shapes, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tuibench.core.profile import LEFT_OUT, NODES, CostProfile, NodeCost
from tuibench.core.profile_facts import HEAVY
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short, size

UNKNOWN, NONE = "unknown", "–"
"""Texts for a value that could not be found out, and for one that a row does not have."""


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a screen, a report or an export."""

    key: str
    title: str
    value: Callable[[R], float | str | None]
    """Return the sort value of a row."""
    text: Callable[[R], str]
    """Return the cell's text, safe to print."""
    right: bool = True
    ascending: bool = False
    """True if the least value comes first; None always comes last."""
    rank: int = 0
    """0 is always shown; where space is short, the highest rank is dropped first."""
    least: int | None = None
    """Least width after a cut, in terminal columns; None if it is never cut."""
    middle: bool = False
    """True if it is cut in the middle, since both ends of a name matter."""
    most: int | None = None
    """Greatest width where space is short; None for no limit."""
    hint: str = ""


def column_of(columns: Sequence[Column[R]], key: str) -> Column[R] | None:
    """Return the column with this key or title, ignoring case; None if there is none."""
    wanted = key.casefold()
    return next((column for column in columns if wanted in (column.key.casefold(), column.title.casefold())), None)


def ordered(rows: Iterable[R], column: Column[R], reverse: bool = False) -> list[R]:
    """Return the rows sorted by a column; rows without a value come last, equal ones keep their order."""
    pairs = [(column.value(row), row) for row in rows]
    known = [(_comparable(value), row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=column.ascending == reverse)
    return [row for _, row in known] + [row for value, row in pairs if value is None]


def found(rows: Iterable[R], text: str, searched: Callable[[R], str]) -> list[R]:
    """Return the rows that contain every word of a text."""
    words = text.casefold().split()
    return [row for row in rows if all(word in searched(row) for word in words)] if words else list(rows)


def _comparable(value: float | str) -> tuple[int, float, str]:
    """Return a sort key for numbers and words in one column; NaN sorts below all numbers."""
    if isinstance(value, str):
        return 1, 0.0, value.casefold()
    return (0, value, "") if value == value else (0, float("-inf"), "")


_LONGEST = 400
_ONE_TURN = "+ of one time: how often is not known"


@dataclass(frozen=True, slots=True)
class CostRow:
    """One node; repeated work counts each time if the number of times is known."""

    node: NodeCost
    number: int
    """Position in the file, from 1."""
    share: float | None
    """Share of the model's known operations."""
    cumulative: float | None = None
    """Share of this row and all rows above it, in the order shown."""
    searched: str = ""

    @property
    def is_heavy(self) -> bool:
        """True if it has more than a tenth of the operations."""
        return self.share is not None and self.share > HEAVY

    @property
    def macs(self) -> int | None:
        """Multiply-accumulates in one inference."""
        return self.node.macs

    @property
    def flops(self) -> int | None:
        """Operations in one inference."""
        return self.node.flops

    @property
    def bytes_moved(self) -> int | None:
        """Bytes of weights and activations in one inference."""
        return self.node.bytes_moved

    @property
    def zeros(self) -> float | None:
        """Share of its parameters that are zero; None if it has no parameters."""
        return self.node.zeros / self.node.parameters if self.node.parameters else None


def cost_rows(costs: CostProfile) -> tuple[CostRow, ...]:
    """Return all nodes in the order of the file."""
    counted = [node.flops for node in costs.nodes]
    total = sum(flops or 0 for flops in counted)
    return tuple(
        CostRow(node, number, flops / total if flops is not None and total else None, searched=_searched(node))
        for number, (node, flops) in enumerate(zip(costs.nodes, counted, strict=True), 1)
    )


def arrange_costs(
    rows: Iterable[CostRow], sort: str = "flops", reverse: bool = False, text: str = ""
) -> tuple[CostRow, ...]:
    """Return the rows that contain a text, sorted by a column, each with its cumulative share.

    An unknown column leaves the order as it is.
    """
    total, shown = 0.0, []
    for row in choose_costs(rows, sort, reverse, text):
        total += row.share or 0.0
        shown.append(with_sum(row, total))
    return tuple(shown)


def choose_costs(rows: Iterable[CostRow], sort: str, reverse: bool, text: str) -> Sequence[CostRow]:
    """Return the same rows without cumulative shares, which only the visible ones of thousands need."""
    column = column_of(COST_COLUMNS, sort)
    kept = found(rows, text, lambda row: row.searched)
    return ordered(kept, column, reverse) if column is not None else kept


def with_sum(row: CostRow, total: float) -> CostRow:
    """Return the row with its cumulative share."""
    return replace(row, cumulative=total if row.share is not None else None)


def _searched(node: NodeCost) -> str:
    return f"{node.op} {node.name} {node.weight} {node.id}".casefold()


def _count(pick: Callable[[CostRow], int | None], unit: Callable[[float], str] = scaled) -> Callable[[CostRow], str]:
    def text(row: CostRow) -> str:
        value = pick(row)
        return UNKNOWN if value is None else unit(value) + ("+" if row.node.times is None and value else "")

    return text


def _percent(value: float | None) -> str:
    return NONE if value is None else percent(value).removesuffix(" %")


def shape_words(shape: tuple[int, ...] | None) -> str:
    """Return a shape as text."""
    return UNKNOWN if shape is None else "x".join(map(str, shape)) or "scalar"


def shapes_words(node: NodeCost) -> str:
    """Return the shapes of the first inputs and of the first output."""
    return " ".join(shape_words(shape) for shape in node.input_shapes[:4]) + f" > {shape_words(node.output_shape)}"


def _why(row: CostRow) -> str:
    words = [row.node.why] if row.node.why else []
    return show("; ".join([*words, *([_ONE_TURN] if row.node.times is None and row.node.why != LEFT_OUT else [])]), 200)


COST_COLUMNS: tuple[Column[CostRow], ...] = (
    Column("number", "#", lambda row: row.number, lambda row: f"{'*' if row.is_heavy else ''}{row.number}",
           ascending=True, hint="place in the file; * above 10 %"),
    Column("op", "op", lambda row: row.node.op, lambda row: show(row.node.op, 80), False, True, least=8, most=16),
    Column("weight", "weight", lambda row: row.node.weight, lambda row: show(row.node.weight, _LONGEST) or NONE, False,
           True, least=16, middle=True),
    Column("macs", "MACs", lambda row: row.macs, _count(lambda row: row.macs), hint="multiply-accumulates"),
    Column("flops", "FLOPs", lambda row: row.flops, _count(lambda row: row.flops),
           hint="2 × MACs + element-wise operations"),
    Column("share", "%", lambda row: row.share, lambda row: _percent(row.share), hint="of the operations known"),
    Column("cumulative", "cum %", lambda row: row.cumulative, lambda row: _percent(row.cumulative),
           hint="of this row and all above it"),
    Column("params", "params", lambda row: row.node.parameters, _count(lambda row: row.node.parameters),
           hint="shared ones once"),
    Column("bytes", "bytes", lambda row: row.bytes_moved, _count(lambda row: row.bytes_moved, size), rank=1,
           hint="weights and activations"),
    Column("intensity", "FLOP/B", lambda row: row.node.intensity,
           lambda row: NONE if row.node.intensity is None else short(row.node.intensity), rank=2,
           hint="operations per byte moved"),
    Column("zeros", "zeros %", lambda row: row.zeros, lambda row: _percent(row.zeros), rank=3),
    Column("name", "node", lambda row: row.node.name, lambda row: show(row.node.name, _LONGEST) or NONE, False, True,
           rank=4, least=16, middle=True),
    Column("shapes", "shapes", lambda row: shapes_words(row.node), lambda row: shapes_words(row.node), False, True,
           rank=5, least=24),
    Column("why", "unknown because", _why, _why, False, True, rank=6, least=12),
)  # fmt: skip
"""A terminal of 80 columns shows the first eight."""


_Pick = Callable[[NodeCost], int | None]


def is_counted(costs: CostProfile) -> bool:
    """Return whether nodes were counted; if not, there are no nodes and no shapes.

    A model without nodes is counted, and costs nothing.
    """
    return bool(costs.nodes or costs.shapes_from)


def macs_words(costs: CostProfile) -> str:
    """Return the multiply-accumulates of all nodes."""
    return _sum(costs, costs.macs, lambda node: node.macs)


def flops_words(costs: CostProfile) -> str:
    """Return the operations of all nodes."""
    return _sum(costs, costs.flops, lambda node: node.flops)


def element_words(costs: CostProfile) -> str:
    """Return the operations on single elements of all nodes."""
    return _sum(costs, costs.element_flops, lambda node: node.element_flops)


def activation_words(costs: CostProfile) -> str:
    """Return the bytes that all nodes read and write, without constants."""
    return _sum(costs, costs.activation_bytes, lambda node: node.activation_bytes, size)


def unknown_words(costs: CostProfile) -> str:
    """Return how many nodes have unknown figures, with the first reason; '' if all are known."""
    parts = list(_missing(costs))
    if not parts:
        return ""
    unknown = [node for node in costs.nodes if node.why and None in (node.flops, node.activation_bytes, node.times)]
    reason = next((f"{show(node.op, 40)}: {show(node.why, 200)}" for node in unknown), "")
    return ", ".join(parts) + (f" ({reason})" if reason else "")


def _missing(costs: CostProfile) -> Iterator[str]:
    kinds: tuple[tuple[str, _Pick], ...] = (
        ("operations", lambda node: node.flops),
        ("bytes", lambda node: node.activation_bytes),
    )
    for name, pick in kinds:
        if missing := sum(pick(node) is None for node in costs.nodes):
            yield f"{name} of {count_of(missing, 'node')}"
    once = sum(node.times is None for node in costs.nodes)
    # If the limit on nodes was reached, its own words cover calls that were counted in part.
    if once and (costs.bound is None or costs.bound.code != NODES):
        yield f"how often {count_of(once, 'node')} {'runs' if once == 1 else 'run'}"


def _sum(costs: CostProfile, total: int, pick: _Pick, unit: Callable[[float], str] = scaled) -> str:
    """Return a total, with "at least" if it is incomplete; a node that runs an unknown number of times counts once."""
    if not is_counted(costs):
        return UNKNOWN
    exact = costs.bound is None and all(pick(node) is not None and node.times is not None for node in costs.nodes)
    if exact:
        return unit(total)
    return f"at least {unit(total)}" if total else UNKNOWN

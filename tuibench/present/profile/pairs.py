"""Pairs of layers of two profiles as the screen shows them: columns, search text and all facts of a pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tuibench.core.profile import INT8, Profile
from tuibench.core.units import ms, percent, short, table_ms
from tuibench.present.column import Column
from tuibench.present.profile.comparison import LayerPair, LossComparison, LossPair, ProfileComparison, compare_profiles
from tuibench.present.profile.loss import HARM
from tuibench.present.profile.view import Fact
from tuibench.present.reason import reason_words

_NONE = "-"
_MOST_NODES = 40
Numbered = tuple[int, Any]
"""A pair with its place, from 1."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The content of a comparison page; texts of pairs are made when they are asked for."""

    head: str
    """The models as a whole."""
    words: tuple[str, ...]
    """Other differences between the two."""
    columns: tuple[Column[Numbered], ...]
    rows: tuple[Numbered, ...]
    """The greatest difference first."""
    searched: tuple[str, ...]
    """Search text of each pair."""
    facts: Callable[[Any], list[Fact]]
    """Returns all facts of a pair."""

    def find(self, text: str) -> list[str]:
        """Return the keys of pairs that contain all words of a text; a key is an index."""
        words = text.casefold().split()
        return [str(n) for n, one in enumerate(self.searched) if all(word in one for word in words)]


def pairs_of(old: Profile, new: Profile, environment: Sequence[str]) -> Pairs | None:
    """Return the pairs of two profiles; None if they are of different kinds or empty."""
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        ratio = f", ratio {short(found.ratio)}" if found.ratio is not None else ""
        whole = f"{_ms(found.old_ms.value)} → {_ms(found.new_ms.value)}{ratio}"
        head = f"one batch {whole}; layers are matched by their nodes"
        columns = (*_named(12, 14, found.pairs), *_TIMES)
        return _pairs(head, found.words, columns, found.pairs, lambda pair: pair.nodes, _time_facts)
    return None if found is None else _losses(found)


def _losses(found: LossComparison) -> Pairs:
    # INT8 figures are small and need more digits.
    levels = (
        _column(
            level, level.removeprefix("pruned "), 11 if level == INT8 else 9,
            partial(_noises, level), right=True, rank=n, wide=11,
        )
        for n, level in enumerate(found.levels)
    )  # fmt: skip

    def facts(pair: LossPair) -> list[Fact]:
        noises = [(level, _noises(level, pair), "") for level in found.levels]
        return [("operator", pair.op, "title"), ("weight", pair.weight or "none", ""), ("node", pair.id, ""), *noises]

    head = "noise / signal in %, old and new, where one layer is changed"
    words = (*([found.unlike] if found.unlike else []), *found.words)
    columns = (*_named(7, 13, found.pairs), *levels)
    return _pairs(head, words, columns, found.pairs, lambda pair: (pair.id,), facts)


def _pairs(
    head: str,
    words: tuple[str, ...],
    columns: tuple[Column[Numbered], ...],
    pairs: Sequence[LayerPair | LossPair],
    nodes: Callable[[Any], Sequence[str]],
    facts: Callable[[Any], list[Fact]],
) -> Pairs:
    searched = tuple("\n".join((pair.op, pair.weight, *nodes(pair))).casefold() for pair in pairs)
    return Pairs(head, words, columns, tuple(enumerate(pairs, 1)), searched, facts)


def _column(key: str, title: str, width: int, text: Callable[[Any], str], **more: Any) -> Column[Numbered]:
    return Column(key, title, width, lambda row: text(row[1]), **more)


def _named(op: int, weight: int, pairs: Sequence[LayerPair | LossPair]) -> tuple[Column[Numbered], ...]:
    """Return the columns that identify a pair; the first two stay visible while scrolling."""
    shared = shared_ends([pair.weight for pair in pairs])
    return (
        Column("number", "#", 4, lambda row: str(row[0]), right=True, frozen=True),
        _column("op", "op", op, lambda pair: pair.op, grow=True, wide=24, part=6, frozen=True),
        _column(
            "weight", "weight", weight, lambda pair: pair.weight or _NONE,
            grow=True, wide=48, part=3, middle=True, shared=shared,
        ),
    )  # fmt: skip


def shared_ends(names: Sequence[str]) -> tuple[str, str]:
    """Return the longest prefix and suffix of parts common to all names, which a table may drop."""
    some = [parts for name in names if (parts := name.split(".")) != [""]]
    if len(some) < 2:
        return "", ""
    least = min(map(len, some)) - 1
    first = next((n for n in range(least) if len({parts[n] for parts in some}) > 1), least)
    last = next((n for n in range(least - first) if len({parts[-1 - n] for parts in some}) > 1), least - first)
    one = some[0]
    return "".join(f"{part}." for part in one[:first]), "".join(f".{part}" for part in one[len(one) - last :])


_TIMES = (
    _column("old", "old ms", 7, lambda pair: _table_ms(pair.old_ms.value), right=True),
    _column("new", "new ms", 7, lambda pair: _table_ms(pair.new_ms.value), right=True),
    _column("delta", "differs", 8, lambda pair: _signed(pair.delta_ms), right=True),
    _column("ratio", "ratio", 6, lambda pair: _NONE if pair.ratio is None else short(pair.ratio), right=True),
    _column("clear", "clear", 5, lambda pair: {True: "yes", False: "no", None: _NONE}[pair.is_clear], rank=1),
)


def _time_facts(pair: LayerPair) -> list[Fact]:
    found: list[Fact] = [("operator", pair.op, "title"), ("weight", pair.weight or "none", "")]
    for name, estimate, rows in (("old", pair.old_ms, pair.old), ("new", pair.new_ms, pair.new)):
        near = f" ±{percent(estimate.half_width)}" if estimate.half_width is not None else ""
        told = (
            f"{_ms(estimate.value)}{near}" if estimate.value is not None else reason_words(estimate.reason) or "no time"
        )
        kernels = ", ".join(row.kernel_op for row in rows if row.kernel_op)
        found.append((name, f"{told}{f' ({kernels})' if kernels else ''}", ""))
    return [*found, *(("node", one, "") for one in pair.nodes[:_MOST_NODES])]


def _signed(delta: float | None) -> str:
    if delta is None:
        return _NONE
    text = table_ms(delta)
    return f"{'+' if delta > 0 else ''}{text}" if float(text) else "0"


def _noises(level: str, pair: LossPair) -> str:
    return " ".join(
        _NONE if value is None else HARM if value == math.inf else f"{100 * value:.2g}" for value in pair.noise[level]
    )


def _table_ms(value: float | None) -> str:
    return _NONE if value is None else table_ms(value)


def _ms(value: float | None) -> str:
    return "unknown" if value is None else ms(value)

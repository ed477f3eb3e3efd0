"""Pairs of layers of two profiles as table lines: both values and their difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tuibench.core.profile import INT8, Profile
from tuibench.core.units import ms, percent, short, table_ms
from tuibench.insight.comparison import LayerPair, ProfileComparison
from tuibench.insight.loss import HARM
from tuibench.insight.loss_comparison import LossComparison, LossPair
from tuibench.insight.two_profiles import compare_profiles
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.widgets.record_table import Column, Line
from tuibench.tui.widgets.row import safe

_NONE = "-"


@dataclass(frozen=True, slots=True)
class Pairs:
    """The content of a comparison page."""

    head: str
    """The models as a whole."""
    words: tuple[str, ...]
    """Other differences between the two."""
    columns: tuple[Column, ...]
    searched: tuple[str, ...]
    """Search text of each pair, the greatest difference first."""
    cells: Callable[[int], tuple[str, ...]]
    """Returns the cells of the pair at an index; only visible pairs are formatted."""
    facts: Callable[[int], list[Fact]]
    """Returns all facts of a pair."""

    def find(self, text: str) -> list[str]:
        """Return the keys of pairs that contain all words of a text; a key is an index."""
        words = text.casefold().split()
        return [str(n) for n, one in enumerate(self.searched) if all(word in one for word in words)]

    def line(self, key: str) -> Line:
        """Return one pair as a line of the table."""
        return Line(key, (str(int(key) + 1), *self.cells(int(key))))


def pairs_of(old: Profile, new: Profile, environment: Sequence[str], glyphs: Glyphs) -> Pairs | None:
    """Return the pairs of two profiles; None if they are of different kinds or empty."""
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        return _times(found, glyphs)
    return _losses(found) if found is not None else None


def _times(found: ProfileComparison, glyphs: Glyphs) -> Pairs:
    columns = (
        *_named(12, 14, found.pairs),
        Column("old", "old ms", 7, right=True),
        Column("new", "new ms", 7, right=True),
        Column("delta", "differs", 8, right=True),
        Column("ratio", "ratio", 6, right=True),
        Column("clear", "clear", 5, rank=1),
    )
    whole = f"{_ms(found.old_ms.value)} {glyphs.to} {_ms(found.new_ms.value)}"
    ratio = f", ratio {short(found.ratio)}" if found.ratio is not None else ""
    pairs = found.pairs
    return Pairs(
        head=f"one batch {whole}{ratio}; layers are matched by their nodes",
        words=found.words,
        columns=columns,
        searched=tuple(_searched(pair.op, pair.weight, *pair.nodes) for pair in pairs),
        cells=lambda n: _cells(pairs[n]),
        facts=lambda n: _facts(pairs[n]),
    )


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


def _room(level: str) -> int:
    """Return the columns for two figures; INT8 figures are small and need more digits."""
    return 11 if level == INT8 else 9


def _named(op: int, weight: int, pairs: Sequence[LayerPair | LossPair]) -> tuple[Column, ...]:
    """Return the columns that identify a pair; the first two stay visible while scrolling."""
    before, after = shared_ends([pair.weight for pair in pairs])
    shared = safe(before), safe(after)
    return (
        Column("number", "#", 4, right=True, frozen=True),
        Column("op", "op", op, grow=True, wide=24, part=6, frozen=True),
        Column("weight", "weight", weight, grow=True, wide=48, part=3, middle=True, shared=shared),
    )


def _cells(pair: LayerPair) -> tuple[str, ...]:
    delta, ratio = pair.delta_ms, pair.ratio
    clear = {True: "yes", False: "no", None: _NONE}[pair.is_clear]
    return (
        pair.op,
        pair.weight or _NONE,
        table_ms(pair.old_ms.value) if pair.old_ms.value is not None else _NONE,
        table_ms(pair.new_ms.value) if pair.new_ms.value is not None else _NONE,
        _NONE if delta is None else _signed(delta),
        _NONE if ratio is None else short(ratio),
        clear,
    )


def _signed(delta: float) -> str:
    text = table_ms(delta)
    return f"{'+' if delta > 0 else ''}{text}" if float(text) else "0"


def _facts(pair: LayerPair) -> list[Fact]:
    found = [Fact("operator", pair.op, "title"), Fact("weight", pair.weight or "none")]
    for name, estimate, rows in (("old", pair.old_ms, pair.old), ("new", pair.new_ms, pair.new)):
        near = f" ±{percent(estimate.half_width)}" if estimate.half_width is not None else ""
        told = f"{_ms(estimate.value)}{near}" if estimate.value is not None else estimate.reason or "no time"
        kernels = ", ".join(row.kernel_op for row in rows if row.kernel_op)
        found.append(Fact(name, f"{told}{f' ({kernels})' if kernels else ''}"))
    return [*found, *(Fact("node", one) for one in pair.nodes[:40])]


def _losses(found: LossComparison) -> Pairs:
    columns = (
        *_named(7, 13, found.pairs),
        *(
            Column(level, level.removeprefix("pruned "), _room(level), right=True, rank=n, wide=11)
            for n, level in enumerate(found.levels)
        ),
    )
    pairs, levels = found.pairs, found.levels
    return Pairs(
        head="noise / signal in %, old and new, where one layer is changed",
        words=(*([found.unlike] if found.unlike else []), *found.words),
        columns=columns,
        searched=tuple(_searched(pair.op, pair.weight, pair.id) for pair in pairs),
        cells=lambda n: (pairs[n].op, pairs[n].weight or _NONE, *(_both(pairs[n], level) for level in levels)),
        facts=lambda n: _loss_facts(pairs[n], levels),
    )


def _loss_facts(pair: LossPair, levels: Sequence[str]) -> list[Fact]:
    named = [Fact("operator", pair.op, "title"), Fact("weight", pair.weight or "none"), Fact("node", pair.id)]
    return [*named, *(Fact(level, _both(pair, level)) for level in levels)]


def _both(pair: LossPair, level: str) -> str:
    return " ".join(_NONE if value is None else _noise(value) for value in pair.noise[level])


def _noise(value: float) -> str:
    return HARM if value == math.inf else f"{100 * value:.2g}"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else ms(value)


def _searched(*texts: str) -> str:
    return "\n".join(texts).casefold()

"""Two profiles layer by layer, as lines of a table: what each side has, and how they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.profile import Profile
from tuibench.core.units import ms, percent, short
from tuibench.insight.comparison import LayerPair, ProfileComparison
from tuibench.insight.loss import HARM
from tuibench.insight.loss_comparison import LossComparison, LossPair
from tuibench.insight.two_profiles import compare_profiles
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.detail_fact import Fact
from tuibench.tui.widgets.record_table import Column, Line

_NONE = "-"


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the page of a comparison shows."""

    head: str
    """The models as a whole."""
    words: tuple[str, ...]
    """What else differs between the two."""
    columns: tuple[Column, ...]
    lines: dict[str, Line]
    """The greatest difference first."""
    searched: dict[str, str]
    facts: dict[str, tuple[Fact, ...]]
    """All of a pair."""


def pairs_of(old: Profile, new: Profile, environment: Sequence[str], glyphs: Glyphs) -> Pairs | None:
    """Both are of one kind, or there is nothing to compare."""
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        return _times(found, glyphs)
    return _losses(found) if found is not None else None


def _times(found: ProfileComparison, glyphs: Glyphs) -> Pairs:
    columns = (
        Column("number", "#", 4, right=True),
        Column("op", "op", 12, grow=True, wide=24),
        Column("weight", "weight", 14, grow=True, wide=48, middle=True),
        Column("old", "old ms", 7, right=True),
        Column("new", "new ms", 7, right=True),
        Column("delta", "differs", 8, right=True),
        Column("ratio", "ratio", 6, right=True),
        Column("clear", "clear", 5, rank=1),
    )
    keys = [f"{n}" for n in range(len(found.pairs))]
    lines = {
        key: Line(key, (key_of(n), *_cells(pair))) for n, (key, pair) in enumerate(zip(keys, found.pairs, strict=True))
    }
    whole = f"{_ms(found.old_ms.value)} {glyphs.to} {_ms(found.new_ms.value)}"
    ratio = f", ratio {short(found.ratio)}" if found.ratio is not None else ""
    return Pairs(
        head=f"one batch {whole}{ratio}; layers are matched by their nodes",
        words=found.words,
        columns=columns,
        lines=lines,
        searched={
            key: _searched(pair.op, pair.weight, *pair.nodes) for key, pair in zip(keys, found.pairs, strict=True)
        },
        facts={key: tuple(_facts(pair)) for key, pair in zip(keys, found.pairs, strict=True)},
    )


def key_of(place: int) -> str:
    """The number of a line."""
    return str(place + 1)


def _cells(pair: LayerPair) -> tuple[str, ...]:
    delta, ratio = pair.delta_ms, pair.ratio
    clear = {True: "yes", False: "no", None: _NONE}[pair.is_clear]
    return (
        pair.op,
        pair.weight or _NONE,
        short(pair.old_ms.value) if pair.old_ms.value is not None else _NONE,
        short(pair.new_ms.value) if pair.new_ms.value is not None else _NONE,
        _NONE if delta is None else f"{'+' if delta > 0 else ''}{short(delta)}",
        _NONE if ratio is None else short(ratio),
        clear,
    )


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
        Column("number", "#", 4, right=True),
        Column("op", "op", 10, grow=True, wide=24),
        Column("weight", "weight", 14, grow=True, wide=48, middle=True),
        *(Column(level, level.removeprefix("pruned "), 11, right=True, rank=n) for n, level in enumerate(found.levels)),
    )
    keys = [f"{n}" for n in range(len(found.pairs))]
    lines = {
        key: Line(key, (key_of(n), pair.op, pair.weight or _NONE, *(_both(pair, level) for level in found.levels)))
        for n, (key, pair) in enumerate(zip(keys, found.pairs, strict=True))
    }
    return Pairs(
        head="noise / signal in %, old and new, where one layer is changed",
        words=(*([found.unlike] if found.unlike else []), *found.words),
        columns=columns,
        lines=lines,
        searched={key: _searched(pair.op, pair.weight, pair.id) for key, pair in zip(keys, found.pairs, strict=True)},
        facts={
            key: (
                Fact("operator", pair.op, "title"), Fact("weight", pair.weight or "none"), Fact("node", pair.id),
                *(Fact(level, _both(pair, level)) for level in found.levels),
            )
            for key, pair in zip(keys, found.pairs, strict=True)
        },
    )  # fmt: skip


def _both(pair: LossPair, level: str) -> str:
    return " ".join(_NONE if value is None else _noise(value) for value in pair.noise[level])


def _noise(value: float) -> str:
    return HARM if value == math.inf else f"{100 * value:.2g}"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else ms(value)


def _searched(*texts: str) -> str:
    return "\n".join(texts).casefold()

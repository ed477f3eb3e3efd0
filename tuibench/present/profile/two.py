"""Two profiles as text, layer by layer, the greatest difference first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tuibench.core.cell import Estimate
from tuibench.core.profile import INT8, RESIDUAL, Profile
from tuibench.core.text import cut, show
from tuibench.core.units import ms, percent, short
from tuibench.present.column import LONGEST, NONE, Column, table_lines
from tuibench.present.profile.comparison import LayerPair, LossComparison, LossPair, ProfileComparison, compare_profiles
from tuibench.present.profile.lines import ProfileHeading, finished, left_out, wrapped
from tuibench.present.profile.loss import decibels, level_title
from tuibench.present.profile.shown import TOP, WIDTH

_WIDEST_OP = 16
P = TypeVar("P", LayerPair, LossPair)
_NO_LEVEL = "no level is in both, so no differences are shown: profile both with the same --level"
_MOST_LEVELS = 3
"""Most levels of loss profiles shown: two columns each, beside operator and weight."""


def profile_comparison_lines(
    old: Profile,
    new: Profile,
    names: tuple[ProfileHeading, ProfileHeading],
    *,
    environment: Sequence[str] = (),
    width: int = WIDTH,
    ascii_only: bool = False,
    top: int | None = TOP,
) -> list[str]:
    """Return the comparison of two performance or two loss profiles; `environment` has the machines' differences."""
    lines = [f"{side}: {_named(heading)}" for side, heading in zip(("Old", "New"), names, strict=True)]
    found = compare_profiles(old, new, environment)
    if isinstance(found, ProfileComparison):
        lines += _performance(found, width, top)
    elif found is not None:
        lines += _loss(found, width, top)
    else:
        lines += ["One is a performance profile and the other a loss profile: nothing to compare"]
    return finished(lines, ascii_only)


def _performance(found: ProfileComparison, width: int, top: int | None) -> list[str]:
    ratio = f", ratio {_digits(found.ratio)}" if found.ratio is not None else ""
    said = [
        f"Model: old {_amount(found.old_ms)}, new {_amount(found.new_ms)} per batch{ratio}",
        *_differences(found.words),
    ]
    lines = list(wrapped(said, width))
    kept = found.pairs if top is None else found.pairs[: max(top, 0)]
    lines += ["", *table_lines(_TIME_COLUMNS, kept, width)]
    lines += left_out(len(kept), len(found.pairs), "--top N")
    legend = (
        "Layers matched by their nodes, in order of |Δ|; ratio new / old (below 1 is faster), measured at different"
        " times; ~ where the intervals overlap"
    )
    legend += "; ? no interval" if any(_mark(pair) == "?" for pair in kept) else ""
    return [*lines, *wrapped([legend], width)]


def _pair_columns(op: int) -> tuple[Column[P], ...]:
    """Return the columns that name a layer."""
    return (
        Column("op", "op", text=lambda pair: cut(show(pair.op, 80) or "?", _WIDEST_OP), least=op),
        Column("weight", "weight", text=lambda pair: show(pair.weight, LONGEST) or NONE, least=8, middle=True),
    )


def _signed(delta: float | None) -> str:
    return NONE if delta is None else f"{'+' if delta > 0 else ''}{short(delta)}"


def _rows(pair: LayerPair) -> str:
    return f"{len(pair.old)}>{len(pair.new)}" if max(len(pair.old), len(pair.new)) > 1 else ""


def _mark(pair: LayerPair) -> str:
    """Return the sign for a difference that may be zero, or that has no interval."""
    # The residual is not measured and never has an interval.
    if pair.delta_ms is None or {row.kind for row in (*pair.old, *pair.new)} == {RESIDUAL}:
        return ""
    if pair.is_clear is not None:
        return "" if pair.is_clear else "~"
    timed = [side for side in (pair.old_ms, pair.new_ms) if side.value is not None]
    return "?" if any(side.low is None or side.high is None for side in timed) else ""


_TIME_COLUMNS: tuple[Column[LayerPair], ...] = (
    *_pair_columns(op=8),
    Column("old", "old ms", text=lambda pair: _time(pair.old_ms), right=True),
    Column("new", "new ms", text=lambda pair: _time(pair.new_ms), right=True),
    Column("delta", "Δ ms", text=lambda pair: _signed(pair.delta_ms), right=True),
    Column("ratio", "ratio", text=lambda pair: NONE if pair.ratio is None else _digits(pair.ratio), right=True),
    Column("rows", "rows", text=_rows, right=True, rank=1),
    Column("mark", "", text=_mark),
)


def _loss(found: LossComparison, width: int, top: int | None) -> list[str]:
    unlike = found.unlike or ("" if found.shared else _NO_LEVEL)
    said = [*([f"Not compared: {unlike}"] if unlike else []), *_differences(found.words)]
    lines = list(wrapped(said, width))
    shown = _shown_levels(found)
    columns: list[Column[LossPair]] = list(_pair_columns(op=6))
    for level in shown:
        columns += [_noise_column(f"{level_title(level)} old", level, 0), _noise_column("new", level, 1)]
    kept = found.pairs if top is None else found.pairs[: max(top, 0)]
    lines += ["", *table_lines(columns, kept, width)]
    order = "in the order of the model" if unlike else "in order of the greatest change of noise at any level"
    legend = [f"SQNR in dB, one layer changed at a time, {order}"]
    hidden = [level_title(level) for level in found.levels if level not in shown]
    legend += [f"Levels not shown: {', '.join(hidden)}"] if hidden else []
    lines += left_out(len(kept), len(found.pairs), "--top N")
    return [*lines, *wrapped(legend, width)]


def _shown_levels(found: LossComparison) -> list[str]:
    """Return INT8 and the levels that most layers have on both sides, in their order."""
    levels = found.shared or found.levels

    def worth(level: str) -> tuple[bool, int, int, int]:
        known = [sum(side is not None for side in pair.noise[level]) for pair in found.pairs]
        # Later levels change a layer more.
        return level == INT8, known.count(2), known.count(1), levels.index(level)

    kept = sorted(levels, key=worth, reverse=True)[:_MOST_LEVELS]
    return [level for level in levels if level in kept]


def _noise_column(title: str, level: str, side: int) -> Column[LossPair]:
    return Column(f"{level} {side}", title, text=lambda pair: decibels(pair.noise[level][side]), right=True)


def _differences(words: Sequence[str]) -> list[str]:
    return [f"Not the same: {word}" for word in words] or ["Nothing else that matters is known to differ"]


def _named(heading: ProfileHeading) -> str:
    known = (heading.name, f"({heading.id})" if heading.id else "", heading.model, heading.started)
    return show(" ".join(filter(None, known)), LONGEST) or "without a name"


def _amount(estimate: Estimate) -> str:
    if estimate.value is None:
        return "unknown"
    half = estimate.half_width
    return ms(estimate.value) + (f" ±{percent(half)}" if half is not None else "")


def _time(estimate: Estimate) -> str:
    return NONE if estimate.value is None else short(estimate.value)


def _digits(ratio: float) -> str:
    return f"{ratio:.3f}" if 0.01 <= ratio < 10 else f"{ratio:.3g}"

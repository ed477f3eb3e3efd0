"""Values per layer over the depth of a model, as numbers and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from tuibench.core.profile import LAYER, PerformanceProfile
from tuibench.core.units import ms, percent, scaled, size
from tuibench.insight.bar import LOG, SHARES
from tuibench.insight.estimate import layer_gains
from tuibench.insight.layer import LayerRow
from tuibench.insight.portion import total_ms, untold_words
from tuibench.insight.summary import (
    BASELINE,
    BYTES,
    COST_TYPES,
    FLOPS,
    INT8_TIME,
    PARAMETERS,
    POTENTIAL,
    POTENTIAL_SHARE,
    PRUNED,
    summarize,
    whole_of,
)
from tuibench.tui.screens.profile_book import Depth

_TIMES = (BASELINE, POTENTIAL, INT8_TIME, PRUNED)


def unit_of(kind: str) -> Callable[[float], str]:
    """Return the formatter for a quantity."""
    if kind in _TIMES:
        return ms
    return {POTENTIAL_SHARE: percent, BYTES: size}.get(kind, scaled)


def over_depth(
    title: str,
    keys: Sequence[str],
    values: Sequence[float | None],
    unit: Callable[[float], str],
    display: str,
    total: float | None = None,
) -> Depth:
    """Return values, logarithms, or shares of `total`, by default of their sum."""
    total = math.fsum(value for value in values if value is not None) if total is None else total
    shown: list[float | None] = list(values)
    if display == SHARES and total:
        shown = [100 * value / total if value is not None else None for value in values]
        title = f"{title}, % of total"
    elif unit is percent:
        # Scale to percent, so that axis and texts agree.
        shown = [100 * value if value is not None else None for value in values]
        title = title if "%" in title else f"{title}, %"
    return Depth(title, tuple(keys), tuple(shown), _Texts(values, unit, total, display), display == LOG)


class _Texts(Sequence[str]):
    """Formats a text on access: a model may have thousands of layers."""

    def __init__(
        self, values: Sequence[float | None], unit: Callable[[float], str], total: float, display: str
    ) -> None:
        self._values, self._unit, self._total, self._display = values, unit, total, display

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        value = self._values[at]
        if value is None:
            return "unknown"
        return percent(value / self._total) if self._display == SHARES and self._total else self._unit(value)


def layer_depth(profile: PerformanceProfile, rows: Sequence[LayerRow], kind: str, display: str) -> Depth:
    """Return the depth of a performance profile: timed layers in the model's order, without the engine's own work."""
    timed = [row for row in rows if row.layer.kind == LAYER and row.layer.ms.value is not None]
    keys, values = [row.layer.key for row in timed], _values(profile, timed, kind)
    found = over_depth(kind, keys, values, unit_of(kind), display, whole_of(profile, kind))
    if any(value is not None for value in values):
        return found
    return replace(found, empty=_why_none(profile, timed, kind))


def _why_none(profile: PerformanceProfile, timed: Sequence[LayerRow], kind: str) -> str:
    """Return why no layer has a value; '' if unknown."""
    summary = summarize(profile, kind)
    # For other quantities the summary's words describe its method, not a reason.
    is_told = kind in (INT8_TIME, PRUNED) or (profile.below_resolution and kind not in COST_TYPES)
    if kind in (POTENTIAL, POTENTIAL_SHARE) and timed and untold_words(profile):
        return untold_words(profile)
    if is_told and not summary.bars:
        return " ".join(summary.words)
    if not timed:
        return "no layer was timed"
    return f"{kind} are known of no layer" if kind in COST_TYPES else ""


def _values(profile: PerformanceProfile, rows: Sequence[LayerRow], kind: str) -> list[float | None]:
    if kind in (POTENTIAL, POTENTIAL_SHARE):
        gains, total = layer_gains(profile), total_ms(profile)
        saved = [None if row.ms is None else gains[row.layer.key].potential_ms for row in rows]
        return saved if kind == POTENTIAL or not total else [None if one is None else one / total for one in saved]
    if kind == PRUNED:
        effect = profile.zero_effect
        ratio = effect.ratio.value if effect is not None and effect.exploits else None
        return [None if ratio is None or row.ms is None else row.ms * (ratio if row.layer.macs else 1) for row in rows]
    pick: dict[str, Callable[[LayerRow], float | None]] = {
        BASELINE: lambda row: row.ms,
        INT8_TIME: lambda row: row.int8_ms,
        FLOPS: lambda row: row.layer.flops,
        BYTES: lambda row: row.layer.bytes_moved,
        PARAMETERS: lambda row: row.layer.parameters,
    }
    return [pick[kind](row) for row in rows]

"""Layers of a loss profile as rows: the effect on the outputs of changing one layer.

A sensitivity is noise / signal in amplitude, 10^(-SQNR / 20): 0.1 is ten per cent of noise in the outputs. It is
infinite if no ratio can describe the changed outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tuibench.core.profile import ALREADY_INT8, INT8, NOT_RUN, LayerLoss, LossPoint, LossProfile
from tuibench.core.profile_spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import percent, scaled, short
from tuibench.insight.column import NONE, UNKNOWN, Column, column_of, found, ordered

UNCHANGED = "same"
"""Text in place of decibels if changing the layer changed nothing."""
HARM = "harm"
"""Text in place of decibels if no ratio can describe the changed outputs."""
_WORDS = (ALREADY_INT8, NOT_RUN)
"""Reasons short enough for a column of decibels."""
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class LossRow:
    """One layer with weights."""

    layer: LayerLoss
    number: int
    """Position among the layers with weights, from 1."""
    noise: dict[str, float | None]
    """Noise / signal in amplitude, per level: of the outputs, or of the weights in an approximated profile.

    It is infinite for harm beyond all ratios.
    """
    worst: float | None
    """Greatest value of `noise`."""
    searched: str = ""

    def point(self, level: str) -> LossPoint | None:
        """Return the measurement at a level; None if there is none."""
        return next((point for point in self.layer.points if point.level == level), None)

    @property
    def zeros(self) -> float | None:
        """Share of its parameters that are zero; None if it has no parameters."""
        return self.layer.zeros / self.layer.parameters if self.layer.parameters else None


def loss_rows(loss: LossProfile) -> tuple[LossRow, ...]:
    """Return all layers in the order of the model."""
    rows = []
    for number, layer in enumerate(loss.layers, 1):
        noise = {level: noise_of(loss, layer, level) for level in loss.levels}
        known = [value for value in noise.values() if value is not None]
        searched = f"{layer.op} {layer.weight} {layer.name} {layer.id}".casefold()
        rows.append(LossRow(layer, number, noise, max(known, default=None), searched))
    return tuple(rows)


def arrange_losses(
    rows: Iterable[LossRow],
    columns: Sequence[Column[LossRow]],
    sort: str = "worst",
    reverse: bool = False,
    text: str = "",
) -> tuple[LossRow, ...]:
    """Return the rows that contain a text, sorted by one of the columns; an unknown column keeps the old order."""
    column = column_of(columns, sort)
    kept = found(rows, text, lambda row: row.searched)
    return tuple(ordered(kept, column, reverse) if column is not None else kept)


def noise_of(loss: LossProfile, layer: LayerLoss, level: str) -> float | None:
    """Return noise / signal in amplitude: 0 if nothing changed, infinite for harm, None if unknown."""
    if loss.kind == APPROXIMATED:
        # Weights that cannot be compared, such as NaN, are not unchanged weights.
        known = level in layer.weight_sqnr_db and not layer.reason
        return _noise(layer.weight_sqnr_db[level]) if known else None
    point = next((point for point in layer.points if point.level == level), None)
    if point is not None and point.harm:
        return math.inf
    return None if point is None or point.reason else _noise(point.sqnr_db)


def loss_columns(loss: LossProfile) -> tuple[Column[LossRow], ...]:
    """Return the columns of a profile: its levels in decibels, then the other measurements at each level."""
    columns: list[Column[LossRow]] = [
        Column("number", "#", lambda row: row.number, lambda row: str(row.number), ascending=True),
        Column("op", "op", lambda row: row.layer.op, lambda row: show(row.layer.op, 80), False, True, least=6, most=16),
        Column("weight", "weight", lambda row: row.layer.weight, lambda row: show(row.layer.weight, _LONGEST) or NONE,
               False, True, least=8, middle=True),
        Column("params", "params", lambda row: row.layer.parameters, lambda row: scaled(row.layer.parameters)),
    ]  # fmt: skip
    columns += [_level_column(loss, level) for level in loss.levels]
    columns.append(
        Column("worst", "worst %", lambda row: row.worst, lambda row: _percent(row.worst), rank=1,
               hint="greatest noise / signal")
    )  # fmt: skip
    if loss.kind != APPROXIMATED:
        columns += [_detail_column(level, "cosine", "cosine", 4) for level in loss.levels]
        if loss.classes:
            columns += [_detail_column(level, "kl", "KL", 5) for level in loss.levels]
            columns += [_detail_column(level, "top1", "top-1", 3) for level in loss.levels]
    columns += [
        Column("zeros", "zeros %", lambda row: row.zeros, lambda row: _percent(row.zeros), rank=2),
        Column("name", "node", lambda row: row.layer.name, lambda row: show(row.layer.name, _LONGEST) or NONE, False,
               True, rank=6, least=16, middle=True),
        Column("reason", "not known because", _reason, _reason, False, True, rank=7, least=12),
    ]  # fmt: skip
    return tuple(columns)


def narrow_of(loss: LossProfile) -> int:
    """Return the number of columns for a terminal of 80: one per level, as far as there is space."""
    return 4 + min(len(loss.levels), 6)


def level_words(level: str) -> str:
    """Return a level as sentences name it."""
    return level.upper() if level == INT8 else show(level, 40)


def level_title(level: str) -> str:
    """Return a level's short name for a column title."""
    return show(level.removeprefix("pruned "), 12) if level.startswith("pruned ") else show(level.upper(), 12)


def _noise(db: float | None) -> float | None:
    """Return noise / signal for decibels; None means equal outputs."""
    if db is None:
        return 0.0
    return 10 ** (-min(max(db, -400.0), 400.0) / 20) if not math.isnan(db) else None


def _level_column(loss: LossProfile, level: str) -> Column[LossRow]:
    proxy = " of the weights (proxy)" if loss.kind == APPROXIMATED else " of the outputs"
    return Column(
        level,
        level_title(level),
        lambda row: row.noise.get(level),
        lambda row: _level_text(row, level),
        hint=f"SQNR in dB{proxy}, this layer at {level}",
    )


def _level_text(row: LossRow, level: str) -> str:
    """Return decibels, or a reason if it is short enough."""
    point = row.point(level)
    return point.reason if point is not None and point.reason in _WORDS else decibels(row.noise.get(level))


def decibels(noise: float | None) -> str:
    """Return noise / signal as the SQNR text of tables."""
    if noise is None:
        return NONE
    if noise == math.inf:
        return HARM
    # If noise almost equals signal, rounding gives -0.0; adding 0.0 removes the sign.
    return f"{round(-20 * math.log10(noise), 1) + 0.0:.1f}" if noise else UNCHANGED


def _detail_column(level: str, name: str, title: str, rank: int) -> Column[LossRow]:
    def value(row: LossRow) -> float | None:
        point = row.point(level)
        found: float | None = getattr(point, name) if point is not None else None
        return found

    def text(row: LossRow) -> str:
        number = value(row)
        if number is None:
            return NONE
        return f"{number:.5f}" if name == "cosine" else short(number)

    return Column(f"{name} {level}", f"{title} {level_title(level)}", value, text, rank=rank)


def noise_words(noise: float | None) -> str:
    """Return noise / signal in per cent."""
    return UNKNOWN if noise is None else HARM if noise == math.inf else percent(noise)


def _percent(value: float | None) -> str:
    return NONE if value is None else noise_words(value).removesuffix(" %")


def _reason(row: LossRow) -> str:
    reasons = [row.layer.reason, *(point.reason for point in row.layer.points)]
    return show("; ".join(dict.fromkeys(filter(None, reasons))), 200) or ("" if row.worst is not None else UNKNOWN)

"""Layers of a loss profile as rows: how much each change of one layer moves the outputs, and which to leave alone.

A sensitivity is noise / signal in amplitude, 10^(-SQNR / 20): 0.1 is ten per cent of noise in the outputs. It is
infinite where the change left outputs that no ratio tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tuibench.core.profile import INT8, LayerLoss, LossPoint, LossProfile
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short
from tuibench.insight.column import NONE, UNKNOWN, Column, column_of, found, ordered

APPROXIMATED = "approximated"
UNCHANGED = "same"
"""In place of decibels where changing the layer changed nothing."""
HARM = "harm"
"""In place of decibels where the change left outputs that no decibels tell."""
PROXY = "proxy"
_LONGEST = 400
_HALF = 0.5
_MOST_TO_SPARE = 5


@dataclass(frozen=True, slots=True)
class LossRow:
    """One layer with weights."""

    layer: LayerLoss
    number: int
    """Its place among the layers with weights, from 1."""
    noise: dict[str, float | None]
    """Per level: noise / signal of the outputs in amplitude, of the weights in an approximated profile; infinite for
    harm beyond all ratios."""
    worst: float | None
    """The greatest of them."""
    searched: str = ""

    def point(self, level: str) -> LossPoint | None:
        """What was measured at a level."""
        return next((point for point in self.layer.points if point.level == level), None)

    @property
    def zeros(self) -> float | None:
        """Share of its parameters that are zero."""
        return self.layer.zeros / self.layer.parameters if self.layer.parameters else None


@dataclass(frozen=True, slots=True)
class LevelSensitivity:
    """All layers at one level."""

    level: str
    average: float | None
    """Mean of the layers' noise / signal."""
    layers: int
    """Of which it is known."""
    spared: tuple[str, ...]
    """The fewest layers that make half of all noise, by weight name, where they are few: leave them alone."""
    spared_share: float | None
    """How much of the noise they make."""
    broken: tuple[str, ...] = ()
    """Layers whose change left outputs that no ratio tells, by weight name: worse than any noise."""
    greatest: float | None = None
    """The noise / signal of the layer that has most of it."""


def loss_rows(loss: LossProfile) -> tuple[LossRow, ...]:
    """All layers in the order of the model."""
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
    """The rows that hold a text, by one of the columns; an unknown column sorts nothing."""
    column = column_of(columns, sort)
    kept = found(rows, text, lambda row: row.searched)
    return tuple(ordered(kept, column, reverse) if column is not None else kept)


def noise_of(loss: LossProfile, layer: LayerLoss, level: str) -> float | None:
    """Noise / signal in amplitude; 0 where nothing changed, infinite for harm, None where it is not known."""
    if loss.kind == APPROXIMATED:
        # Weights that cannot be compared, as where one is no number, are not weights that nothing changes.
        known = level in layer.weight_sqnr_db and not layer.reason
        return _noise(layer.weight_sqnr_db[level]) if known else None
    point = next((point for point in layer.points if point.level == level), None)
    if point is not None and point.harm:
        return math.inf
    return None if point is None or point.reason else _noise(point.sqnr_db)


def sensitivities(loss: LossProfile) -> tuple[LevelSensitivity, ...]:
    """One for each level."""
    return tuple(_sensitivity(loss, level) for level in loss.levels)


def loss_sentences(loss: LossProfile) -> tuple[str, ...]:
    """Which layers to leave alone at each level, and what the profile is made of: a proxy is called one."""
    said = [_level_words(loss, each) for each in sensitivities(loss)] if loss.layers else []
    if loss.kind == APPROXIMATED:
        said.append(
            f"{PROXY}: the noise is that of the weights themselves; nothing was run, and how much of it reaches the"
            " outputs is not known"
        )
    elif not loss.complete:
        said.append("stopped before all layers were measured: what is missing is shown as –")
    return tuple(said)


def loss_columns(loss: LossProfile) -> tuple[Column[LossRow], ...]:
    """The columns of a profile: its levels in decibels, then what else was measured at them."""
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
    """How many of the columns stand in a terminal of 80: a level each, up to what it has room for."""
    return 4 + min(len(loss.levels), 6)


def level_words(level: str) -> str:
    """A level as a sentence names it."""
    return level.upper() if level == INT8 else show(level, 40)


def level_title(level: str) -> str:
    """A level as short as a column's title must be."""
    return show(level.removeprefix("pruned "), 12) if level.startswith("pruned ") else show(level.upper(), 12)


def _sensitivity(loss: LossProfile, level: str) -> LevelSensitivity:
    known = [(noise_of(loss, layer, level), layer) for layer in loss.layers]
    noisy = [(value, layer) for value, layer in known if value is not None and value < math.inf]
    average = math.fsum(value for value, _ in noisy) / len(noisy) if noisy else None
    # Powers add up where the noises of layers know nothing of each other.
    power = math.fsum(value * value for value, _ in noisy)
    gone, spared = 0.0, []
    for value, layer in sorted(noisy, key=lambda pair: -pair[0]):
        if gone >= _HALF * power:
            break
        gone += value * value
        spared.append(layer.weight or layer.id)
    few = power > 0 and len(noisy) > 1 and len(spared) <= min(_MOST_TO_SPARE, len(noisy) // 2)
    share = gone / power if few else None
    broken = tuple(layer.weight or layer.id for value, layer in known if value == math.inf)
    greatest = max((value for value, _ in noisy), default=None)
    return LevelSensitivity(level, average, len(noisy), tuple(spared) if few else (), share, broken, greatest)


def _level_words(loss: LossProfile, each: LevelSensitivity) -> str:
    """What one level does, and what to leave alone at it."""
    said = [f"leave alone first {_names(each.broken)} ({HARM} that no dB tells)"] if each.broken else []
    if each.average is None:
        said += [] if each.broken else [f"not known of any layer ({_why_unknown(loss, each.level)})"]
    else:
        said += [_noise_words(loss, each), *_spared_words(loss, each)]
    return f"{level_words(each.level)}: {'; '.join(said)}"


def _noise_words(loss: LossProfile, each: LevelSensitivity) -> str:
    of = " of the weights (proxy)" if loss.kind == APPROXIMATED else ""
    every = len(loss.layers)
    layers = count_of(every, "layer") if each.layers == every else f"{each.layers} of {count_of(every, 'layer')}"
    greatest = f", greatest {percent(each.greatest)}" if each.greatest and each.layers > 1 else ""
    return f"average noise{of} {percent(each.average or 0.0)}{greatest} over {layers}"


def _spared_words(loss: LossProfile, each: LevelSensitivity) -> list[str]:
    if not each.average:
        return ["that changes nothing"]
    if not each.spared:
        return ["no few layers stand out"] if each.layers > 1 else []
    # Noise of weights does not tell how outputs fare: nothing is advised on it.
    advice = "most of it in" if loss.kind == APPROXIMATED else "leave alone"
    return [f"{advice} {_names(each.spared)}: {percent(each.spared_share or 0.0)} of all noise power"]


def _names(weights: Sequence[str]) -> str:
    more = f" and {len(weights) - _MOST_TO_SPARE} more" if len(weights) > _MOST_TO_SPARE else ""
    return ", ".join(show(name, 60) for name in weights[:_MOST_TO_SPARE]) + more


def _why_unknown(loss: LossProfile, level: str) -> str:
    """The reasons of a level of which no layer tells anything."""
    points = [point for layer in loss.layers for point in layer.points if point.level == level]
    reasons = dict.fromkeys(filter(None, [*(point.reason for point in points), *(one.reason for one in loss.layers)]))
    first = next(iter(reasons), "not measured")
    return show(first, 200) + (f", and {count_of(len(reasons) - 1, 'more reason')}" if len(reasons) > 1 else "")


def _noise(db: float | None) -> float | None:
    """From decibels to noise / signal; None stands for outputs that are equal."""
    if db is None:
        return 0.0
    return 10 ** (-min(max(db, -400.0), 400.0) / 20) if not math.isnan(db) else None


def _level_column(loss: LossProfile, level: str) -> Column[LossRow]:
    proxy = " of the weights (proxy)" if loss.kind == APPROXIMATED else " of the outputs"
    return Column(
        level,
        level_title(level),
        lambda row: row.noise.get(level),
        lambda row: decibels(row.noise.get(level)),
        hint=f"SQNR in dB{proxy}, this layer at {level}",
    )


def decibels(noise: float | None) -> str:
    """Noise / signal as the SQNR that tables show."""
    if noise is None:
        return NONE
    if noise == math.inf:
        return HARM
    return f"{-20 * math.log10(noise):.1f}" if noise else UNCHANGED


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
    """Noise / signal in per cent."""
    return UNKNOWN if noise is None else HARM if noise == math.inf else percent(noise)


def _percent(value: float | None) -> str:
    return NONE if value is None else noise_words(value).removesuffix(" %")


def _reason(row: LossRow) -> str:
    reasons = [row.layer.reason, *(point.reason for point in row.layer.points)]
    return show("; ".join(dict.fromkeys(filter(None, reasons))), 200) or ("" if row.worst is not None else UNKNOWN)

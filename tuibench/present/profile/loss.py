"""Rows of a loss profile, its bars per operator, and its conclusions.

A sensitivity is noise / signal in amplitude, 10^(-SQNR / 20): 0.1 is ten per cent of noise in the outputs. It is
infinite if no ratio can describe the changed outputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.profile import ALREADY_INT8, INT8, NOT_RUN, LayerLoss, LossPoint, LossProfile
from tuibench.core.reason import Reason
from tuibench.core.spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, scaled, short
from tuibench.present.profile.summary import SHARES, VALUES, Amount, Summary, make_bars
from tuibench.present.reason import all_words, reason_words
from tuibench.present.table import (
    NONE,
    UNKNOWN,
    Column,
    LayerLike,
    node_column,
    number_column,
    op_column,
    percent_text,
    place_column,
    reason_column,
    weight_column,
)

UNCHANGED = "same"
"""Text in place of decibels if changing the layer changed nothing."""
HARM = "harm"
"""Text in place of decibels if no ratio can describe the changed outputs."""
_SHORT = (ALREADY_INT8, NOT_RUN)
"""Reasons short enough for a column of decibels."""


@dataclass(frozen=True, slots=True)
class LossRow(LayerLike):
    """One layer with weights."""

    layer: LayerLoss
    noise: dict[str, float | None]
    """Noise / signal in amplitude, per level: of the outputs, or of the weights in an approximated profile.

    It is infinite for harm beyond all ratios.
    """
    worst: float | None
    """Greatest value of `noise`."""

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
        worst = max(known, default=None)
        rows.append(LossRow(layer.id, layer.op, layer.weight, number, searched, layer, noise, worst))
    return tuple(rows)


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
        place_column(lambda row: row.number, lambda row: str(row.number)),
        op_column(lambda row: row.op, least=6),
        weight_column(lambda row: row.weight, least=8),
        number_column(
            "params", "params", lambda row: row.layer.parameters, lambda row: scaled(row.layer.parameters), 7
        ),
    ]
    columns += [_level_column(loss, level) for level in loss.levels]
    worst: Column[LossRow] = number_column(
        "worst", "worst %", lambda row: row.worst, lambda row: _percent(row.worst), rank=1,
        hint="greatest noise / signal",
    )  # fmt: skip
    columns.append(worst)
    if loss.kind != APPROXIMATED:
        columns += [_detail_column(level, "cosine", "cosine", 4) for level in loss.levels]
        if loss.classes:
            columns += [_detail_column(level, "kl", "KL", 5) for level in loss.levels]
            columns += [_detail_column(level, "top1", "top-1", 3) for level in loss.levels]
    columns += [
        number_column("zeros", "zeros %", lambda row: row.zeros, lambda row: _percent(row.zeros), rank=2),
        node_column(lambda row: row.layer.name, 6),
        reason_column("reason", "not known because", _reason, 7),
    ]
    return tuple(columns)


def columns_at_width_80(loss: LossProfile) -> int:
    """Return the number of columns for a terminal of 80: one per level, as far as there is space."""
    return 4 + min(len(loss.levels), 6)


def full_level_name(level: str) -> str:
    """Return the name of a level for sentences."""
    return level.upper() if level == INT8 else show(level, 40)


def short_level_name(level: str) -> str:
    """Return the name of a level for column titles, without its prefix."""
    return show(level.removeprefix("pruned "), 12) if level.startswith("pruned ") else show(level.upper(), 12)


def _noise(db: float | None) -> float | None:
    """Return noise / signal for decibels; None means equal outputs."""
    if db is None:
        return 0.0
    return 10 ** (-min(max(db, -400.0), 400.0) / 20) if not math.isnan(db) else None


def _level_column(loss: LossProfile, level: str) -> Column[LossRow]:
    proxy = " of the weights (proxy)" if loss.kind == APPROXIMATED else " of the outputs"
    return number_column(
        level,
        short_level_name(level),
        lambda row: row.noise.get(level),
        lambda row: _decibels_or_reason(row, level),
        7 if level == INT8 else 5,
        hint=f"SQNR in dB{proxy}, this layer at {level}",
    )


def _decibels_or_reason(row: LossRow, level: str) -> str:
    """Return decibels, or a reason if it is short enough."""
    point = row.point(level)
    if point is not None and point.reason in _SHORT:
        return reason_words(point.reason)
    return decibels(row.noise.get(level))


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

    return number_column(f"{name} {level}", f"{title} {short_level_name(level)}", value, text, rank=rank)


def noise_words(noise: float | None) -> str:
    """Return noise / signal in per cent."""
    return UNKNOWN if noise is None else HARM if noise == math.inf else percent(noise)


def _percent(value: float | None) -> str:
    return HARM if value == math.inf else percent_text(value)


def _reason(row: LossRow) -> str:
    reasons = all_words(filter(None, [row.layer.reason, *(point.reason for point in row.layer.points)]))
    return show("; ".join(dict.fromkeys(reasons)), 200) or ("" if row.worst is not None else UNKNOWN)


PARAMETERS = "params"


def loss_types(loss: LossProfile) -> tuple[str, ...]:
    """Return the types of bars, in the order in which a key cycles through them."""
    return (*loss.levels, PARAMETERS)


def default_level(loss: LossProfile) -> str:
    """Return the level for a page with space for one: INT8, else the first with a known value; '' without levels."""
    order = sorted(loss.levels, key=lambda level: level != INT8)
    known = (level for level in order if any(noise_of(loss, layer, level) is not None for layer in loss.layers))
    return next(known, next(iter(order), ""))


def summarize_loss(loss: LossProfile, kind: str, display: str = VALUES) -> Summary:
    """Return the bars of one level, or of parameters."""
    groups: dict[str, list[LayerLoss]] = {}
    for layer in loss.layers:
        groups.setdefault(layer.op, []).append(layer)
    if kind == PARAMETERS:
        counts = [Amount(op, sum(one.parameters for one in layers), len(layers)) for op, layers in groups.items()]
        return Summary(kind, display, "Params by operator", make_bars(counts, display, scaled), ())
    amounts = [_amount(loss, op, layers, kind, display) for op, layers in groups.items()]
    of = "weights, a proxy" if loss.kind == APPROXIMATED else "outputs"
    # Only powers add up, so only they have shares.
    what = "summed noise power" if display == SHARES else "mean noise / signal"
    words = (f"{what} of the {of}, one layer changed at a time",)
    title = f"Sensitivity by operator, {full_level_name(kind)}"
    return Summary(kind, display, title, make_bars(amounts, display, percent), words)


def _amount(loss: LossProfile, op: str, layers: Sequence[LayerLoss], level: str, display: str) -> Amount:
    noise = [noise_of(loss, layer, level) for layer in layers]
    known = [value for value in noise if value is not None and value < math.inf]
    harmed = noise.count(math.inf)
    value = math.fsum(one * one for one in known) if display == SHARES else math.fsum(known) / max(len(known), 1)
    notes = [f"{HARM} with {harmed}"] if harmed else []
    notes += [f"{len(known)} of {count_of(len(layers), 'layer')}"] if len(known) < len(layers) and known else []
    return Amount(op, value if known else None, len(layers), note=", ".join(notes), is_ahead=harmed > 0)


_HALF = 0.5
_MAX_EXCLUDED = 5
_FAR_DB = 60.0
"""Least SQNR between two forms of a model that differ only in float32 rounding."""


@dataclass(frozen=True, slots=True)
class LevelSensitivity:
    """The sensitivity of all layers at one level."""

    level: str
    average: float | None
    """Mean of the layers' noise / signal."""
    layers: int
    """Number of layers with known noise."""
    excluded: tuple[str, ...]
    """Weight names of the fewest layers that make half of all noise; empty if they are many."""
    excluded_share: float | None
    """Share of the noise power in those layers."""
    greatest: float | None
    """Greatest noise / signal of a layer."""
    broken: tuple[str, ...]
    """Weight names of layers whose changed outputs no ratio can describe: worse than any noise."""
    reasons: tuple[Reason, ...]
    """Reasons for broken layers; if there are none and nothing is known, the reasons for that."""
    reordered: int | None
    """Number of layers whose change moved another class to first place for some sample; None without class outputs."""


def sensitivities(loss: LossProfile) -> tuple[LevelSensitivity, ...]:
    """Return the sensitivity at each level."""
    names = _names_of(loss.layers)
    return tuple(_sensitivity(loss, level, names) for level in loss.levels)


def loss_sentences(loss: LossProfile, level: str | None = None) -> tuple[str, ...]:
    """Return which layers to leave alone at one or at each level, and the limits of the profile; mark proxies."""
    if not loss.layers:
        return ("there is no layer with weights that could be changed",)
    said = list(_levels(loss, sensitivities(loss), level))
    if loss.kind == APPROXIMATED:
        said.append(
            "proxy: the noise is that of the weights themselves; nothing was run, and how much of it reaches the"
            " outputs is not known"
        )
        return tuple(said)
    if loss.float32_db is not None and loss.float32_db < _FAR_DB:
        own = percent(10 ** (-loss.float32_db / 20))
        said.append(
            f"the engine computes the model as it is {own} away from the form in which layers are changed, so less"
            " noise than that means little"
        )
    if not loss.complete:
        said.append("stopped before all layers were measured: what is missing is shown as –")
    return tuple(said)


def loss_notes(loss: LossProfile) -> tuple[str, ...]:
    """Return the profile's notes, then the reasons of single layers."""
    odd: dict[Reason, list[str]] = {}
    for layer, name in zip(loss.layers, _names_of(loss.layers), strict=True):
        if layer.reason is not None:
            odd.setdefault(layer.reason, []).append(name)
    of_layers = (
        f"{count_of(len(names), 'layer')}: {reason_words(why, 200)} ({_names(names)})" for why, names in odd.items()
    )
    return (*all_words(loss.notes), *of_layers)


def _sensitivity(loss: LossProfile, level: str, names: Sequence[str]) -> LevelSensitivity:
    known = [(noise_of(loss, layer, level), name) for layer, name in zip(loss.layers, names, strict=True)]
    noisy = [(value, name) for value, name in known if value is not None and value < math.inf]
    average = math.fsum(value for value, _ in noisy) / len(noisy) if noisy else None
    # Powers add up if the noises of layers are uncorrelated.
    power = math.fsum(value * value for value, _ in noisy)
    covered, excluded = 0.0, []
    for value, name in sorted(noisy, key=lambda pair: -pair[0]):
        if covered >= _HALF * power:
            break
        covered += value * value
        excluded.append(name)
    few = power > 0 and len(noisy) > 1 and len(excluded) <= min(_MAX_EXCLUDED, len(noisy) // 2)
    points = [point for layer in loss.layers for point in layer.points if point.level == level]
    broken = tuple(name for value, name in known if value == math.inf)
    reasons = (point.reason for point in points if point.harm or not broken)
    return LevelSensitivity(
        *(level, average, len(noisy), tuple(excluded) if few else (), covered / power if few else None),
        greatest=max((value for value, _ in noisy), default=None),
        broken=broken,
        reasons=tuple(dict.fromkeys(filter(None, (*reasons, *(() if broken else _of_layers(loss)))))),
        reordered=sum(point.top1 is not None and point.top1 < 1 for point in points) if loss.classes else None,
    )


def _of_layers(loss: LossProfile) -> Iterator[Reason | None]:
    return (layer.reason for layer in loss.layers)


def _names_of(layers: Iterable[LayerLoss]) -> list[str]:
    """Return each layer's weight name; names used by several layers, as in branches, get the node too."""
    named = [(layer.weight or layer.id, layer.id) for layer in layers]
    often = Counter(name for name, _ in named)
    return [name if often[name] == 1 or name == id_ else f"{name} ({id_})" for name, id_ in named]


def _levels(loss: LossProfile, found: Sequence[LevelSensitivity], level: str | None) -> Iterator[str]:
    nothing = {each.reasons for each in found if each.average is None and not each.broken}
    if len(nothing) == 1 and len(found) > 1 and all(each.average is None and not each.broken for each in found):
        yield f"unknown for all layers at every level ({_reasons(found[0])})"
        return
    for each in found:
        if level in (None, each.level):
            yield f"{full_level_name(each.level)}: {'; '.join(_level(loss, each))}"


def _level(loss: LossProfile, each: LevelSensitivity) -> Iterator[str]:
    """Return the sentences about one level."""
    if each.broken:
        yield f"leave unchanged first {_names(each.broken)} ({HARM} beyond dB: {_reasons(each)})"
    elif each.average is None:
        yield f"unknown for all layers ({_reasons(each)})"
    if each.average is None:
        return
    of = " of the weights (proxy)" if loss.kind == APPROXIMATED else ""
    every = len(loss.layers)
    layers = count_of(every, "layer") if each.layers == every else f"{each.layers} of {count_of(every, 'layer')}"
    greatest = f", greatest {percent(each.greatest)}" if each.greatest and each.layers > 1 else ""
    yield f"average noise{of} {percent(each.average)}{greatest} over {layers}"
    if each.reordered:
        yield f"the top class changes in {count_of(each.reordered, 'layer')}"
    yield from _exclusion_words(loss, each)


def _exclusion_words(loss: LossProfile, each: LevelSensitivity) -> Iterator[str]:
    if not each.average:
        yield "the outputs stay the same"
    elif each.excluded:
        # Noise of weights does not predict noise of outputs, so it leads to no advice.
        advice = "most of it in" if loss.kind == APPROXIMATED else "leave alone"
        of = "all noise power" if each.layers == len(loss.layers) else "the noise power that is known"
        yield f"{advice} {_names(each.excluded)}: {percent(each.excluded_share or 0.0)} of {of}"
    elif each.layers > 1:
        yield "no small group of layers stands out"


def _names(weights: Sequence[str]) -> str:
    more = f" and {len(weights) - _MAX_EXCLUDED} more" if len(weights) > _MAX_EXCLUDED else ""
    return ", ".join(show(name, 60) for name in weights[:_MAX_EXCLUDED]) + more


def _reasons(each: LevelSensitivity) -> str:
    first, more = next(iter(each.reasons), Reason("not_measured")), len(each.reasons) - 1
    return reason_words(first, 200) + (f", and {count_of(more, 'more reason')}" if more > 0 else "")

"""Conclusions of a loss profile: the layers to leave alone at each level, and gaps in the measurement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tuibench.core.profile import LayerLoss, LossProfile
from tuibench.core.profile_spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import count_of, percent
from tuibench.insight.loss import HARM, level_words, noise_of

_HALF = 0.5
_MOST_TO_SPARE = 5
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
    spared: tuple[str, ...]
    """Weight names of the fewest layers that make half of all noise; empty if they are many."""
    spared_share: float | None
    """Share of the noise power in those layers."""
    greatest: float | None
    """Greatest noise / signal of a layer."""
    broken: tuple[str, ...]
    """Weight names of layers whose changed outputs no ratio can describe: worse than any noise."""
    reasons: tuple[str, ...]
    """Reasons for broken layers; if there are none and nothing is known, the reasons for that."""
    turned: int | None
    """Number of layers whose change moved another class to first place for some sample; None without class outputs."""


def sensitivities(loss: LossProfile) -> tuple[LevelSensitivity, ...]:
    """Return the sensitivity at each level."""
    names = _names_of(loss.layers)
    return tuple(_sensitivity(loss, level, names) for level in loss.levels)


def loss_sentences(loss: LossProfile) -> tuple[str, ...]:
    """Return which layers to leave alone at each level, and the limits of the profile; proxies are marked."""
    if not loss.layers:
        return ("there is no layer with weights that could be changed",)
    said = list(_levels(loss, sensitivities(loss)))
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
            " noise than that tells little"
        )
    if not loss.complete:
        said.append("stopped before all layers were measured: what is missing is shown as –")
    return tuple(said)


def loss_notes(loss: LossProfile) -> tuple[str, ...]:
    """Return the profile's notes, then the reasons of single layers."""
    odd: dict[str, list[str]] = {}
    for layer, name in zip(loss.layers, _names_of(loss.layers), strict=True):
        if layer.reason:
            odd.setdefault(layer.reason, []).append(name)
    of_layers = (f"{count_of(len(names), 'layer')}: {show(why, 200)} ({_names(names)})" for why, names in odd.items())
    return (*(show(note, 500) for note in loss.notes), *of_layers)


def _sensitivity(loss: LossProfile, level: str, names: Sequence[str]) -> LevelSensitivity:
    known = [(noise_of(loss, layer, level), name) for layer, name in zip(loss.layers, names, strict=True)]
    noisy = [(value, name) for value, name in known if value is not None and value < math.inf]
    average = math.fsum(value for value, _ in noisy) / len(noisy) if noisy else None
    # Powers add up if the noises of layers are uncorrelated.
    power = math.fsum(value * value for value, _ in noisy)
    gone, spared = 0.0, []
    for value, name in sorted(noisy, key=lambda pair: -pair[0]):
        if gone >= _HALF * power:
            break
        gone += value * value
        spared.append(name)
    few = power > 0 and len(noisy) > 1 and len(spared) <= min(_MOST_TO_SPARE, len(noisy) // 2)
    points = [point for layer in loss.layers for point in layer.points if point.level == level]
    broken = tuple(name for value, name in known if value == math.inf)
    reasons = (point.reason for point in points if point.harm or not broken)
    return LevelSensitivity(
        *(level, average, len(noisy), tuple(spared) if few else (), gone / power if few else None),
        greatest=max((value for value, _ in noisy), default=None),
        broken=broken,
        reasons=tuple(dict.fromkeys(filter(None, (*reasons, *(() if broken else _of_layers(loss)))))),
        turned=sum(point.top1 is not None and point.top1 < 1 for point in points) if loss.classes else None,
    )


def _of_layers(loss: LossProfile) -> Iterator[str]:
    return (layer.reason for layer in loss.layers)


def _names_of(layers: Iterable[LayerLoss]) -> list[str]:
    """Return each layer's weight name; names used by several layers, as in branches, get the node too."""
    named = [(layer.weight or layer.id, layer.id) for layer in layers]
    often = Counter(name for name, _ in named)
    return [name if often[name] == 1 or name == id_ else f"{name} ({id_})" for name, id_ in named]


def _levels(loss: LossProfile, found: Sequence[LevelSensitivity]) -> Iterator[str]:
    nothing = {each.reasons for each in found if each.average is None and not each.broken}
    if len(nothing) == 1 and len(found) > 1 and all(each.average is None and not each.broken for each in found):
        yield f"not known of any layer at any level ({_reasons(found[0])})"
        return
    for each in found:
        yield f"{level_words(each.level)}: {'; '.join(_level(loss, each))}"


def _level(loss: LossProfile, each: LevelSensitivity) -> Iterator[str]:
    """Return the sentences about one level."""
    if each.broken:
        yield f"leave alone first {_names(each.broken)} ({HARM} that no dB tells: {_reasons(each)})"
    elif each.average is None:
        yield f"not known of any layer ({_reasons(each)})"
    if each.average is None:
        return
    of = " of the weights (proxy)" if loss.kind == APPROXIMATED else ""
    every = len(loss.layers)
    layers = count_of(every, "layer") if each.layers == every else f"{each.layers} of {count_of(every, 'layer')}"
    greatest = f", greatest {percent(each.greatest)}" if each.greatest and each.layers > 1 else ""
    yield f"average noise{of} {percent(each.average)}{greatest} over {layers}"
    if each.turned:
        yield f"another first class with {count_of(each.turned, 'layer')}"
    yield from _spared_words(loss, each)


def _spared_words(loss: LossProfile, each: LevelSensitivity) -> Iterator[str]:
    if not each.average:
        yield "that changes nothing"
    elif each.spared:
        # Noise of weights does not predict noise of outputs, so it leads to no advice.
        advice = "most of it in" if loss.kind == APPROXIMATED else "leave alone"
        of = "all noise power" if each.layers == len(loss.layers) else "the noise power that is known"
        yield f"{advice} {_names(each.spared)}: {percent(each.spared_share or 0.0)} of {of}"
    elif each.layers > 1:
        yield "no few layers stand out"


def _names(weights: Sequence[str]) -> str:
    more = f" and {len(weights) - _MOST_TO_SPARE} more" if len(weights) > _MOST_TO_SPARE else ""
    return ", ".join(show(name, 60) for name in weights[:_MOST_TO_SPARE]) + more


def _reasons(each: LevelSensitivity) -> str:
    first, more = next(iter(each.reasons), "not measured"), len(each.reasons) - 1
    return show(first, 200) + (f", and {count_of(more, 'more reason')}" if more > 0 else "")

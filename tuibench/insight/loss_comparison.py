"""Comparison of two loss profiles by layer: the effect of the same change on the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.profile import LayerLoss, LossProfile
from tuibench.core.profile_spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.insight.comparison import OTHER_FILES
from tuibench.insight.loss import noise_of
from tuibench.insight.loss_assembly import MADE_UP

_LONGEST = 120
_DIGITS = 8
_TWO_MODELS = "no layer with weights is in both: these are two models"


@dataclass(frozen=True, slots=True)
class LossPair:
    """One layer of both sides, or of one."""

    id: str
    op: str
    weight: str
    old: LayerLoss | None
    new: LayerLoss | None
    noise: dict[str, tuple[float | None, float | None]]
    """Old and new noise / signal in amplitude, per level."""
    is_alike: bool = True
    """True if both are noise of the same data, so that a difference has a meaning."""

    @property
    def delta(self) -> float | None:
        """New - old at the level where it is greatest; None if no level is known on both sides, or they are unlike."""
        if not self.is_alike:
            return None
        # inf - inf is NaN, so equal values are handled first.
        pairs = [(old, new) for old, new in self.noise.values() if old is not None and new is not None]
        return max((0.0 if new == old else new - old for old, new in pairs), key=abs, default=None)


@dataclass(frozen=True, slots=True)
class LossComparison:
    """All layers, the greatest difference first, and the other differences between the profiles."""

    pairs: tuple[LossPair, ...]
    levels: tuple[str, ...]
    """Levels of either side."""
    shared: tuple[str, ...]
    """Levels of both sides."""
    words: tuple[str, ...]
    unlike: str = ""
    """Reason for missing differences, with advice; the layers then keep the order of the model."""


def compare_loss(
    old: LossProfile, new: LossProfile, environment: Sequence[str] = (), sizes: tuple[str, str] = ("", "")
) -> LossComparison:
    """Match layers by node and operator, subtract and sort; `sizes` are the batch and dims of each side."""
    levels = tuple(dict.fromkeys([*old.levels, *new.levels]))
    # A name such as "12" may be another node in another model.
    ours, theirs = ({(layer.id, layer.op): layer for layer in side.layers} for side in (old, new))
    shared = len(ours.keys() & theirs.keys())
    unlike = _unlike(old, new, sizes) if shared or not (ours or theirs) else _TWO_MODELS
    pairs = []
    for key in dict.fromkeys([*ours, *theirs]):
        a, b = ours.get(key), theirs.get(key)
        named = a or b
        noise = {level: (_noise(old, a, level), _noise(new, b, level)) for level in levels}
        pairs.append(LossPair(*key, named.weight if named else "", a, b, noise, not unlike))
    pairs.sort(key=lambda pair: -1.0 if pair.delta is None else abs(pair.delta), reverse=True)
    # Two models without a common layer need no note on which of their layers are compared.
    told = (line for line in environment if not (line == OTHER_FILES and unlike == _TWO_MODELS))
    words = [*_settings(old, new, sizes), *(show(line, 300) for line in told)]
    if 0 < shared < len(pairs):
        words.append(f"models: {shared} of {len(pairs)} layers with weights are in both")
    both = tuple(level for level in old.levels if level in new.levels)
    return LossComparison(tuple(pairs), levels, both, tuple(words), unlike)


def _unlike(old: LossProfile, new: LossProfile, sizes: tuple[str, str]) -> str:
    """Return why the noises of two profiles cannot be subtracted; '' if they can."""
    if old.kind != new.kind:
        return (
            "one is the noise of weights (a proxy), the other that of outputs, so no differences are told: "
            "profile both the same way, with or without --approximate"
        )
    same = _is_same_data(old, new) and old.samples == new.samples and sizes[0] == sizes[1]
    if old.kind != APPROXIMATED and not same:
        return (
            "they were not measured on the same data, so no differences are told: "
            "profile both with the same --inputs or --seed, --samples, -b and --dim"
        )
    return ""


def _noise(loss: LossProfile, layer: LayerLoss | None, level: str) -> float | None:
    return noise_of(loss, layer, level) if layer is not None and level in loss.levels else None


def _settings(old: LossProfile, new: LossProfile, sizes: tuple[str, str]) -> list[str]:
    pairs = [
        ("kind", old.kind, new.kind),
        ("data", *_data_words(old, new)),
        ("samples", str(old.samples), str(new.samples)),
        ("sizes", sizes[0] or "none", sizes[1] or "none"),
        ("levels", ", ".join(old.levels), ", ".join(new.levels)),
    ]
    words = [f"{name} {show(a, _LONGEST)} / {show(b, _LONGEST)}" for name, a, b in pairs if a != b]
    for side, name in ((old, "old"), (new, "new")):
        words += [] if side.complete else [f"{name}: stopped before all layers were measured"]
    return words


def _is_same_data(old: LossProfile, new: LossProfile) -> bool:
    """Compare data by checksum; without two checksums (synthetic data, old records), by name and seed."""
    if old.data_sha256 and new.data_sha256:
        return old.data_sha256 == new.data_sha256
    return old.data == new.data


def _data_words(old: LossProfile, new: LossProfile) -> tuple[str, str]:
    """Return descriptions of both sides' data; equal ones if the data is the same, whatever its files are called."""
    if _is_same_data(old, new):
        return "", ""
    first, second = (side.data.removesuffix(MADE_UP) or "none" for side in (old, new))
    if first != second:
        return first, second
    return f"{first} (sha256 {old.data_sha256[:_DIGITS]})", f"{second} (sha256 {new.data_sha256[:_DIGITS]})"

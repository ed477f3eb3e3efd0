"""Two loss profiles layer by layer: where the same change of a layer moves the outputs more or less than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.profile import LayerLoss, LossProfile
from tuibench.core.text import show
from tuibench.insight.comparison import OTHER_FILES
from tuibench.insight.loss import APPROXIMATED, noise_of
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
    """Per level: noise / signal in amplitude, old and new."""
    is_alike: bool = True
    """Whether both are noise of the same, so that they have a difference."""

    @property
    def delta(self) -> float | None:
        """New - old at the level where that is most; None where no level is known on both sides, or they are unlike."""
        if not self.is_alike:
            return None
        # Two infinite ones are equal.
        pairs = [(old, new) for old, new in self.noise.values() if old is not None and new is not None]
        return max((0.0 if new == old else new - old for old, new in pairs), key=abs, default=None)


@dataclass(frozen=True, slots=True)
class LossComparison:
    """All layers, the greatest difference first, and what else is not the same."""

    pairs: tuple[LossPair, ...]
    levels: tuple[str, ...]
    """Those of both sides together."""
    shared: tuple[str, ...]
    """Those that both have."""
    words: tuple[str, ...]
    unlike: str = ""
    """Why there are no differences, so that the layers come in the order of the model, and what to do instead."""


def compare_loss(
    old: LossProfile, new: LossProfile, environment: Sequence[str] = (), sizes: tuple[str, str] = ("", "")
) -> LossComparison:
    """Match by node and operator, subtract, sort; `sizes` are the batch and dims that each side ran at."""
    levels = tuple(dict.fromkeys([*old.levels, *new.levels]))
    # Names such as "12" stand for something else in another model.
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
    # What is compared of two models is said only where there is something.
    told = (line for line in environment if not (line == OTHER_FILES and unlike == _TWO_MODELS))
    words = [*_settings(old, new, sizes), *(show(line, 300) for line in told)]
    if 0 < shared < len(pairs):
        words.append(f"models: {shared} of {len(pairs)} layers with weights are in both")
    both = tuple(level for level in old.levels if level in new.levels)
    return LossComparison(tuple(pairs), levels, both, tuple(words), unlike)


def _unlike(old: LossProfile, new: LossProfile, sizes: tuple[str, str]) -> str:
    """Noises of different things have no difference."""
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
    """By what the files hold; by name and seed where data was made, or a record is of a time that noted no more."""
    if old.data_sha256 and new.data_sha256:
        return old.data_sha256 == new.data_sha256
    return old.data == new.data


def _data_words(old: LossProfile, new: LossProfile) -> tuple[str, str]:
    """Alike where the data is the same, whatever its files are called."""
    if _is_same_data(old, new):
        return "", ""
    first, second = (side.data.removesuffix(MADE_UP) or "none" for side in (old, new))
    if first != second:
        return first, second
    return f"{first} (sha256 {old.data_sha256[:_DIGITS]})", f"{second} (sha256 {new.data_sha256[:_DIGITS]})"

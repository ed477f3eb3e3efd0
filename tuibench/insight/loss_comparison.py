"""Two loss profiles layer by layer: where the same change of a layer moves the outputs more or less than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.profile import LayerLoss, LossProfile
from tuibench.core.text import show
from tuibench.insight.loss import noise_of

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class LossPair:
    """One layer of both sides, or of one."""

    id: str
    op: str
    weight: str
    old: LayerLoss | None
    new: LayerLoss | None
    noise: dict[str, tuple[float | None, float | None]]
    """Per level that both have: noise / signal in amplitude, old and new."""

    @property
    def delta(self) -> float | None:
        """New - old at the level where that is most; None where no level is known on both sides."""
        found = [new - old for old, new in self.noise.values() if old is not None and new is not None]
        return max(found, key=abs, default=None)


@dataclass(frozen=True, slots=True)
class LossComparison:
    """All layers, the greatest difference first, and what else is not the same."""

    pairs: tuple[LossPair, ...]
    levels: tuple[str, ...]
    """Those that both have."""
    words: tuple[str, ...]


def compare_loss(old: LossProfile, new: LossProfile, environment: Sequence[str] = ()) -> LossComparison:
    """Match by node, subtract, sort."""
    levels = tuple(level for level in old.levels if level in new.levels)
    ours, theirs = ({layer.id: layer for layer in side.layers} for side in (old, new))
    pairs = []
    for id_ in dict.fromkeys([*ours, *theirs]):
        a, b = ours.get(id_), theirs.get(id_)
        named = a or b
        noise = {level: (_noise(old, a, level), _noise(new, b, level)) for level in levels}
        pairs.append(LossPair(id_, named.op if named else "", named.weight if named else "", a, b, noise))
    pairs.sort(key=lambda pair: -1.0 if pair.delta is None else abs(pair.delta), reverse=True)
    words = [*_settings(old, new), *(show(line, 300) for line in environment)]
    shared, every = len(ours.keys() & theirs.keys()), len(pairs)
    words += [f"models: {shared} of {every} layers with weights are in both"] if shared < every else []
    return LossComparison(tuple(pairs), levels, tuple(words))


def _noise(loss: LossProfile, layer: LayerLoss | None, level: str) -> float | None:
    return noise_of(loss, layer, level) if layer is not None else None


def _settings(old: LossProfile, new: LossProfile) -> list[str]:
    pairs = [
        ("kind", old.kind, new.kind),
        ("data", old.data or "none", new.data or "none"),
        ("samples", str(old.samples), str(new.samples)),
        ("levels", ", ".join(old.levels), ", ".join(new.levels)),
    ]
    words = [f"{name} {show(a, _LONGEST)} / {show(b, _LONGEST)}" for name, a, b in pairs if a != b]
    for side, name in ((old, "old"), (new, "new")):
        words += [] if side.complete else [f"{name}: stopped before all layers were measured"]
    return words

"""Comparison of two profiles of one kind by layer, matched by nodes even if they are fused differently."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import Estimate
from tuibench.core.engine import with_version
from tuibench.core.profile import FOLDED, CostProfile, LayerLoss, LayerTime, LossProfile, PerformanceProfile, Profile
from tuibench.core.profile_facts import MADE_UP, time_of
from tuibench.core.reason import Reason
from tuibench.core.spec import APPROXIMATED
from tuibench.core.text import show
from tuibench.core.units import cpu_ranges, percent
from tuibench.present.profile.loss import noise_of
from tuibench.present.reason import reason_words

OTHER_FILES = Reason("other_files")
_NOTHING_SHARED = "models: no node is in both: these are two models, of which nothing but totals compares"
_MAX_CHARS = 80
_LEAST_SHARE = 1e-9
"""Least difference, as a share of a time; less is rounding in sums of floats."""


@dataclass(frozen=True, slots=True)
class LayerPair:
    """The rows of both sides that compute the same nodes; one side may be empty."""

    op: str
    """Operator of the heaviest row."""
    weight: str
    nodes: tuple[str, ...]
    """Nodes of both sides; empty for the engine's own work."""
    old: tuple[LayerTime, ...]
    new: tuple[LayerTime, ...]
    old_ms: Estimate
    """Sum of the side's rows; no value if none of them takes time."""
    new_ms: Estimate

    @property
    def delta_ms(self) -> float | None:
        """New - old; None if a time is unknown. A side without such a row takes no time for it."""
        if _is_unknown(self.old, self.old_ms) or _is_unknown(self.new, self.new_ms):
            return None
        old, new = self.old_ms.value or 0.0, self.new_ms.value or 0.0
        return 0.0 if abs(new - old) < _LEAST_SHARE * max(old, new) else new - old

    @property
    def ratio(self) -> float | None:
        """New / old."""
        old, new = self.old_ms.value, self.new_ms.value
        return new / old if old and new is not None else None

    @property
    def is_clear(self) -> bool | None:
        """True if the intervals of both sides do not overlap; None if a side has no interval."""
        old, new = self.old_ms, self.new_ms
        if old.low is None or old.high is None or new.low is None or new.high is None:
            return None
        return old.high < new.low or new.high < old.low


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """All pairs, the greatest difference first, and the other differences between the profiles."""

    pairs: tuple[LayerPair, ...]
    old_ms: Estimate
    """Time of one batch without the profiler."""
    new_ms: Estimate
    words: tuple[str, ...]
    """Differences between the sides that change times for other reasons than layers."""

    @property
    def ratio(self) -> float | None:
        """New / old of the whole model."""
        old, new = self.old_ms.value, self.new_ms.value
        return new / old if old and new is not None else None


def compare_performance(
    old: PerformanceProfile,
    new: PerformanceProfile,
    environment: Sequence[Reason] = (),
    operators: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> ProfileComparison:
    """Match layers, subtract their times and sort by difference.

    `environment` has the differences between the two machines that profiles do not record.
    `operators` maps each side's node ids to operators, as far as they are known.
    """
    rows = [*((0, layer) for layer in old.layers), *((1, layer) for layer in new.layers)]
    others = _others(*operators)
    groups = _groups(list(_apart(rows, others)), others)
    shown = not old.below_resolution, not new.below_resolution
    pairs = [_pair(group, shown) for group in groups]
    # Unknown differences come last.
    pairs.sort(key=lambda pair: -1.0 if pair.delta_ms is None else abs(pair.delta_ms), reverse=True)
    models = _models(old, new, others)
    # Two models without a common node need no note on which of their layers are compared.
    reasons = (one for one in environment if not (one == OTHER_FILES and _NOTHING_SHARED in models))
    words = (*_settings(old, new), *models, *(reason_words(one, 300) for one in reasons))
    return ProfileComparison(tuple(pairs), old.ms, new.ms, words)


def _others(old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[str]:
    """Return the ids that name different operators on the two sides, as "12" may in two models."""
    return frozenset(id_ for id_, op in old.items() if op and new.get(id_, op) not in ("", op))


def _node_key(side: int, node: str, others: frozenset[str]) -> Hashable:
    return (side, node) if node in others else node


def _apart(rows: Sequence[tuple[int, LayerTime]], others: frozenset[str]) -> Iterator[tuple[int, LayerTime]]:
    """Split rows of folded nodes, so that one such row does not join all layers that run its nodes elsewhere."""
    run = {_node_key(side, node, others) for side, layer in rows if layer.kind != FOLDED for node in layer.nodes}
    for side, layer in rows:
        if layer.kind != FOLDED:
            yield side, layer
            continue
        left = tuple(node for node in layer.nodes if _node_key(side, node, others) not in run)
        if left or not layer.nodes:
            yield side, replace(layer, nodes=left)
        gone = (node for node in layer.nodes if _node_key(side, node, others) in run)
        yield from ((side, replace(layer, nodes=(node,))) for node in gone)


def _groups(rows: Sequence[tuple[int, LayerTime]], others: frozenset[str]) -> list[list[tuple[int, LayerTime]]]:
    """Return rows grouped by shared nodes, directly or through other rows; rows without nodes by kind and operator."""
    above = list(range(len(rows)))

    def root(i: int) -> int:
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    first: dict[Hashable, int] = {}
    for i, (side, layer) in enumerate(rows):
        keys = [_node_key(side, node, others) for node in layer.nodes]
        for key in keys or [(layer.kind, layer.op)]:
            above[root(i)] = root(first.setdefault(key, i))
    groups: dict[int, list[tuple[int, LayerTime]]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(root(i), []).append(row)
    return list(groups.values())


def _pair(group: Sequence[tuple[int, LayerTime]], shown: tuple[bool, bool]) -> LayerPair:
    sides = tuple(tuple(layer for side, layer in group if side == wanted) for wanted in (0, 1))
    heaviest = max((layer for _, layer in group), key=time_of)
    weighty = [layer for _, layer in group if layer.weight]
    return LayerPair(
        op=heaviest.op,
        weight=heaviest.weight or (max(weighty, key=time_of).weight if weighty else ""),
        nodes=tuple(dict.fromkeys(id_ for _, layer in group for id_ in layer.nodes)),
        old=sides[0],
        new=sides[1],
        old_ms=_sum(sides[0], shown[0]),
        new_ms=_sum(sides[1], shown[1]),
    )


def _sum(layers: Iterable[LayerTime], shown: bool) -> Estimate:
    """Return the sum of times; interval ends add up, since the correlation of rows in one process is unknown."""
    if not shown:
        return Estimate(None, reason=Reason("below_resolution"))
    timed = [layer.ms for layer in layers if layer.ms.value is not None]
    if not timed:
        return Estimate(None, reason=Reason("no_timed_row"))
    value = math.fsum(ms.value or 0.0 for ms in timed)
    lows, highs = [ms.low for ms in timed if ms.low is not None], [ms.high for ms in timed if ms.high is not None]
    if len(lows) < len(timed) or len(highs) < len(timed):
        return Estimate(value, n=min(ms.n for ms in timed), reason=Reason("row_without_interval"))
    return Estimate(value, math.fsum(lows), math.fsum(highs), min(ms.n for ms in timed))


def _is_unknown(rows: Sequence[LayerTime], ms: Estimate) -> bool:
    """Return whether rows that should take time have none; folded rows take none."""
    return ms.value is None and any(row.kind != FOLDED for row in rows)


def _settings(old: PerformanceProfile, new: PerformanceProfile) -> list[str]:
    """Return the settings and facts that differ between the sides."""
    pairs = [
        ("engine", *(with_version(one.engine, one.engine_version) for one in (old, new))),
        ("cores", str(old.cores), str(new.cores)),
        ("CPUs", cpu_ranges(old.cpus), cpu_ranges(new.cpus)),
        ("threads", str(old.threads), str(new.threads)),
        ("precision", old.precision, new.precision),
        ("batch", _batch(old), _batch(new)),
        ("dims", _dims(old), _dims(new)),
        ("instruction sets", " ".join(old.isa), " ".join(new.isa)),
        ("CPU", _cpu(old), _cpu(new)),
    ]
    differ = [f"{name} {show(a, _MAX_CHARS)} / {show(b, _MAX_CHARS)}" for name, a, b in pairs if a != b and a and b]
    grades = [side.grade.letter if side.grade is not None else "" for side in (old, new)]
    if any(letter in ("C", "D") for letter in grades):
        differ.append(f"grades {' / '.join(show(letter, 4) or '–' for letter in grades)}: the machine was disturbed")
    for side, name in ((old, "old"), (new, "new")):
        differ += [f"{name}: times per layer are below the profiler's resolution"] if side.below_resolution else []
    return differ


def _models(old: PerformanceProfile, new: PerformanceProfile, others: frozenset[str]) -> list[str]:
    ours, theirs = (
        {_node_key(side, id_, others) for layer in profile.layers for id_ in layer.nodes}
        for side, profile in enumerate((old, new))
    )
    if ours == theirs:
        return []
    shared, every = len(ours & theirs), len(ours | theirs)
    if not shared:
        return [_NOTHING_SHARED]
    return [f"models: {shared} of {every} nodes ({percent(shared / every)}) are in both"]


def _batch(side: PerformanceProfile) -> str:
    return "as in the model" if side.batch is None else str(side.batch)


def _dims(side: PerformanceProfile) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(side.dims.items())) or "none"


def _cpu(side: PerformanceProfile) -> str:
    return side.roofline.cpu if side.roofline is not None else ""


_MAX_VALUE_CHARS = 120
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
    old: LossProfile, new: LossProfile, environment: Sequence[Reason] = (), sizes: tuple[str, str] = ("", "")
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
    reasons = (one for one in environment if not (one == OTHER_FILES and unlike == _TWO_MODELS))
    words = [*_loss_comparison_settings(old, new, sizes), *(reason_words(one, 300) for one in reasons)]
    if 0 < shared < len(pairs):
        words.append(f"models: {shared} of {len(pairs)} layers with weights are in both")
    both = tuple(level for level in old.levels if level in new.levels)
    return LossComparison(tuple(pairs), levels, both, tuple(words), unlike)


def _unlike(old: LossProfile, new: LossProfile, sizes: tuple[str, str]) -> str:
    """Return why the noises of two profiles cannot be subtracted; '' if they can."""
    if old.kind != new.kind:
        return (
            "one is the noise of weights (a proxy), the other that of outputs, so no differences are shown: "
            "profile both the same way, with or without --approximate"
        )
    same = _is_same_data(old, new) and old.samples == new.samples and sizes[0] == sizes[1]
    if old.kind != APPROXIMATED and not same:
        return (
            "they were not measured on the same data, so no differences are shown: "
            "profile both with the same --inputs or --seed, --samples, -b and --dim"
        )
    return ""


def _noise(loss: LossProfile, layer: LayerLoss | None, level: str) -> float | None:
    return noise_of(loss, layer, level) if layer is not None and level in loss.levels else None


def _loss_comparison_settings(old: LossProfile, new: LossProfile, sizes: tuple[str, str]) -> list[str]:
    pairs = [
        ("kind", old.kind, new.kind),
        ("data", *_data_words(old, new)),
        ("samples", str(old.samples), str(new.samples)),
        ("sizes", sizes[0] or "none", sizes[1] or "none"),
        ("levels", ", ".join(old.levels), ", ".join(new.levels)),
    ]
    words = [f"{name} {show(a, _MAX_VALUE_CHARS)} / {show(b, _MAX_VALUE_CHARS)}" for name, a, b in pairs if a != b]
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


def compare_profiles(
    old: Profile, new: Profile, environment: Sequence[Reason] = ()
) -> ProfileComparison | LossComparison | None:
    """Compare by layer; None if their kinds differ. `environment` has the differences between the two machines."""
    if old.performance is not None and new.performance is not None:
        operators = _operators(old.costs), _operators(new.costs)
        return compare_performance(old.performance, new.performance, environment, operators)
    if old.loss is not None and new.loss is not None:
        return compare_loss(old.loss, new.loss, environment, (_sizes(old.costs), _sizes(new.costs)))
    return None


def _operators(costs: CostProfile) -> dict[str, str]:
    return {node.id: node.op for node in costs.nodes}


def _sizes(costs: CostProfile) -> str:
    batch = [f"batch {costs.batch}"] if costs.batch is not None else []
    return " ".join([*batch, *(f"{name}={size}" for name, size in sorted(costs.dims.items()))])

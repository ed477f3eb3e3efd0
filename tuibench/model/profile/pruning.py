"""The gain by zeros in the weights of a model, with an engine that can pretend them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from tuibench.core.cell import Estimate
from tuibench.core.engine import full_id, split_id
from tuibench.core.errors import TuibenchError
from tuibench.core.profile import PRUNED_RUNS, PrunedPoint, ZeroEffect
from tuibench.core.reason import Reason, because
from tuibench.core.value import dataclass
from tuibench.engines.protocol import LayerOrder, PruningTimer

_SHARE = 0.9
"""The share by which engines are compared."""
_WORTH = 0.9
"""Part of the dense time below which zeros are worth something."""


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes whose weights get a share of zeros: those of one operator, or of one layer."""

    operator: str
    layer: str
    nodes: tuple[str, ...]
    zeros: float


Say = Callable[[PrunedPoint | None, float], None]
"""Called with None before a share of zeros, and with its point after it."""


def time_all(timer: PruningTimer, engine: str, order: LayerOrder, zeros: Sequence[float], say: Say) -> ZeroEffect:
    """Measure each share of zeros; one that the engine does not survive is a point without a time."""
    order = replace(order, runs=min(order.runs, PRUNED_RUNS))
    found: dict[float, PrunedPoint] = {}
    for share in zeros:
        say(None, share)
        try:
            found[share] = timer.time_pruned(order, share, _ignore)
        except TuibenchError as error:
            found[share] = PrunedPoint(share, Estimate(None, reason=error.reason))
        say(found[share], share)
    return conclude(engine, [found[share] for share in zeros])


def time_parts(timer: PruningTimer, order: LayerOrder, parts: Sequence[Part], say: Say) -> None:
    """Measure a copy for each part; one that the engine does not survive is a point without a time."""
    order = replace(order, runs=min(order.runs, PRUNED_RUNS))
    for part in parts:
        say(None, part.zeros)
        try:
            found = timer.time_zeroed(order, part.nodes, part.zeros, _ignore)
        except TuibenchError as error:
            found = PrunedPoint(part.zeros, Estimate(None, reason=error.reason))
        say(replace(found, operator=part.operator, layer=part.layer), part.zeros)


def conclude(engine: str, points: Sequence[PrunedPoint]) -> ZeroEffect:
    """Return whether the engine gains from zeros, from the points with none and with 90 %."""
    times = {point.zeros: point.ms.value for point in points}
    dense, pruned = times.get(0.0), times.get(_SHARE)
    ratio = pruned / dense if dense and pruned else None
    exploits = None if ratio is None else ratio < _WORTH
    code = {True: "zeros_gain", False: "zeros_gain_nothing", None: "zeros_unclear"}[exploits]
    sentence = because(code, engine=engine, share=_SHARE, ratio=ratio, low=None, high=None)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    release = split_id(full_id(engine))[1]
    return ZeroEffect(engine, release, Estimate(ratio, reason=Reason("one_process")), exploits, sentence, now)


def _ignore(stage: str, done: int, of: int) -> None:
    """Ignore the stages of one share."""

"""The parts of a loss profile: what the weights tell, then one changed layer after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tuibench.core.cell import Failure
from tuibench.core.failure import failure_words
from tuibench.core.profile import INT8, LayerLoss, LossPoint
from tuibench.core.record import from_plain
from tuibench.runs.profile_part import COSTS, LOSSES, WEIGHTS
from tuibench.runs.profile_performance import make_costs
from tuibench.runs.profile_sitting import ProfileSitting

_WEIGHTS_S = 60.0
_MOST_S = 3600.0
_WORST = 10
"""Layers that a budget looks at again."""
_MOST_DEATHS = 3


class LossMaker:
    """Makes one part after the other."""

    def __init__(self, sitting: ProfileSitting) -> None:
        self._sitting = sitting
        self._parts = sitting.parts

    def make(self, name: str) -> None:
        """One part, by its name."""
        if name == COSTS:
            make_costs(self._sitting)
        elif name == WEIGHTS:
            self._make_weights()
        elif self._parts.weights is not None:
            self._make_losses()

    def _make_weights(self) -> None:
        sitting = self._sitting
        sitting.pace.begin(WEIGHTS)
        told = {"levels": list(sitting.asked.levels)}
        answer = sitting.caller.ask(WEIGHTS, told, expected_s=_WEIGHTS_S)
        if isinstance(answer, Failure):
            sitting.fail(WEIGHTS, answer)
        else:
            sitting.keep(WEIGHTS, [from_plain(LayerLoss, layer) for layer in answer])
        sitting.pace.end()

    def _make_losses(self) -> None:
        sitting = self._sitting
        sitting.pace.begin(LOSSES)
        levels = sitting.asked.levels
        if sitting.asked.budget and len(levels) > 1:
            first = INT8 if INT8 in levels else levels[0]
            answer = self._change([first], None)
            if not isinstance(answer, Failure):
                answer = self._change([level for level in levels if level != first], self._worst(first))
        else:
            answer = self._change(levels, None)
        if isinstance(answer, Failure):
            sitting.fail(LOSSES, answer)
        else:
            sitting.keep(LOSSES, answer)
        sitting.pace.end()

    def _change(self, levels: Sequence[str], layers: list[str] | None) -> Any:
        """All these layers at all these levels; what a child dies of is left out of the next child's work."""
        sitting, deaths, at = self._sitting, 0, {}  # type: ProfileSitting, int, dict[str, Any]

        def hear(line: dict[str, Any]) -> None:
            if "begin" in line:
                sitting.note(LOSSES, line["begin"])
            if "at" in line:
                at.update(line["at"])
            if "loss" in line:
                point = from_plain(LossPoint, line["loss"]["point"])
                sitting.keep_piece(LOSSES, str(line["loss"]["id"]), point, point.level)
                at.clear()
            sitting.pace.piece(len(self._parts.points), self._of())
            sitting.pass_between()

        while True:
            before = len(self._parts.points)
            told = sitting.placed() | {
                "levels": list(levels),
                "layers": layers,
                "skip": [list(one) for one in self._parts.points],
                "samples": sitting.asked.samples,
                "max_s": _MOST_S,
            }
            at.clear()
            answer = sitting.caller.ask(LOSSES, told, expected_s=self._expected_s(), hear=hear)
            if not isinstance(answer, Failure):
                return answer
            deaths += 1
            if deaths > _MOST_DEATHS or (not at and len(self._parts.points) == before):
                return answer
            if at:
                point = LossPoint(str(at["level"]), None, None, reason=failure_words(answer))
                sitting.keep_piece(LOSSES, str(at["id"]), point, point.level)
            sitting.pass_between()

    def _of(self) -> int:
        """How many there will be: those that were there when the child began, and those that it has to make."""
        return max(len(self._parts.points), int(self._parts.begin.get("points") or 0))

    def _expected_s(self) -> float:
        """How long a child may be silent: it says something with each changed layer."""
        return max(30.0, 10 * float(self._parts.begin.get("ms_each") or 0.0) / 1000)

    def _worst(self, level: str) -> list[str]:
        """The layers whose change at that level is seen most in the outputs."""
        found = [(point.sqnr_db, one) for (one, at), point in self._parts.points.items() if at == level]
        return [one for _, one in sorted((db, one) for db, one in found if db is not None)[:_WORST]]

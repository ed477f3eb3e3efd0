"""The parts of a loss profile: what the weights tell, then one changed layer after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tuibench.core.cell import Failure
from tuibench.core.failure import failure_words
from tuibench.core.profile import LayerLoss, LossPoint
from tuibench.core.record import from_plain
from tuibench.insight.loss_assembly import worst_layers
from tuibench.runs.profile_part import COSTS, LOSSES, WEIGHTS, first_level
from tuibench.runs.profile_performance import make_costs
from tuibench.runs.profile_sitting import ProfileSitting

_WEIGHTS_S = 60.0
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
            sitting.keep(WEIGHTS, from_plain(tuple[LayerLoss, ...], answer))
        sitting.pace.end()

    def _make_losses(self) -> None:
        sitting = self._sitting
        sitting.pace.begin(LOSSES)
        levels = sitting.asked.levels
        first = first_level(sitting.asked)
        rounds = [levels]
        if sitting.asked.budget and len(levels) > 1:
            rounds = [(first,), tuple(level for level in levels if level != first)]
        answers: list[dict[str, Any]] = []
        for number, some in enumerate(rounds):
            answer = self._change(some, self._worst(first) if number else None)
            if isinstance(answer, Failure):
                sitting.fail(LOSSES, answer)
                sitting.pace.end()
                return
            answers.append(answer)
        sitting.keep(LOSSES, _join(answers))
        sitting.pace.end()

    def _change(self, levels: Sequence[str], layers: list[str] | None) -> Any:
        """All these layers at all these levels; what a child dies of is left out of the next child's work."""
        sitting, deaths = self._sitting, 0
        while True:
            begun = [False]
            known = list(self._parts.points)

            def hear(line: dict[str, Any], begun: list[bool] = begun, before: int = len(known)) -> None:
                if "begin" in line:
                    begun[0] = True
                    sitting.note(LOSSES, line["begin"] | {"points": before + int(line["begin"].get("points") or 0)})
                if "loss" in line:
                    point = from_plain(LossPoint, line["loss"]["point"])
                    sitting.keep_piece(LOSSES, str(line["loss"]["id"]), point, point.level)
                sitting.pace.piece(len(self._parts.points), int(self._parts.begin.get("points") or 0))
                sitting.pass_between()

            told: dict[str, Any] = {"levels": list(levels), "layers": layers, "skip": [list(one) for one in known]}
            told |= {"samples": sitting.asked.samples, **sitting.placed()}
            answer = sitting.caller.ask(LOSSES, told, expected_s=self._expected_s(), hear=hear)
            if not isinstance(answer, Failure):
                return answer
            deaths += 1
            culprit = self._next(levels, layers) if begun[0] else None
            if deaths > _MOST_DEATHS or culprit is None:
                return answer
            one, level = culprit
            sitting.keep_piece(LOSSES, one, LossPoint(level, None, None, reason=failure_words(answer)), level)
            sitting.pass_between()

    def _next(self, levels: Sequence[str], layers: list[str] | None) -> tuple[str, str] | None:
        """Which layer and level a child was at: it takes the layers in the order in which their weights were told."""
        able = [layer.id for layer in self._parts.weights or () if not layer.reason]
        pairs = [(one, level) for one in able if layers is None or one in layers for level in levels]
        return next((pair for pair in pairs if pair not in self._parts.points), None)

    def _expected_s(self) -> float:
        """How long a child may be silent: it says something with each changed layer."""
        return max(30.0, 10 * float(self._parts.begin.get("ms_each") or 0.0) / 1000)

    def _worst(self, level: str) -> list[str]:
        """The layers whose change at that level is seen most in the outputs."""
        return list(worst_layers([(one, point) for (one, at), point in self._parts.points.items() if at == level]))


def _join(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What several children said of the same outputs."""
    joined: dict[str, Any] = {}
    for answer in answers:
        joined |= answer
    notes = dict.fromkeys(note for answer in answers for note in answer.get("notes", ()))
    complete = all(answer.get("complete", True) for answer in answers)
    return joined | {"notes": list(notes), "complete": complete}

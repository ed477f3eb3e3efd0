"""Makes the parts of a loss profile: the weights' proxies, then one changed layer after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tuibench.core.profile import ALREADY_INT8, COSTS, LOSSES, WEIGHTS, LayerLoss, LossPoint
from tuibench.core.profile_facts import count_points, first_points, worst_layers
from tuibench.core.reason import Failure, because
from tuibench.core.record import from_plain
from tuibench.runs.profile.parts import order_levels
from tuibench.runs.profile.run import ProfileRun

_WEIGHTS_S = 60.0
_MOST_DEATHS = 3


class LossRun(ProfileRun):
    """Makes the parts of a loss profile one by one."""

    def make(self, name: str) -> None:
        """Make the part with this name."""
        if name == COSTS:
            self.make_costs()
        elif name == WEIGHTS:
            self._make_weights()
        elif self.parts.weights is not None:
            self._make_losses()

    def _make_weights(self) -> None:
        self.pace.begin(WEIGHTS)
        request = {"levels": list(self.asked.levels)}
        answer = self.caller.ask(WEIGHTS, request, expected_s=_WEIGHTS_S)
        if isinstance(answer, Failure):
            self.fail(WEIGHTS, answer)
        else:
            self.keep(WEIGHTS, from_plain(tuple[LayerLoss, ...], answer))
        self.pace.end()

    def _make_losses(self) -> None:
        self.pace.begin(LOSSES)
        answers: list[dict[str, Any]] = []
        for levels, layers in self._rounds():
            answer = self._change(levels, layers)
            if isinstance(answer, Failure):
                self.fail(LOSSES, answer)
                self.pace.end()
                return
            answers.append(answer)
        self.keep(LOSSES, _join(answers))
        self.pace.end()

    def _rounds(self) -> Iterator[tuple[Sequence[str], list[str] | None]]:
        """Yield levels and the layers to change (None for all); each round depends on the results of earlier ones."""
        asked, points = self.asked, self.parts.points
        levels = order_levels(asked)
        if not asked.budget or len(levels) < 2:
            yield levels, None
            return
        yield levels[:1], None
        made = [one for (one, level), point in points.items() if level == levels[0] and point.reason == ALREADY_INT8]
        if made:
            yield levels[1:2], made
        worst = worst_layers(first_points([(one, point) for (one, _), point in points.items()], levels))
        if worst:
            yield levels[1:], list(worst)

    def _change(self, levels: Sequence[str], layers: list[str] | None) -> Any:
        """Change these layers at these levels. If a child dies, record the point as failed and start another child."""
        deaths = 0
        while True:
            at: list[tuple[str, str]] = []
            known = list(self.parts.points)

            def hear(line: dict[str, Any], at: list[tuple[str, str]] = at, before: int = len(known)) -> None:
                if "at" in line:
                    at[:] = [(str(line["at"]["id"]), str(line["at"]["level"]))]
                    return
                if "stage" in line:
                    return
                if "begin" in line:
                    points = before + int(line["begin"].get("points") or 0)
                    self.note(LOSSES, line["begin"] | {"points": max(points, self._foreseen(points, layers))})
                if "loss" in line:
                    at.clear()
                    point = from_plain(LossPoint, line["loss"]["point"])
                    self.keep_piece(LOSSES, str(line["loss"]["id"]), point, point.level)
                self.pace.piece(len(self.parts.points), int(self.parts.begin.get("points") or 0))
                self.pass_between()

            request: dict[str, Any] = {"levels": list(levels), "layers": layers, "skip": [list(one) for one in known]}
            request |= {"samples": self.asked.samples, **self.placed()}
            answer = self.caller.ask(LOSSES, request, expected_s=self._expected_s(), hear=hear)
            if not isinstance(answer, Failure):
                return answer
            deaths += 1
            # Only the current layer is to blame; a death outside any layer fails the whole part.
            if deaths > _MOST_DEATHS or not at:
                return answer
            one, level = at[0]
            # Without memory or time the outputs remain unknown.
            reason = because("change_ended_child", why=answer.message)
            point = LossPoint(level, None, None, reason=reason, harm=answer.kind == "signal")
            self.keep_piece(LOSSES, one, point, level)
            self.pass_between()

    def _foreseen(self, points: int, layers: list[str] | None) -> int:
        """Return the expected number of points; estimate later rounds if this is the first of a budget."""
        asked, known = self.asked, self.parts.points
        if not asked.budget or layers is not None:
            return points
        first = order_levels(asked)[0]
        others = sum(level != first for _, level in known)
        return count_points(points - others, len(asked.levels), budget=True)

    def _expected_s(self) -> float:
        """Return the longest silence of a child, which reports each changed layer."""
        return max(30.0, 10 * float(self.parts.begin.get("ms_each") or 0.0) / 1000)


def _join(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Join the answers of several children on the same outputs."""
    joined: dict[str, Any] = {}
    for answer in answers:
        joined |= answer
    notes = [note for answer in answers for note in answer.get("notes", ())]
    return joined | {"notes": [note for at, note in enumerate(notes) if note not in notes[:at]]}

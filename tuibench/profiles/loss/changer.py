"""The session with changed layers; compares its outputs with those of the unchanged model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tuibench.arrays.bundle import Array, Feed
from tuibench.core.errors import ModelError
from tuibench.core.profile import LossPoint
from tuibench.core.text import show
from tuibench.profiles.loss.lifting import Lifted
from tuibench.profiles.loss.likeness import Likeness, floats
from tuibench.profiles.loss.session import Runs, engine_words

Outputs = list[dict[str, Array]]
"""The float outputs of each sample."""


@dataclass
class Changer:
    """The session with changed layers, and its outputs without any change."""

    session: Runs
    lifted: Lifted
    feeds: Sequence[Feed]
    classes: frozenset[str]
    probabilities: frozenset[str]
    reason: str = ""
    """The reason why the unchanged outputs allow no comparison."""
    _unchanged: Outputs = field(default_factory=list)

    def remember(self) -> None:
        """Run the unchanged model and keep its outputs."""
        try:
            self._unchanged = [floats(self._run(feed, {})) for feed in self.feeds]
        except MemoryError:
            raise
        except Exception as error:  # an engine raises any type; its words are the result
            words = show(engine_words(error))
            raise ModelError(f"ONNX Runtime, with the weights of layers as inputs: {words}") from None

    def compare(self, changed: Mapping[str, Array], level: str) -> LossPoint:
        """Compare the outputs with these weights against the unchanged ones."""
        if not self._unchanged[0]:
            self.reason = "no output holds floats, so there is nothing to compare"
        if self.reason:
            return LossPoint(level, None, None, reason=self.reason)
        found = Likeness(self.classes, self.probabilities)
        try:
            for feed, expected in zip(self.feeds, self._unchanged, strict=True):
                found.add(expected, self._run(feed, changed))
        except MemoryError:
            raise
        except Exception as error:  # a model may fail on changed weights: that is a result
            reason = show(engine_words(error))
            return LossPoint(level, None, None, samples=found.samples, reason=reason, harm=True)
        return found.point(level)

    def against(self, others: Outputs) -> float | None:
        """Return the distance of the unchanged outputs from others in dB; None if equal or not comparable."""
        found = Likeness(frozenset())
        for mine, other in zip(self._unchanged, others, strict=True):
            found.add(other, mine)
        return found.point("").sqnr_db

    def _run(self, feed: Feed, changed: Mapping[str, Array]) -> dict[str, Any]:
        return self.session.run({**feed, **self.lifted.weights, **changed})

"""The session in which layers are changed, and how its answers are held against those of the unchanged model."""

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
"""The floats among the outputs of each sample."""


@dataclass
class Changer:
    """The session in which layers are changed, and what it answers where none is."""

    session: Runs
    lifted: Lifted
    feeds: Sequence[Feed]
    classes: frozenset[str]
    probabilities: frozenset[str]
    reason: str = ""
    """Why nothing can be compared with what the unchanged model answers."""
    _unchanged: Outputs = field(default_factory=list)

    def remember(self) -> None:
        """Run the unchanged model."""
        try:
            self._unchanged = [floats(self._run(feed, {})) for feed in self.feeds]
        except MemoryError:
            raise
        except Exception as error:  # an engine raises whatever it likes; its words are the result
            words = show(engine_words(error))
            raise ModelError(f"ONNX Runtime, with the weights of layers as inputs: {words}") from None

    def compare(self, changed: Mapping[str, Array], level: str) -> LossPoint:
        """The outputs with these weights against those without."""
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
        except Exception as error:  # a model may refuse what it computes from changed weights: that is a result
            reason = show(engine_words(error))
            return LossPoint(level, None, None, samples=found.samples, reason=reason, harm=True)
        return found.point(level)

    def against(self, others: Outputs) -> float | None:
        """How far the unchanged outputs are from others, in dB; None where they are equal or cannot be compared."""
        found = Likeness(frozenset())
        for mine, other in zip(self._unchanged, others, strict=True):
            found.add(other, mine)
        return found.point("").sqnr_db

    def _run(self, feed: Feed, changed: Mapping[str, Array]) -> dict[str, Any]:
        return self.session.run({**feed, **self.lifted.weights, **changed})

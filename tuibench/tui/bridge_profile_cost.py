"""Costs of a model at the sizes typed into a profile form, each counted once by a child while the form is open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from tuibench.core.errors import TuibenchError
from tuibench.core.profile import LOSS, CostProfile
from tuibench.core.spec import BenchmarkSpec, InputSettings
from tuibench.insight.loss_assembly import count_layers


class CountedCosts:
    """Costs by sizes and content. What could not be counted is not tried again while the form is open."""

    def __init__(
        self, count: Callable[[BenchmarkSpec], tuple[CostProfile, str]], count_layers: Callable[[BenchmarkSpec], int]
    ) -> None:
        """Both ask a child where nobody did before; `count` also returns which content it counted."""
        self._count = count
        self._count_layers = count_layers
        self._costs: dict[tuple[BenchmarkSpec, str], CostProfile | None] = {}
        """None where counting failed."""
        self._layers: dict[str, int | None] = {}
        """Layers of a loss profile by content, where costs show none; None where looking failed."""

    def forget(self) -> None:
        """Begin another form: what kept a child from counting may be over."""
        self._costs, self._layers = {}, {}

    def layers(self, sha256: str) -> int | None:
        """Return the number of layers with weights, None where nobody had to look at them."""
        return self._layers.get(sha256)

    def at(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """Return what was counted of that content at these sizes."""
        return self._costs.get((_sizes(spec), sha256))

    def lacks(self, spec: BenchmarkSpec, sha256: str) -> bool:
        """Whether `count` can still find out something."""
        counted = (_sizes(spec), sha256) in self._costs
        return bool(sha256) and (not counted or self._lacks_layers(spec, sha256))

    def count(self, spec: BenchmarkSpec, sha256: str) -> None:
        """Count what is lacking; errors leave it unknown, as the form says elsewhere what is wrong with the model."""
        asked = _sizes(spec)
        if not self.lacks(spec, sha256):
            return
        if (asked, sha256) not in self._costs:
            self._costs[asked, sha256] = None
            with suppress(TuibenchError):
                costs, found = self._count(asked)
                self._costs[asked, sha256] = costs if found == sha256 else None
        if self._lacks_layers(spec, sha256):
            self._layers[sha256] = None
            with suppress(TuibenchError):
                self._layers[sha256] = self._count_layers(asked)

    def _lacks_layers(self, spec: BenchmarkSpec, sha256: str) -> bool:
        costs, asked = self.at(spec, sha256), spec.profile
        is_loss = asked is not None and asked.kind == LOSS
        return is_loss and costs is not None and sha256 not in self._layers and not count_layers(costs)


def _sizes(spec: BenchmarkSpec) -> BenchmarkSpec:
    """The same sizes alone: costs depend neither on cores nor on how much is measured, nor on what data."""
    inputs = replace(spec.inputs, distinct=InputSettings().distinct, file=None)
    return replace(spec, cores=(1,), profile=None, inputs=inputs)

"""What a model was counted to cost, for the time that its profile takes: of other sizes that says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tuibench.core.profile import CostProfile
from tuibench.core.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class Counted:
    """Costs, with the content that they are of and what was asked of it."""

    costs: CostProfile
    sha256: str
    spec: BenchmarkSpec

    def at(self, spec: BenchmarkSpec) -> CostProfile | None:
        """The same as `spec` asks for it; None where other sizes than were counted make other costs."""
        if not self._is_alike(spec):
            return None
        costs = self.costs
        if not spec.batches or not costs.batch:
            return None if self.spec.batches and not spec.batches else costs
        # What most operators cost grows with the batch.
        times = spec.batches[0] / costs.batch
        return replace(costs, macs=round(costs.macs * times), element_flops=round(costs.element_flops * times))

    def _is_alike(self, spec: BenchmarkSpec) -> bool:
        asked, wanted = ({name: sizes[0] for name, sizes in one.dims} for one in (self.spec, spec))
        # Of a dim that nobody gave, both have what the model falls back to.
        same = asked.keys() <= wanted.keys() and wanted.items() <= self.costs.dims.items()
        return same and (spec.sequence_lengths, spec.inputs.shapes, spec.inputs.batch_dim) == (
            self.spec.sequence_lengths,
            self.spec.inputs.shapes,
            self.spec.inputs.batch_dim,
        )

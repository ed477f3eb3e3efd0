"""What a model was counted to cost, for the time that its profile takes: of other sizes that says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from tuibench.core.errors import TuibenchError
from tuibench.core.profile import CostProfile
from tuibench.core.spec import BenchmarkSpec, InputSettings


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


class Counts:
    """All that was counted while a form is open, and what could not be."""

    def __init__(self, count: Callable[[BenchmarkSpec], tuple[CostProfile, str]]) -> None:
        """`count` asks a child, where nobody did before, and says which content it counted."""
        self._count = count
        self._known: list[Counted] = []
        self._vain: set[object] = set()
        self._turn = Lock()

    def forget(self) -> None:
        """A form is opened: what was in the way of counting may be over."""
        self._known, self._vain = [], set()

    def put(self, counted: Counted) -> None:
        """What was counted elsewhere."""
        self._known = [*self._known, counted]

    def at(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """What is known of that content at these sizes."""
        costs = (one.at(spec) for one in reversed(self._known) if one.sha256 == sha256)
        return next(filter(None, costs), None)

    def lacks(self, spec: BenchmarkSpec, sha256: str) -> bool:
        """Whether counting may tell more."""
        return bool(sha256) and self.at(spec, sha256) is None and (_unbatched(spec), sha256) not in self._vain

    def find_out(self, spec: BenchmarkSpec, sha256: str) -> None:
        """Count what is lacking; one child at a time, and none twice for what it cannot tell."""
        with self._turn:
            if not self.lacks(spec, sha256):
                return
            asked = _unbatched(spec)
            # Also where it is of another content by now, or of other sizes than were asked for.
            self._vain = {*self._vain, (asked, sha256)}
            try:
                self.put(Counted(*self._count(asked), asked))
            except TuibenchError:
                return  # what is wrong with it is said elsewhere; here it is only not known how long it takes


def _unbatched(spec: BenchmarkSpec) -> BenchmarkSpec:
    """The same sizes at one item, which serves every batch; how much is measured does not matter."""
    usual = InputSettings()
    inputs = replace(spec.inputs, distinct=usual.distinct)
    return replace(spec, batches=(), cores=(1,), profile=None, inputs=inputs)

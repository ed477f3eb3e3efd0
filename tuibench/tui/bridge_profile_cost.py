"""What was counted of a model, for the time that its profile takes: of other sizes its costs say nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from tuibench.core.errors import TuibenchError
from tuibench.core.profile import LOSS, CostProfile
from tuibench.core.spec import BenchmarkSpec, InputSettings
from tuibench.insight.loss_assembly import count_layers


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

    def __init__(
        self,
        count: Callable[[BenchmarkSpec], tuple[CostProfile, str]],
        count_layers: Callable[[BenchmarkSpec], int],
    ) -> None:
        """Both ask a child, where nobody did before; `count` says which content it counted."""
        self._count = count
        self._count_layers = count_layers
        self._known: list[Counted] = []
        self._layers: dict[str, int] = {}
        """That a loss profile has, of those contents whose costs tell of none."""
        self._vain: set[object] = set()
        """Of what counting told no more."""
        self._turn = Lock()

    def forget(self) -> None:
        """A form is opened: what was in the way of counting may be over."""
        self._known, self._layers, self._vain = [], {}, set()

    def put(self, counted: Counted) -> None:
        """What was counted elsewhere."""
        self._known.append(counted)

    def at(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """What is known of that content at these sizes."""
        costs = (one.at(spec) for one in reversed(self._known) if one.sha256 == sha256)
        return next(filter(None, costs), None)

    def layers(self, sha256: str) -> int | None:
        """How many layers with weights there are, as far as anybody had to look at these."""
        return self._layers.get(sha256)

    def lacks(self, spec: BenchmarkSpec, sha256: str) -> bool:
        """Whether counting may tell more."""
        return bool(sha256) and (_unbatched(spec), sha256) not in self._vain and not self._is_whole(spec, sha256)

    def _is_whole(self, spec: BenchmarkSpec, sha256: str) -> bool:
        costs, asked = self.at(spec, sha256), spec.profile
        if costs is None:
            return False
        is_loss = asked is not None and asked.kind == LOSS
        return not is_loss or sha256 in self._layers or count_layers(costs) > 0

    def find_out(self, spec: BenchmarkSpec, sha256: str) -> None:
        """Count what is lacking; one child at a time, and none twice for what it cannot tell."""
        with self._turn:
            if not self.lacks(spec, sha256):
                return
            # What was asked for one form is nothing to the next one.
            asked, known, layers, vain = _unbatched(spec), self._known, self._layers, self._vain
            try:
                if self.at(spec, sha256) is None:
                    known.append(Counted(*self._count(asked), asked))
                if self.at(spec, sha256) is not None and not self._is_whole(spec, sha256):
                    layers[sha256] = self._count_layers(asked)
            except TuibenchError:
                pass  # what is wrong with it is said elsewhere; here it is only not known how long it takes
            finally:
                if self.lacks(spec, sha256):
                    # Also where it is of another content by now, or of other sizes than were asked for.
                    vain.add((asked, sha256))


def _unbatched(spec: BenchmarkSpec) -> BenchmarkSpec:
    """The same sizes at one item, which serves every batch; how much is measured does not matter, nor on what."""
    usual = InputSettings()
    inputs = replace(spec.inputs, distinct=usual.distinct, file=None)
    return replace(spec, batches=(), cores=(1,), profile=None, inputs=inputs)

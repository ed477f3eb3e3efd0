"""A stored profile that is to be made again: its settings, and what became of its model meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import TuibenchError
from tuibench.core.profile import LEVELS, LOSS
from tuibench.core.short_id import short_id
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.request.profile import ProfileValues as Typed
from tuibench.request.profile import profile_values
from tuibench.tui.bridge_form import token_of
from tuibench.tui.bridge_profile_cost import Counted
from tuibench.tui.bridge_start import Starter
from tuibench.tui.desk_profile import ProfileValues
from tuibench.workbench.repetition import ModelChanged


@dataclass(frozen=True, slots=True)
class Before:
    """What the set-up has no field for."""

    typed: Typed
    source: ModelSource
    """Where its model lies now."""
    sha256: str
    counted: Counted | None
    lost: TuibenchError | None = None
    """Why there is no such model any more."""
    note: str = ""
    """What became of the model, where it can be measured all the same."""

    def find(self, _address: str) -> ModelSource:
        """What it was fetched as: at the same address another one may lie by now."""
        return self.source


def recall(stored: StoredBenchmark, starter: Starter) -> Before:
    """What was measured; the model is looked for, and fetched again where it is gone from the cache."""
    result, sha256 = stored.result, stored.row.model_sha256
    lost: TuibenchError | None = None
    source, note = result.spec.models[0], ""
    try:
        source, note = _find(stored, starter)
    except TuibenchError as problem:
        lost = problem
    counted = Counted(result.profile.costs, sha256, result.spec) if result.profile is not None else None
    typed = replace(profile_values(result.spec), model=token_of(source))
    return Before(typed, source, sha256, counted, lost, note)


def _find(stored: StoredBenchmark, starter: Starter) -> tuple[ModelSource, str]:
    try:
        sources, moved = starter.settle(stored, changed=False, fetch=True)
    except ModelChanged:
        sources, _ = starter.settle(stored, changed=True, fetch=True)
        return sources[0], f"the model changed since {short_id(stored.row.id)}: RUN measures it as it is now"
    return sources[0], f"its model is gone: RUN measures the same from {show(moved[0].path)}" if moved else ""


def values_of(typed: Typed, name: str) -> ProfileValues:
    """The fields of a profile of that name: the other kind is off."""
    is_loss = typed.kind == LOSS
    pairs = (text.rpartition("=") for text in typed.dims)
    return ProfileValues(
        performance=not is_loss,
        name=name if not is_loss else "baseline",
        batch=typed.batch,
        cores=typed.cores,
        engine=typed.engine,
        sequence=typed.sequence_length,
        dims=tuple((dim, size) for dim, _, size in pairs),
        what_if=bool(typed.what_if),
        runs=typed.runs,
        processes=typed.processes,
        loss=is_loss,
        loss_name=name if is_loss else "baseline",
        data=typed.inputs_file,
        samples=typed.samples,
        levels=typed.levels or LEVELS,
        budget=typed.budget,
    )

"""A stored profile to measure again: its settings, and the state of its model."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from tuibench.core.errors import ModelError, TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.model import ModelSummary, is_remote, refer
from tuibench.core.profile import LEVELS, LOSS
from tuibench.core.settings import profile
from tuibench.core.settings.request import ProfileValues as Typed
from tuibench.core.settings.request import profile_values
from tuibench.core.spec import ModelSource
from tuibench.core.stored import ModelReference, StoredBenchmark
from tuibench.core.text import show
from tuibench.present.command import token_of
from tuibench.services.profile_values import ProfileValues
from tuibench.services.reruns import ModelChanged, Reruns


class NotHere(ModelError):
    """A model that the start will fetch; the typed values are valid."""


@dataclass(frozen=True, slots=True)
class Before:
    """The facts of a stored profile that the set-up has no field for."""

    typed: Typed
    source: ModelSource
    """The present place of its model."""
    sha256: str
    """sha256 of the measured model."""
    reference: ModelReference | None
    """Reference to the measured model, if its files are known."""
    summary: ModelSummary | None = None
    """Summary of the measured model."""
    lost: TuibenchError | None = None
    """Error if the model is not available."""
    note: str = ""
    """Change of the model that does not prevent measuring."""

    def find(self, address: str) -> ModelSource:
        """Return the fetched file of an address, because the address may serve another model now."""
        if not os.path.isfile(self.source.path):
            raise NotHere(f"{show(address)} is to be fetched first")
        return self.source


def recall(stored: StoredBenchmark, reruns: Reruns, *, fetch: bool = False) -> Before:
    """Return the facts of the stored profile; with `fetch` a model missing from the cache is fetched."""
    result, sha256 = stored.result, stored.row.model_sha256
    lost: TuibenchError | None = None
    source, note = result.spec.models[0], ""
    try:
        source, note = _find(stored, reruns, fetch)
    except TuibenchError as problem:
        lost = problem
    reference = refer(source.asked, result.models[0]) if result.models else None
    typed = profile_values(result.spec).changed(model=token_of(source))
    summary = result.models[0] if result.models else None
    return Before(typed, source, sha256, reference, summary, lost, note)


def _find(stored: StoredBenchmark, reruns: Reruns, fetch: bool) -> tuple[ModelSource, str]:
    source = stored.result.spec.models[0]
    if not fetch and is_away(source):
        return source, "its model is not in the cache any more: RUN fetches it"
    # After RUN was pressed the note must not announce RUN.
    measures = "it is measured as it is now" if fetch else "RUN measures it as it is now"
    try:
        return reruns.settle(stored, changed=False, fetch=fetch)[0], ""
    except ModelChanged:
        sources = reruns.settle(stored, changed=True, fetch=fetch)
        return sources[0], f"the model changed since {short_id(stored.row.id)}: {measures}"


def is_away(source: ModelSource) -> bool:
    """Return whether a model must be fetched before it can be read."""
    return is_remote(source.asked) and not os.path.isfile(source.path)


def fields_of(kind: str) -> list[str]:
    """Return the settings of a kind of profile that have a field in the form."""
    known = {one.name for one in fields(ProfileValues)}
    own = (one for one in profile.settings() if one.at and one.place is not None and one.of in ("", kind))
    return [one.name for one in own if one.name in known]


def values_of(typed: Typed, name: str) -> ProfileValues:
    """Return the fields of a profile with that name; the other kind is off."""
    found = {each: getattr(typed, each) for each in fields_of(typed.kind)}
    found["dims"] = tuple((dim, size) for dim, _, size in (text.rpartition("=") for text in typed.dims))
    if typed.kind == LOSS:
        found["levels"] = typed.levels or LEVELS
        return ProfileValues(performance=False, loss=True, loss_name=name, **found)
    found["what_if"] = bool(typed.what_if)
    return ProfileValues(performance=True, loss=False, name=name, **found)

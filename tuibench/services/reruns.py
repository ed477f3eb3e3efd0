"""Stored benchmarks and profiles, measured again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from tuibench.core.errors import ModelError, TuibenchError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.machine import Places
from tuibench.core.model import CHANGED, GONE, UNCHANGED, ModelState, ModelSummary, is_remote, refer
from tuibench.core.profile import LEVELS, LOSS
from tuibench.core.settings import profile
from tuibench.core.settings.request import ProfileValues as Typed
from tuibench.core.settings.request import profile_values, repeat
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Metadata, ModelReference, StoredBenchmark
from tuibench.core.text import show
from tuibench.present.command import token_of
from tuibench.present.error.words import error_line, message_words
from tuibench.services.forecast import expected_s
from tuibench.services.form_values import ProfileValues, RerunPlan
from tuibench.services.models import find_state, inspect
from tuibench.services.runs import RunOptions

if TYPE_CHECKING:
    from tuibench.services.api import Services


Locate = Callable[[str], ModelSource]
"""Resolves a name such as sample:tiny or hf:ORG/REPO to its current file."""


class ModelChanged(ModelError):
    """A model differs from the measured one; it can be measured as a new version."""


class ModelGone(ModelError):
    """A measured file is missing; the field `file` is its path, or the name or address of the model."""


@dataclass(slots=True)
class _Model:
    """One model of the stored benchmark and its current state."""

    source: ModelSource
    summary: ModelSummary | None
    state: ModelState


class Repetition:
    """The models of one stored benchmark; `locate` finds samples and remote models."""

    def __init__(self, stored: StoredBenchmark, places: Places, locate: Locate) -> None:
        if stored.result.foreign:
            raise UsageError("measured_elsewhere", id=stored.row.id, tool=stored.result.foreign)
        self._id = stored.row.id
        self._places = places
        summaries: list[ModelSummary | None] = list(stored.result.models)
        summaries += [None] * (len(stored.result.spec.models) - len(summaries))
        self._models = [
            self._look(_present(source, locate), summary)
            for source, summary in zip(stored.result.spec.models, summaries, strict=False)
        ]

    def settle(self, stand_ins: Sequence[ModelSource], changed: bool) -> tuple[ModelSource, ...]:
        """Return the models to measure, with `stand_ins` for moved files; raise ModelError if a model differs.

        With `changed`, a model may be another version than the measured one.
        """
        left = [source for source in stand_ins if not self._recognize(source)]
        if left and not changed:
            raise ModelChanged("other_model", model=left[0].asked, id=self._id)
        for source in left:
            self._replace(source)
        for model in self._models:
            self._require(model, changed)
        return tuple(model.source for model in self._models)

    def _look(self, source: ModelSource, summary: ModelSummary | None) -> _Model:
        if not os.path.isabs(source.path):
            # Exports omit directories, and an equal name in the current directory may be any file.
            return _Model(source, summary, ModelState(GONE, source.path))
        reference = refer(source.asked, summary) if summary is not None else None
        if reference is None:
            found = os.path.isfile(source.path)
            return _Model(source, summary, ModelState(UNCHANGED) if found else ModelState(GONE, source.path))
        if reference.file.path != source.path:
            # It is at another path, so its time proves nothing: compare by content.
            reference = replace(reference, file=replace(reference.file, path=source.path, mtime_ns=-1))
        return _Model(source, summary, find_state(reference, self._places))

    def _recognize(self, source: ModelSource) -> bool:
        """Use a file in place of the model with the same content; return whether there is one."""
        sha256 = inspect(source, self._places).sha256
        same = [model for model in self._models if model.summary is not None and model.summary.sha256 == sha256]
        for model in sorted(same, key=lambda model: model.state.state == UNCHANGED)[:1]:
            model.source, model.state = source, ModelState(UNCHANGED)
        return bool(same)

    def _replace(self, source: ModelSource) -> None:
        open_places = [model for model in self._models if model.state.state != UNCHANGED]
        if not open_places and len(self._models) > 1:
            raise UsageError("ambiguous_stand_in", id=self._id, model=source.asked)
        model = (open_places or self._models)[0]
        model.source, model.state = source, ModelState(UNCHANGED)

    def _require(self, model: _Model, changed: bool) -> None:
        file = model.state.file or model.source.path or model.source.asked
        if model.state.state == GONE:
            raise ModelGone("measured_model_gone", path=file, id=self._id)
        if model.state.state == CHANGED and not changed:
            raise ModelChanged("measured_model_changed", path=file, id=self._id)


def _present(source: ModelSource, locate: Locate) -> ModelSource:
    """Return the current source: a sample is part of the installation, a remote model may need fetching again."""
    if source.asked == "sample" or source.asked.startswith("sample:"):
        return locate(source.asked)
    if is_remote(source.asked):
        return source if os.path.isfile(source.path) else locate(source.asked)
    return ModelSource(source.path, source.path)


class Reruns:
    """Plans and starts re-runs without changed settings."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def plan(self, benchmark: str) -> RerunPlan:
        """Return the duration and obstacles of measuring again."""
        stored = self._services.library.get(benchmark)
        spec, cells = stored.result.spec, len(stored.result.cells)
        error, changed = "", False
        try:
            self.settle(stored, changed=False, fetch=False)
        except ModelChanged as problem:
            error, changed = message_words(problem), True
        except ModelError as problem:
            error = _lost_words(problem, has_field=spec.profile is None)
        except TuibenchError as problem:
            error = message_words(problem)
        fed = spec.inputs.file
        if fed is not None and not os.path.isfile(fed) and (changed or not error):
            error, changed = f"its input file is missing: press R and enter the new path (was {show(fed)})", False
        load_s = sum(cell.load_ms or 0.0 for cell in stored.result.cells) / 1000
        busy, took = self._services.runs.holder(), expected_s(spec, cells, load_s)
        if spec.profile is not None:
            took = self._services.profiles.plan(spec, stored.row.model_sha256).seconds or stored.result.seconds
        return RerunPlan(stored.row.id, cells, took, busy, error, changed, self._services.machine.load_words())

    def start(self, benchmark: str, *, changed: bool = False) -> tuple[str, tuple[str, ...]]:
        """Measure again, with `changed` even a changed model; return the run's id and messages for the user."""
        stored = self._services.library.get(benchmark)
        sources = self.settle(stored, changed=changed, fetch=True)
        project = self._services.projects.kept(stored.metadata.project)
        asked, name = stored.result.spec, stored.metadata.name
        options = RunOptions(metadata=Metadata(name, "", project, stored.row.id))
        if asked.profile is not None:
            return self._services.profiles.launch(replace(asked, models=sources), options)
        _, spec, notes = repeat(asked, sources, {}, self._services.machine.topology(), name)
        self._services.machine.check_engines(spec.engines)
        run, said = self._services.runs.launch(spec, options)
        return run, (*notes, *said)

    def settle(self, stored: StoredBenchmark, *, changed: bool, fetch: bool) -> tuple[ModelSource, ...]:
        """Return the models to measure; raise ModelError if one is gone, or changed and `changed` is False."""

        def locate(token: str) -> ModelSource:
            return self._services.models.locate(token) if fetch or not is_remote(token) else ModelSource(token, "")

        return self.repetition(stored, locate).settle([], changed)

    def repetition(self, stored: StoredBenchmark, locate: Locate) -> Repetition:
        """Return the models of a stored benchmark, checked for measuring them again."""
        return Repetition(stored, self._services.settings.places, locate)


def _lost_words(problem: ModelError, *, has_field: bool) -> str:
    """Return why a model is missing and the remedy; `has_field` if the set-up has a field for its path."""
    path = problem.reason.fields.get("path") if isinstance(problem, ModelGone) else ""
    if path and is_remote(path):
        return error_line(ModelGone("model_not_cached", model=path))
    if path:
        return error_line(
            ModelGone("model_file_gone", path=path, id=None if has_field else problem.reason.fields["id"])
        )
    return error_line(ModelGone("model_lost", why=problem.reason) if has_field else problem)


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
            raise NotHere("must_be_downloaded", address=address)
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
    measures = "it is measured as it is now" if fetch else "RUN measures the current file"
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

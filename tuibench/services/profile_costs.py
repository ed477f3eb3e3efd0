"""Costs of a model for profile forms, and the profiles computed without measuring; a child counts each once."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from tuibench.core.errors import TuibenchError
from tuibench.core.formats import format_of
from tuibench.core.label import model_names
from tuibench.core.model import ModelSummary, refer
from tuibench.core.profile import LOSS, CostProfile, LossProfile
from tuibench.core.profile_facts import count_layers
from tuibench.core.spec import BenchmarkSpec, InputSettings, ModelSource
from tuibench.core.stored import ModelReference, Project
from tuibench.present.command import token_of
from tuibench.present.profile.export import theory_json, theory_text
from tuibench.present.profile.page import ProfileHeading
from tuibench.services.export_file import check_target, spare, write_export
from tuibench.services.form_values import FLOPS

if TYPE_CHECKING:
    from tuibench.services.api import Services


class ModelContents:
    """Caches the summary of a model until its file or one of its weight files changes."""

    def __init__(
        self, look: Callable[[ModelSource], ModelSummary], is_untouched: Callable[[ModelReference], bool]
    ) -> None:
        self._look = look
        self._is_untouched = is_untouched
        self._seen: dict[str, tuple[ModelReference, ModelSummary]] = {}
        """Keyed by path."""
        self._turn = Lock()

    def sha256(self, source: ModelSource, known: ModelReference) -> str:
        """Return the checksum of a model; '' if it cannot be read. Start no child if it still matches `known`."""
        # One child at a time: RUN needs the result of the check that the last key started.
        with self._turn:
            if known.file.path == source.path and self._is_untouched(known):
                return known.sha256
            found = self._read(source)
            return found.sha256 if found is not None else ""

    def summary(self, source: ModelSource) -> ModelSummary | None:
        """Return the summary of a model; None if it cannot be read."""
        with self._turn:
            return self._read(source)

    def read_anew(self, source: ModelSource) -> ModelSummary:
        """Let a child read the model, cached or not; raise ModelError if it is not a model."""
        with self._turn:
            return self._read_anew(source)

    def _read(self, source: ModelSource) -> ModelSummary | None:
        reference, found = self._seen.get(source.path, (None, None))
        if reference is not None and reference.file.path == source.path and self._is_untouched(reference):
            return found
        try:
            return self._read_anew(source)
        except TuibenchError:
            return None  # the form reports the error elsewhere

    def _read_anew(self, source: ModelSource) -> ModelSummary:
        found = self._look(source)
        reference = refer(source.asked, found)
        if reference is not None:
            self._seen[source.path] = reference, found
        return found


class CountedCosts:
    """Costs by sizes and content. What could not be counted is not tried again while the form is open."""

    def __init__(
        self, count: Callable[[BenchmarkSpec], tuple[CostProfile, str]], count_layers: Callable[[BenchmarkSpec], int]
    ) -> None:
        """Both start a child unless the answer is cached; `count` also returns the checksum of the counted content."""
        self._count = count
        self._count_layers = count_layers
        self._costs: dict[tuple[BenchmarkSpec, str], CostProfile | None] = {}
        """None if counting failed."""
        self._layers: dict[str, int | None] = {}
        """Layers of a loss profile by content, if the costs do not include them; None if counting failed."""

    def forget(self) -> None:
        """Clear all results for a new form, so that failed counts are retried."""
        self._costs, self._layers = {}, {}

    def layers(self, sha256: str) -> int | None:
        """Return the number of layers with weights; None if it was not counted."""
        return self._layers.get(sha256)

    def at(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """Return the costs of that content at these sizes; None if they are missing."""
        return self._costs.get((_sizes(spec), sha256))

    def lacks(self, spec: BenchmarkSpec, sha256: str) -> bool:
        """Return whether `count` can still find a missing value."""
        counted = (_sizes(spec), sha256) in self._costs
        return bool(sha256) and (not counted or self._lacks_layers(spec, sha256))

    def count(self, spec: BenchmarkSpec, sha256: str) -> None:
        """Count missing values; after an error they stay unknown, and the form reports the error elsewhere."""
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
    """Return a spec with its sizes only: costs do not depend on cores, data or the amount of measuring."""
    inputs = replace(spec.inputs, distinct=InputSettings().distinct, file=None)
    return replace(spec, cores=(1,), profile=None, inputs=inputs)


class ProjectTheory:
    """Theoretical profiles of a project's newest model; a child reads the model unless they are cached."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def source(self, project: str) -> ModelSource:
        """Return the file of the project's newest version, at its present place."""
        return self._services.models.locate(token_of(newest(self._services.projects.get(project).project)))

    def costs(self, project: str) -> CostProfile:
        """Return the theoretical costs."""
        dims = self._services.projects.get(project).project.dims
        return self._services.profiles.costs(self.source(project), None, dims)

    def approximated(self, project: str) -> LossProfile:
        """Return the losses estimated from the weights alone."""
        return self._services.profiles.weights(self.source(project))

    def export(self, project: str, what: str, path: str) -> str:
        """Write FLOPS or APPROXIMATED in the format of the path's ending; return the model's name."""
        source = self.source(project)
        # Check the target first: reading the model takes a moment.
        check_target(path)
        known = self._services.projects.get(project).project.versions[-1].model
        spare(path, [source.path, *(one.path for one in known.external)])
        found = self.costs(project) if what == FLOPS else self.approximated(project)
        name, form = model_names([source])[0], format_of(path)
        heading = ProfileHeading(model=name)
        write_export(path, theory_json(what, name, found) if form == "json" else theory_text(found, heading, form))
        return name

    def command(self, project: str, what: str) -> str:
        """Return the equivalent shell command."""
        known = self._services.projects.get(project).project
        token = token_of(newest(known))
        flags = ["--flops"] if what == FLOPS else ["--loss", "--approximate"]
        # Weights are the same at every size.
        dims = [f"--dim={name}={value}" for name, value in known.dims.items()] if what == FLOPS else []
        guard = ["--"] if token.startswith("-") else []
        return shlex.join(["tuibench", "profile", *flags, *dims, *guard, token])


def newest(project: Project) -> ModelSource:
    """Return the newest model of a project, at the place where it was measured."""
    model = project.versions[-1].model
    return ModelSource(model.asked, model.file.path)

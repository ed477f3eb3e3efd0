"""Starts detached runs of profiles, from the set-up or from a stored profile."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from tuibench.core.engine import forms_of
from tuibench.core.errors import ModelError, TuibenchError, UsageError
from tuibench.core.profile import INT8, LEVELS, LOSS, PERFORMANCE
from tuibench.core.settings.command import again
from tuibench.core.settings.request import ProfileReading, read_profile
from tuibench.core.settings.request import ProfileValues as Typed
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.stored import Metadata, Project
from tuibench.present.command import token_of
from tuibench.present.error.words import error_line, message_words
from tuibench.services.forecast import free_dims, misfits
from tuibench.services.form_values import ProfileCheck, ProfileStart, ProfileValues
from tuibench.services.forms import Glance
from tuibench.services.models import is_untouched
from tuibench.services.profile_costs import CountedCosts, ModelContents, newest
from tuibench.services.reruns import Before, NotHere, fields_of, is_away, recall, values_of
from tuibench.services.runs import RunOptions

if TYPE_CHECKING:
    from tuibench.services.api import Services

Fetch = Callable[[str], ModelSource]


class ProfileForms:
    """Checks the set-up of profiles and starts runs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._located: dict[str, ModelSource] = {}
        """By project."""
        self._costs = CountedCosts(services.profiles.count, services.profiles.count_layers)
        self._before: dict[str, Before] = {}
        """By the id of the profile to measure again."""
        self._contents = ModelContents(lambda source: services.projects.look(source)[0], is_untouched)
        self._holder = Glance(services.runs.holder)

    # Initial state

    def open(self, project: str, profile: str = "") -> ProfileStart:
        """Return the initial form for a project, or with the settings of a stored profile."""
        self._costs.forget()
        if profile:
            return self._of_profile(project, profile)
        known = self._project_of(project)
        model = known.versions[-1].model
        values, error, note = ProfileValues(), "", ""
        try:
            self._located[project] = self._services.theory.source(project)
            summary = self._contents.read_anew(self._located[project])
        except TuibenchError as problem:
            names, error = tuple(known.dims), error_line(problem)
        else:
            names = free_dims(summary)
            if summary.sha256 != model.sha256:
                note = "the model changed since it was measured: RUN measures the current file"
        dims = tuple((name, str(known.dims.get(name, ""))) for name in names)
        return ProfileStart(replace(values, dims=dims), model.asked, error, project, known.name, note)

    def _of_profile(self, project: str, profile: str) -> ProfileStart:
        stored = self._services.library.get(profile)
        before = self._before[profile] = recall(stored, self._services.reruns)
        values = values_of(before.typed, stored.metadata.name)
        project = project or stored.metadata.project or ""
        try:
            place = self._project_of(project).name if project else ""
        except TuibenchError:
            project = place = ""
        error = error_line(before.lost) if before.lost is not None else ""
        return ProfileStart(values, stored.result.spec.models[0].asked, error, project, place, before.note)

    # Checks

    def check(self, values: ProfileValues, project: str, profile: str = "") -> ProfileCheck:
        """Check the form; takes milliseconds, or a second if a child has to read the model."""
        errors: dict[str, str] = {}
        times: dict[str, float | None] = {}
        commands = []
        uncounted = False
        before = self._before.get(profile)
        for kind, reading in self._readings(values, project, before, lambda address: self._here(project, address)):
            wrong = {name: error for name, error in reading.errors.items() if not isinstance(error, NotHere)}
            wrong |= self._misfits(reading.spec, before) if reading.spec is not None else {}
            errors |= {name: error_line(error, beside=True) for name, error in wrong.items()}
            if reading.spec is None:
                continue
            try:
                self._services.profiles.check_engine(reading.spec.engines[0])
            except TuibenchError as error:
                errors["engine"] = error_line(error)
            sha256 = self._content(reading.spec, project, before)
            costs, layers = self._costs.at(reading.spec, sha256), self._costs.layers(sha256)
            times[kind] = self._services.profiles.plan(reading.spec, sha256, costs, layers).seconds
            if kind == LOSS and layers == 0:
                errors["loss"] = "no layer has weights: switch it off"
            uncounted |= times[kind] is None and self._costs.lacks(reading.spec, sha256)
            commands.append(again(reading.spec))
        if errors:
            return ProfileCheck(errors=errors)
        return ProfileCheck(
            performance_s=times.get(PERFORMANCE),
            loss_s=times.get(LOSS),
            uncounted=uncounted,
            commands=tuple(commands),
            busy=self._holder.look(),
        )

    def _here(self, project: str, address: str) -> ModelSource:
        """Return the model fetched earlier, because a check fetches nothing."""
        known = self._located.get(project) or newest(self._project_of(project))
        if not os.path.isfile(known.path):
            raise NotHere("must_be_downloaded", address=address)
        return ModelSource(known.asked, known.path)

    def _misfits(self, spec: BenchmarkSpec, before: Before | None) -> dict[str, UsageError]:
        """Return settings that the model does not allow, by field of a request; none for an unreadable model."""
        source, model = spec.models[0], None
        if before is not None and before.summary is not None and before.reference is not None:
            is_same = self._contents.sha256(source, before.reference) == before.sha256
            model = before.summary if is_same else None
        model = model or self._contents.summary(source)
        return misfits(model, spec) if model is not None else {}

    def _content(self, spec: BenchmarkSpec, project: str, before: Before | None) -> str:
        """Return the checksum of the model to measure; '' if unknown."""
        known = self._project(project)
        if before is not None:
            return self._contents.sha256(spec.models[0], before.reference) if before.reference else before.sha256
        return self._contents.sha256(spec.models[0], known.versions[-1].model) if known is not None else ""

    def weigh(self, values: ProfileValues, project: str, profile: str = "") -> None:
        """Count the costs at these sizes, in a child, if the next check's estimate lacks them."""
        before = self._before.get(profile)
        for _, reading in self._readings(values, project, before, lambda address: self._here(project, address)):
            if reading.spec is not None:
                self._costs.count(reading.spec, self._content(reading.spec, project, before))

    def _readings(
        self, values: ProfileValues, project: str, before: Before | None, fetch: Fetch
    ) -> Iterator[tuple[str, ProfileReading]]:
        """Yield the reading of each kind that is on; `fetch` finds a project's remote model."""
        known, topology = self._project(project), self._services.machine.topology()
        typed = before.typed if before is not None else Typed()
        model, find = typed.model, before.find if before is not None else fetch
        if before is None and known is not None:
            model = token_of(newest(known))
        for kind, is_on in ((PERFORMANCE, values.performance), (LOSS, values.loss)):
            if not is_on:
                continue
            if before is not None and before.lost is not None:
                yield kind, ProfileReading(None, {"model": before.lost})
                continue
            base = typed if typed.kind == kind else Typed()
            reading = read_profile(self._typed(base, values, kind, model), topology, find)
            yield kind, reading if kind != LOSS or values.levels else _without_levels(reading)

    @staticmethod
    def _typed(base: Typed, values: ProfileValues, kind: str, model: str) -> Typed:
        typed = {name: getattr(values, name) for name in fields_of(kind)}
        typed["dims"] = tuple(f"{name}={size}" for name, size in values.dims if size.strip())
        if kind == PERFORMANCE:
            typed["what_if"] = next(iter(forms_of(values.engine)), INT8) if values.what_if else ""
        elif values.levels == LEVELS:
            typed["levels"] = ()
        return base.changed(model=model, kind=kind, **typed)

    def _project(self, project: str) -> Project | None:
        return self._project_of(project) if project else None

    def _project_of(self, project: str) -> Project:
        return self._services.projects.get(project).project

    # Runs

    def start(self, values: ProfileValues, project: str, rerun_of: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Start a run for each selected profile, performance first; return their ids and messages for the user."""
        told_before = before = self._before.get(rerun_of)
        if before is not None and is_away(before.source):
            before = recall(self._services.library.get(rerun_of), self._services.reruns, fetch=True)
        # Both kinds use one model, which is requested only once.
        readings = dict(self._readings(values, project, before, functools.cache(self._services.models.fetch)))
        specs = {kind: reading.require() for kind, reading in readings.items()}
        if not specs:
            raise UsageError("no_profile_chosen")
        # Check all before anything starts: an error of the model affects every run.
        for error in chain.from_iterable(self._misfits(spec, before).values() for spec in specs.values()):
            raise error
        if LOSS in specs and self._costs.layers(self._content(specs[LOSS], project, before)) == 0:
            raise ModelError("no_weights_to_change")
        source = next(iter(specs.values())).models[0]
        project, moved = self._services.projects.assign(source, project, rerun_of)
        runs: list[str] = []
        said = list(moved)
        if before is not None and before is not told_before and before.note:
            said.append(before.note)
        for kind, spec in specs.items():
            again = rerun_of if before is not None and before.typed.kind == kind else None
            name = values.loss_name if kind == LOSS else values.name
            metadata = Metadata(name.strip(), "", project or None, again)
            try:
                run, notes = self._services.profiles.launch(spec, RunOptions(metadata=metadata))
            except TuibenchError as error:
                if not runs:
                    raise
                # Runs already started continue and are returned, so that a second try does not start them twice.
                said.append(f"the {kind} profile was not started: {message_words(error)}")
                break
            runs.append(run)
            said += notes
        return tuple(runs), tuple(dict.fromkeys(said))


def _without_levels(reading: ProfileReading) -> ProfileReading:
    """Return an error: an empty list means all levels elsewhere, but no ticked box means nothing to measure."""
    error = UsageError("no_level_chosen")
    return ProfileReading(None, {**reading.errors, "levels": error})

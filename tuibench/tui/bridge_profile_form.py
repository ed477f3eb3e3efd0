"""From the set-up of profiles, or a stored one, to runs that go on without the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tuibench.core.card import Card
from tuibench.core.errors import StoreError, TuibenchError, UsageError
from tuibench.core.profile import INT8, LEVELS, LOSS, PERFORMANCE, CostProfile
from tuibench.core.project import Project
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.request.profile import ProfileReading, profile_values, read_profile
from tuibench.request.profile import ProfileValues as Typed
from tuibench.request.profile_flag import profile_again
from tuibench.tui.bridge_feed import FeedGlance
from tuibench.tui.bridge_form import token_of, told
from tuibench.tui.bridge_start import Glance, Starter
from tuibench.tui.desk_profile import ProfileCheck, ProfileStart, ProfileValues
from tuibench.workbench.forecast import free_dims
from tuibench.workbench.hall import Workbench
from tuibench.workbench.runs import Wishes

_FIELDS = {"inputs_file": "data", "sequence_length": "sequence"}
"""Fields of a request that the set-up calls otherwise."""


class ProfileStarter:
    """What the set-up amounts to, and what starts."""

    def __init__(self, bench: Workbench, starter: Starter) -> None:
        self._bench = bench
        self._starter = starter
        self._costs: dict[str, CostProfile] = {}
        """By project, for estimates: as the models are when somebody asks for them."""
        self._repeated: dict[str, Typed] = {}
        """By profile that is to be made again: what the set-up has no field for."""
        self._feeds = FeedGlance(bench.profiles.check_feeds)
        self._holder = Glance(bench.runs.holder)

    def source(self, project: str) -> ModelSource:
        """The newest version's file, where it lies now."""
        model = self._bench.projects.get(project).project.versions[-1].model
        return self._starter.locate(token_of(ModelSource(model.asked, model.file.path)))

    def costs(self, project: str) -> CostProfile:
        """See ProfileDesk."""
        dims = self._bench.projects.get(project).project.dims
        found = self._bench.profiles.costs(self.source(project), None, dims)
        self._costs[project] = found
        return found

    def known_costs(self, project: str) -> CostProfile | None:
        """See ProfileDesk."""
        known = self._bench.projects.get(project).project
        model = known.versions[-1].model
        source = ModelSource(model.asked, model.file.path)
        return self._bench.profiles.known_costs(source, model.sha256, known.dims)

    # How it begins

    def form(self, project: str, profile: str) -> ProfileStart:
        """See ProfileDesk."""
        if profile:
            return self._form_of(project, profile)
        known = self._bench.projects.get(project).project
        model = known.versions[-1].model
        values, error = ProfileValues(), ""
        try:
            summary, _, _ = self._bench.projects.look(self.source(project))
        except TuibenchError as problem:
            names, error = tuple(known.dims), told(problem)
        else:
            names = free_dims(summary)
        dims = tuple((name, str(known.dims.get(name, ""))) for name in names)
        return ProfileStart(replace(values, dims=dims), model.asked, error, project, known.name)

    def _form_of(self, project: str, profile: str) -> ProfileStart:
        stored = self._bench.library.get(profile)
        spec, card = stored.result.spec, stored.card
        typed = self._repeated[profile] = profile_values(spec)
        is_loss = typed.kind == LOSS
        pairs = (text.rpartition("=") for text in typed.dims)
        values = ProfileValues(
            performance=not is_loss,
            name=card.name if not is_loss else "baseline",
            batch=typed.batch,
            cores=typed.cores,
            engine=typed.engine,
            sequence=typed.sequence_length,
            dims=tuple((name, size) for name, _, size in pairs),
            what_if=bool(typed.what_if),
            runs=typed.runs,
            processes=typed.processes,
            loss=is_loss,
            loss_name=card.name if is_loss else "baseline",
            data=typed.inputs_file,
            samples=typed.samples,
            levels=typed.levels or LEVELS,
            budget=typed.budget,
        )
        project = project or card.project or ""
        try:
            place = self._bench.projects.get(project).project.name if project else ""
        except TuibenchError:
            project = place = ""
        return ProfileStart(values, typed.model, "", project, place)

    # What it amounts to

    def check(self, values: ProfileValues, project: str, profile: str = "") -> ProfileCheck:
        """See ProfileDesk."""
        errors: dict[str, str] = {}
        times: dict[str, float | None] = {}
        commands, known = [], self._project(project)
        for kind, reading in self._readings(values, project, profile):
            errors |= {_FIELDS.get(name, name): told(error) for name, error in reading.errors.items()}
            if reading.spec is None:
                continue
            try:
                self._bench.profiles.check_engine(reading.spec.engines[0])
            except TuibenchError as error:
                errors["engine"] = told(error)
            if (unfit := self._feeds.problem(reading.spec)) and "data" not in errors:
                errors["data"] = unfit
            sha256 = known.versions[-1].model.sha256 if known is not None else ""
            times[kind] = self._bench.profiles.plan(reading.spec, sha256, self._costs_at(project, reading.spec)).seconds
            commands.append(profile_again(reading.spec))
        if errors:
            return ProfileCheck(errors=errors)
        return ProfileCheck(
            performance_s=times.get(PERFORMANCE),
            loss_s=times.get(LOSS),
            commands=tuple(commands),
            busy=self._holder.look(),
        )

    def _costs_at(self, project: str, spec: BenchmarkSpec) -> CostProfile | None:
        """Of another batch than they were counted at: what most operators cost grows with it."""
        costs = self._costs.get(project)
        if costs is None or not spec.batches or not costs.batch:
            return costs
        times = spec.batches[0] / costs.batch
        return replace(costs, macs=round(costs.macs * times), element_flops=round(costs.element_flops * times))

    def _readings(self, values: ProfileValues, project: str, profile: str) -> Iterator[tuple[str, ProfileReading]]:
        known, topology = self._project(project), self._bench.topology()
        before = self._repeated.get(profile, Typed())
        model = before.model
        if known is not None and not profile:
            newest = known.versions[-1].model
            model = token_of(ModelSource(newest.asked, newest.file.path))
        for kind, is_on in ((PERFORMANCE, values.performance), (LOSS, values.loss)):
            if is_on:
                base = before if before.kind == kind else Typed()
                reading = read_profile(self._typed(base, values, kind, model), topology)
                yield kind, reading if kind != LOSS or values.levels else _without_levels(reading)

    @staticmethod
    def _typed(base: Typed, values: ProfileValues, kind: str, model: str) -> Typed:
        both = replace(
            base,
            model=model,
            kind=kind,
            engine=values.engine,
            cores=values.cores,
            batch=values.batch,
            sequence_length=values.sequence,
            dims=tuple(f"{name}={size}" for name, size in values.dims if size.strip()),
        )
        if kind == PERFORMANCE:
            what_if = INT8 if values.what_if else ""
            return replace(both, what_if=what_if, runs=values.runs, processes=values.processes)
        levels = values.levels if values.levels != LEVELS else ()
        return replace(both, inputs_file=values.data, samples=values.samples, levels=levels, budget=values.budget)

    def _project(self, project: str) -> Project | None:
        return self._bench.projects.get(project).project if project else None

    # Runs

    def start(self, values: ProfileValues, project: str, rerun_of: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """See ProfileDesk."""
        readings = dict(self._readings(values, project, rerun_of))
        specs = {kind: reading.require() for kind, reading in readings.items()}
        runs: list[str] = []
        said: list[str] = []
        for kind, spec in specs.items():
            again = rerun_of if self._repeated.get(rerun_of, Typed()).kind == kind else None
            name = values.loss_name if kind == LOSS else values.name
            card = Card(name.strip(), "", self._belonging(spec, project) or None, again or None)
            try:
                run, notes = self._bench.profiles.launch(spec, Wishes(card=card, again=profile_again(spec)))
            except TuibenchError as error:
                if not runs:
                    raise
                # What was started goes on and is found: a second try must not start it twice.
                said.append(f"the {kind} profile was not started: {error.message}")
                break
            runs.append(run)
            said += notes
        return tuple(runs), tuple(dict.fromkeys(said))

    def _belonging(self, spec: BenchmarkSpec, project: str) -> str:
        """Where the result belongs: a model that changed is a new version there."""
        try:
            found = self._bench.projects.belonging(spec.models[0], project)
        except StoreError:
            # The launch says that the store cannot be written; what is measured is kept with the run.
            return project
        return found.id if found is not None else project


def _without_levels(reading: ProfileReading) -> ProfileReading:
    """A list that is empty means all of them elsewhere; of boxes it means that nothing would be measured."""
    error = UsageError("tick at least one level", "or switch the loss profile off")
    return ProfileReading(None, {**reading.errors, "levels": error})

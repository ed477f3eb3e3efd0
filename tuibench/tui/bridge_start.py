"""Starts detached runs from a form or a stored benchmark."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tuibench.core.errors import ModelError, StoreError, TuibenchError, UnknownId, UsageError
from tuibench.core.machine import Machine
from tuibench.core.model import FetchProgress, ModelSummary, is_remote
from tuibench.core.settings.model_token import resolve_model
from tuibench.core.settings.request import BenchmarkRequest, repeat, to_spec
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.core.text import cut_middle, show
from tuibench.core.units import size
from tuibench.services.api import Services
from tuibench.services.forecast import Forecast, check_dim, expected_s, forecast, limit_s
from tuibench.services.model import ModelChanged, ModelGone
from tuibench.services.runs import RunOptions
from tuibench.tui.bridge_fill import Filler
from tuibench.tui.bridge_form import Reading, models_of, read_form, to_command, to_request, told
from tuibench.tui.desk import FormCheck, FormStart, FormValues, RerunPlan

_FRESH_S = 2.0
_ELSEWHERE = "R takes it from where it lies now"
_LONGEST = 30
"""Columns of a file's name, so that the hint after it stays visible."""
Sources = tuple[ModelSource, ...]


class Glance:
    """Caches an answer for two seconds, because each key typed asks again."""

    def __init__(self, ask: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._answer: tuple[float, str] | None = None

    def look(self) -> str:
        """Return an answer that is at most two seconds old."""
        now, kept = self._clock(), self._answer
        if kept is None or now - kept[0] > _FRESH_S:
            kept = self._answer = now, self._ask()
        return kept[1]


class Starter:
    """Checks forms and starts runs."""

    def __init__(self, services: Services, hidden: bool) -> None:
        self._services = services
        self._hidden = hidden
        self._machine: Machine | None = None
        self._reading_machine = threading.Lock()
        self.filler = Filler(services, self.locate)
        self._holder = Glance(services.runs.holder)
        self._load = Glance(services.load_words)
        self._looked: dict[tuple[str, int, int], str] = {}
        """Errors of second models, by file, time and size."""

    def machine(self) -> Machine:
        """Return the facts about the machine, which are read once."""
        with self._reading_machine:
            if self._machine is None:
                self._machine = self._services.machine(hidden=self._hidden)
            return self._machine

    def locate(self, token: str, tell: Callable[[FetchProgress], None] = lambda _: None) -> ModelSource:
        """Return the file of a token; fetch it if it is remote."""
        return resolve_model(token.strip(), fetch=lambda address: self._services.fetch(address, tell))

    def form(self, project: str, benchmark: str, path: str) -> FormStart:
        """See Desk."""
        if benchmark:
            return self.filler.of_benchmark(benchmark)
        return self.filler.of_project(project) if project else self.filler.of_model(path)

    def check(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """See Desk."""
        topology = self._services.topology()
        reading = read_form(values, topology)
        self._check_names(values, reading)
        self._check_second(values, reading)
        if not reading.errors:
            request = BenchmarkRequest((), **reading.fields)
            spec, notes = to_spec(request, topology)
            spec = replace(spec, models=tuple(ModelSource(token, token) for token in models_of(values)))
            found = _forecast(reading, spec, summary)
        if reading.errors:
            return FormCheck(errors=reading.errors)
        memory = found.memory_bytes
        warnings = (*notes, *found.problems, *self._doubts(spec, memory))
        return FormCheck(
            command=to_command(values, reading),
            cells=found.cells,
            expected_s=expected_s(spec, found.cells),
            limit_s=limit_s(spec, found.cells),
            memory_bytes=memory,
            warnings=tuple(dict.fromkeys(warnings)),
            busy=self._holder.look(),
            load=self._load.look(),
        )

    def _check_names(self, values: FormValues, reading: Reading) -> None:
        try:
            self._services.check_engines(values.engines)
        except TuibenchError as error:
            reading.errors.setdefault("engines", told(error))
        if values.compare_to.strip():
            try:
                self._services.library.find(values.compare_to)
            except UnknownId as error:
                reading.errors["compare_to"] = told(error)
            except StoreError as error:
                reading.errors["compare_to"] = error.message

    def _check_second(self, values: FormValues, reading: Reading) -> None:
        """Check the second model like the first one: a child reads it once per file version."""
        token = values.against.strip()
        if not token or "against" in reading.errors or is_remote(token):
            return
        try:
            source = self.locate(token)
            status = os.stat(source.path)
            key = source.path, status.st_mtime_ns, status.st_size
            if key not in self._looked:
                self._looked[key] = self._look(source)
            wrong = self._looked[key]
        except (TuibenchError, OSError) as error:
            wrong = str(error)
        if wrong:
            reading.errors["against"] = wrong

    def _look(self, source: ModelSource) -> str:
        try:
            self._services.projects.look(source)
        except TuibenchError as error:
            return told(error)
        return ""

    def _doubts(self, spec: BenchmarkSpec, memory: int | None) -> list[str]:
        """Return warnings about allowed settings that will probably fail."""
        said = []
        for engine in self.machine().engines:
            if engine.name not in spec.engines:
                continue
            if not engine.available:
                said.append(f"{engine.name} is not installed, so its cells will fail: {engine.hint}")
            elif spec.precision not in (*engine.precisions, "engine-default"):
                said.append(f"{engine.name} has no {spec.precision}: its cells will fail")
        most = spec.limits.memory_bytes or (self._services.memory_room() if memory else None)
        if memory and most and memory > most:
            said.append(f"the largest needs about {size(memory)} of {size(most)}: it will probably fail")
        return said

    # Runs

    def start(self, values: FormValues, project: str, rerun_of: str) -> tuple[str, tuple[str, ...]]:
        """See Desk."""
        topology = self._services.topology()
        reading = read_form(values, topology)
        self._check_names(values, reading)
        if reading.errors:
            field, words = next(iter(reading.errors.items()))
            raise UsageError(f"{field.removeprefix('dim:')}: {words}")
        spec, notes = to_spec(to_request(values, reading), topology, self._services.fetch)
        partner = self._services.library.find(values.compare_to).id if values.compare_to.strip() else None
        # Determined now, not at the end, so that the run is listed in its project.
        project, moved = self.belonging(spec.models[0], project, rerun_of)
        metadata = Metadata(values.name.strip(), values.note, project or None, rerun_of or None, compare_to=partner)
        run, said = self._launch(spec, metadata, reading.fields)
        if project:
            self.filler.keep(project, values)
        return run, (*notes, *moved, *said)

    def belonging(self, source: ModelSource, project: str, rerun_of: str) -> tuple[str, tuple[str, ...]]:
        """Return the project of the result, and a message if it is not the form's project."""
        if project and rerun_of:
            return project, ()
        try:
            found = self._services.projects.belonging(source, project)
        except StoreError:
            # The launch reports that the store cannot be written; results stay in the run directory.
            return project, ()
        if found is None or not project or found.id == project:
            return found.id if found is not None else project, ()
        return found.id, (f"{source.asked} is no model of this project: the result belongs to {found.name}",)

    def plan_rerun(self, benchmark: str) -> RerunPlan:
        """See Desk."""
        stored = self._services.library.get(benchmark)
        spec, cells = stored.result.spec, len(stored.result.cells)
        error, changed = "", False
        try:
            self.settle(stored, changed=False, fetch=False)
        except ModelChanged as problem:
            error, changed = problem.message, True
        except ModelError as problem:
            # The set-up of profiles has no field for a model.
            error = _lost_words(problem, problem.hint if spec.profile is not None else _ELSEWHERE)
        except TuibenchError as problem:
            error = problem.message
        fed = spec.inputs.file
        if fed is not None and not os.path.isfile(fed) and (changed or not error):
            error, changed = f"its inputs are gone: R takes them from where they lie now (were {show(fed)})", False
        busy, took = self._services.runs.holder(), expected_s(spec, cells)
        if spec.profile is not None:
            took = self._services.profiles.plan(spec, stored.row.model_sha256).seconds or stored.result.seconds
        return RerunPlan(stored.row.id, cells, took, busy, error, changed, self._load.look())

    def rerun(self, benchmark: str, changed: bool) -> tuple[str, tuple[str, ...]]:
        """See Desk."""
        stored = self._services.library.get(benchmark)
        sources = self.settle(stored, changed=changed, fetch=True)
        project = self._services.projects.kept(stored.metadata.project)
        if stored.result.spec.profile is not None:
            return self._profile_again(replace(stored.result.spec, models=sources), stored, project)
        _, spec, notes = repeat(stored.result.spec, sources, {}, self._services.topology(), stored.metadata.name)
        self._services.check_engines(spec.engines)
        run, said = self._launch(spec, Metadata(stored.metadata.name, "", project, stored.row.id), {})
        return run, (*notes, *said)

    def _profile_again(
        self, spec: BenchmarkSpec, stored: StoredBenchmark, project: str | None
    ) -> tuple[str, tuple[str, ...]]:

        metadata = Metadata(stored.metadata.name, "", project, stored.row.id)
        return self._services.profiles.launch(spec, RunOptions(metadata=metadata))

    def settle(self, stored: StoredBenchmark, *, changed: bool, fetch: bool) -> Sources:
        """Return the models to measure; raise ModelError if one is gone, or changed and `changed` is False."""

        def locate(token: str) -> ModelSource:
            return self.locate(token) if fetch or not is_remote(token) else ModelSource(token, "")

        return self._services.repetition(stored, locate).settle([], changed)

    def _launch(self, spec: BenchmarkSpec, metadata: Metadata, given: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        wait_s = 0.0 if given.get("no_wait") else given.get("wait_s")
        share = bool(given.get("share_host"))
        return self._services.runs.launch(spec, RunOptions(metadata=metadata, wait_s=wait_s, share_host=share))


def _forecast(reading: Reading, spec: BenchmarkSpec, summary: ModelSummary | None) -> Forecast:
    """Return cells and memory; errors of the model are added to the field's errors."""
    models = [summary] if summary is not None else []
    for name, _ in spec.dims if summary is not None else ():
        try:
            check_dim(models[0], spec, name)
        except UsageError as error:
            reading.errors[f"dim:{name}"] = told(error, (f"--dim {name}:",))
    if not reading.errors:
        try:
            return forecast(spec, models)
        except UsageError as error:
            reading.errors["batches"] = told(error)
    return Forecast(0, None)


def _lost_words(problem: ModelError, way: str) -> str:
    """Return why a model is missing and the remedy, before the long path so that 80 columns show it."""
    if isinstance(problem, ModelGone) and is_remote(problem.file):
        return f"{show(problem.file, 60)} is not in the cache any more: R fetches it"
    if isinstance(problem, ModelGone) and problem.file:
        name = cut_middle(show(os.path.basename(problem.file)), _LONGEST)
        return f"{name} is gone: {way} (was {show(problem.file)})"
    return f"{problem.message}: {way}"

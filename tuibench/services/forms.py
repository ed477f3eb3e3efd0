"""Forms of benchmarks: initial values, checks and starts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import StoreError, TuibenchError, UnknownId, UsageError
from tuibench.core.ids import short_id
from tuibench.core.model import ModelSummary, is_remote
from tuibench.core.reason import error_text
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.stored import Metadata, Project
from tuibench.core.units import size
from tuibench.present.command import token_of
from tuibench.present.error.words import error_line, message_words
from tuibench.services.forecast import Forecast, check_dim, expected_s, forecast, free_dims, limit_s
from tuibench.services.form_reading import Reading, models_of, read_form, to_command, to_request, values_of
from tuibench.services.form_values import FormCheck, FormStart, FormValues
from tuibench.services.runs import RunOptions
from tuibench.services.state_file import StateFile

if TYPE_CHECKING:
    from tuibench.services.api import Services

_FRESH_S = 2.0
_DIRECTORY = "forms"
_OF_ONE = ("model", "name", "note", "compare_to", "against")
"""Fields that belong to one benchmark and are not remembered for the next form."""


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


class Forms:
    """Opens forms, checks them and starts runs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._holder = Glance(services.runs.holder)
        self._load = Glance(services.machine.load_words)
        self._looked: dict[tuple[str, int, int], str] = {}
        """Errors of second models, by file, time and size."""

    # Initial values

    def open(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """Return the initial form: from a benchmark's settings, a project's last values, or a model's path."""
        if benchmark:
            return self._of_benchmark(benchmark)
        return self._of_project(project) if project else self._of_model(os.path.expanduser(path.strip()))

    def _of_benchmark(self, benchmark: str) -> FormStart:
        """Return the settings of a stored benchmark, for a re-run with changes."""
        stored = self._services.library.get(benchmark)
        spec, known = stored.result.spec, stored.result.models[:1]
        values = values_of(spec, spec.models, stored.metadata.name)
        start = self._look(values, f"the settings of {short_id(stored.row.id)}", known[0] if known else None)
        changed = bool(known) and start.summary is not None and start.summary.sha256 != known[0].sha256
        return _with_dims(replace(start, changed=changed), dict(values.dims))

    def _of_project(self, token: str) -> FormStart:
        """Return the last values of a project, with its newest version."""
        project = self._services.projects.get(token).project
        values, origin = self._last_values(project)
        model = project.versions[-1].model
        named = token_of(ModelSource(model.asked, model.file.path))
        start = self._look(replace(values, model=named), origin, None)
        changed = start.summary is not None and start.summary.sha256 != model.sha256
        return _with_dims(replace(start, changed=changed), _dims_of(values, project))

    def _of_model(self, path: str) -> FormStart:
        """Return the last values of the project that has this model; the defaults if none has."""
        source = self._services.models.locate(path)
        summary, project, _ = self._services.projects.look(source)
        if project is None:
            return _with_dims(FormStart(FormValues(model=path), "the defaults", summary), {})
        values, origin = self._last_values(project)
        start = FormStart(replace(values, model=path), origin, summary)
        return _with_dims(start, _dims_of(values, project))

    def _last_values(self, project: Project) -> tuple[FormValues, str]:
        kept = read_values(self._memory(project.id).read())
        if kept is not None:
            return kept, "this project's last values"
        rows = self._services.library.list(project=project.id, limit=1)
        if not rows or rows[0].foreign:
            return FormValues(), "the defaults"
        try:
            spec = self._services.library.get(rows[0].id).result.spec
        except TuibenchError:
            # An unreadable record must not prevent the form.
            return FormValues(), "the defaults"
        return values_of(spec, spec.models[:1]), f"the settings of {short_id(rows[0].id)}, the newest here"

    def _look(self, values: FormValues, origin: str, known: ModelSummary | None) -> FormStart:
        """Return the form with its model inspected now; an error is shown in the form, where it can be fixed."""
        try:
            summary, _, _ = self._services.projects.look(self._services.models.locate(values.model))
        except TuibenchError as error:
            return FormStart(values, origin, known, error=error_line(error))
        return FormStart(values, origin, summary)

    def _memory(self, project: str) -> StateFile:
        return StateFile(Path(self._services.settings.places.state) / _DIRECTORY / f"{project}.json")

    # Checks

    def check(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """Return errors by field, else command, cells and times; touches files with stat only."""
        topology = self._services.machine.topology()
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
        warnings = (*notes, *found.problems, *self._risks(spec, memory))
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
            self._services.machine.check_engines(values.engines)
        except TuibenchError as error:
            reading.errors.setdefault("engines", error_line(error))
        if values.compare_to.strip():
            try:
                self._services.library.find(values.compare_to)
            except UnknownId as error:
                reading.errors["compare_to"] = error_line(error)
            except StoreError as error:
                reading.errors["compare_to"] = message_words(error)

    def _check_second(self, values: FormValues, reading: Reading) -> None:
        """Check the second model like the first one: a child reads it once per file version."""
        token = values.against.strip()
        if not token or "against" in reading.errors or is_remote(token):
            return
        try:
            source = self._services.models.locate(token)
            status = os.stat(source.path)
            key = source.path, status.st_mtime_ns, status.st_size
            if key not in self._looked:
                self._looked[key] = self._error_of(source)
            wrong = self._looked[key]
        except TuibenchError as error:
            wrong = message_words(error)
        except OSError as error:
            wrong = str(error)
        if wrong:
            reading.errors["against"] = wrong

    def _error_of(self, source: ModelSource) -> str:
        try:
            self._services.projects.look(source)
        except TuibenchError as error:
            return error_line(error)
        return ""

    def _risks(self, spec: BenchmarkSpec, memory: int | None) -> list[str]:
        """Return warnings about allowed settings that will probably fail."""
        said = []
        for engine in self._services.machine.read().engines:
            if engine.name not in spec.engines:
                continue
            if not engine.available:
                said.append(f"{engine.name} is not installed, so its cells will fail: {engine.hint}")
            elif spec.precision not in (*engine.precisions, "engine-default"):
                said.append(f"{engine.name} has no {spec.precision}: its cells will fail")
        most = spec.limits.memory_bytes or (self._services.machine.memory_room() if memory else None)
        if memory and most and memory > most:
            said.append(f"the largest needs about {size(memory)} of {size(most)}: it will probably fail")
        return said

    # Starts

    def start(self, values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        """Start a detached run; return its id and messages for the user."""
        topology = self._services.machine.topology()
        reading = read_form(values, topology)
        self._check_names(values, reading)
        if reading.errors:
            field, words = next(iter(reading.errors.items()))
            raise UsageError("form_field", field=field.removeprefix("dim:"), why=error_text(words))
        spec, notes = to_spec(to_request(values, reading), topology, self._services.models.fetch)
        partner = self._services.library.find(values.compare_to).id if values.compare_to.strip() else None
        # Determined now, not at the end, so that the run is listed in its project.
        project, moved = self._services.projects.assign(spec.models[0], project, rerun_of)
        card = Metadata(values.name.strip(), values.note, project or None, rerun_of or None, compare_to=partner)
        wait_s = 0.0 if reading.fields.get("no_wait") else reading.fields.get("wait_s")
        options = RunOptions(metadata=card, wait_s=wait_s, share_host=bool(reading.fields.get("share_host")))
        run, said = self._services.runs.launch(spec, options)
        if project:
            # If the disk fails, the next form starts with defaults and the run is unaffected.
            plain = {name: value for name, value in asdict(values).items() if name not in _OF_ONE}
            self._memory(project).change(plain)
        return run, (*notes, *moved, *said)


def read_values(plain: Mapping[str, Any]) -> FormValues | None:
    """Return stored values; None if empty. Invalid values, perhaps of another version, get their defaults."""
    if not plain:
        return None
    found: dict[str, Any] = {}
    for one in fields(FormValues):
        value = plain.get(one.name, one.default)
        if one.name == "engines":
            value = tuple(map(str, value)) if isinstance(value, (list, tuple)) else one.default
        elif one.name in ("dims", "more"):
            pairs = value if isinstance(value, (list, tuple)) else ()
            pairs = [pair for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2]
            value = tuple((str(name), str(text)) for name, text in pairs)
        elif not isinstance(value, str):
            value = one.default
        found[one.name] = value
    return FormValues(**found)


def _dims_of(values: FormValues, project: Project) -> dict[str, str]:
    """Return the dims typed last, else those that the project remembers."""
    remembered = {name: str(length) for name, length in project.dims.items()}
    return remembered | {name: text for name, text in values.dims if text}


def _with_dims(start: FormStart, known: Mapping[str, str]) -> FormStart:
    """Add a row for each free dim of the model; for an unknown model, for each given dim."""
    names = free_dims(start.summary) if start.summary is not None else tuple(known)
    rows = tuple((name, known.get(name, "")) for name in names)
    # Dims named in another way stay as typed.
    rest = tuple((name, text) for name, text in known.items() if name not in names and text)
    return replace(start, values=replace(start.values, dims=(*rows, *rest)))


def _forecast(reading: Reading, spec: BenchmarkSpec, summary: ModelSummary | None) -> Forecast:
    """Return cells and memory; errors of the model are added to the field's errors."""
    models = [summary] if summary is not None else []
    for name, _ in spec.dims if summary is not None else ():
        try:
            check_dim(models[0], spec, name)
        except UsageError as error:
            reading.errors[f"dim:{name}"] = error_line(error, beside=True)
    if not reading.errors:
        try:
            return forecast(spec, models)
        except UsageError as error:
            reading.errors["batches"] = error_line(error)
    return Forecast(0, None)

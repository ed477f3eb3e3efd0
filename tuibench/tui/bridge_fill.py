"""Initial values of forms: a project's last values, a benchmark's settings, or a model by its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.model import ModelSummary
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Project
from tuibench.present.command import token_of
from tuibench.services.api import Services
from tuibench.services.forecast import free_dims
from tuibench.tui.bridge_form import told, values_of
from tuibench.tui.config import StateFile
from tuibench.tui.desk import FormStart, FormValues

_DIRECTORY = "forms"
_OF_ONE = ("model", "name", "note", "compare_to", "against")
"""Fields that belong to one benchmark and are not remembered for the next form."""


class Filler:
    """Fills forms; `locate` returns the file of a token and may fetch it."""

    def __init__(self, services: Services, locate: Callable[[str], ModelSource]) -> None:
        self._services = services
        self._locate = locate

    def of_benchmark(self, benchmark: str) -> FormStart:
        """Return the settings of a stored benchmark, for a re-run with changes."""
        stored = self._services.library.get(benchmark)
        spec, known = stored.result.spec, stored.result.models[:1]
        values = values_of(spec, spec.models, stored.metadata.name)
        start = self._look(values, f"the settings of {short_id(stored.row.id)}", known[0] if known else None)
        changed = bool(known) and start.summary is not None and start.summary.sha256 != known[0].sha256
        return _with_dims(replace(start, changed=changed), dict(values.dims))

    def of_project(self, token: str) -> FormStart:
        """Return the last values of a project, with its newest version."""
        project = self._services.projects.get(token).project
        values, origin = self._last_values(project)
        model = project.versions[-1].model
        named = token_of(ModelSource(model.asked, model.file.path))
        start = self._look(replace(values, model=named), origin, None)
        changed = start.summary is not None and start.summary.sha256 != model.sha256
        return _with_dims(replace(start, changed=changed), _dims_of(values, project))

    def of_model(self, path: str) -> FormStart:
        """Return the last values of the project that has this model; the defaults if none has."""
        source = self._locate(path)
        summary, project, _ = self._services.projects.look(source)
        if project is None:
            return _with_dims(FormStart(FormValues(model=path), "the defaults", summary), {})
        values, origin = self._last_values(project)
        start = FormStart(replace(values, model=path), origin, summary)
        return _with_dims(start, _dims_of(values, project))

    def keep(self, project: str, values: FormValues) -> None:
        """Remember started values; if the disk fails, the next form starts with defaults and the run is unaffected."""
        plain = {name: value for name, value in asdict(values).items() if name not in _OF_ONE}
        self._memory(project).change(plain)

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
            summary, _, _ = self._services.projects.look(self._locate(values.model))
        except TuibenchError as error:
            return FormStart(values, origin, known, error=told(error))
        return FormStart(values, origin, summary)

    def _memory(self, project: str) -> StateFile:
        return StateFile(Path(self._services.settings.places.state) / _DIRECTORY / f"{project}.json")


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

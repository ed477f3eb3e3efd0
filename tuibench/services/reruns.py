"""Stored benchmarks and profiles, measured again."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tuibench.core.errors import ModelError, TuibenchError
from tuibench.core.model import is_remote
from tuibench.core.settings.request import repeat
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.core.text import cut_middle, show
from tuibench.services.forecast import expected_s
from tuibench.services.form_values import RerunPlan
from tuibench.services.model import Locate, ModelChanged, ModelGone, Repetition
from tuibench.services.runs import RunOptions

if TYPE_CHECKING:
    from tuibench.services.api import Services

_ELSEWHERE = "R takes it from where it lies now"
_LONGEST = 30
"""Columns of a file's name, so that the hint after it stays visible."""


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


def _lost_words(problem: ModelError, way: str) -> str:
    """Return why a model is missing and the remedy, before the long path so that 80 columns show it."""
    if isinstance(problem, ModelGone) and is_remote(problem.file):
        return f"{show(problem.file, 60)} is not in the cache any more: R fetches it"
    if isinstance(problem, ModelGone) and problem.file:
        name = cut_middle(show(os.path.basename(problem.file)), _LONGEST)
        return f"{name} is gone: {way} (was {show(problem.file)})"
    return f"{problem.message}: {way}"

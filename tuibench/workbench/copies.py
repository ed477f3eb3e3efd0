"""Where else a model lies whose file is gone, as far as the project of its benchmark knows."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tuibench.core.card import StoredBenchmark
from tuibench.core.errors import TuibenchError
from tuibench.core.spec import ModelSource
from tuibench.workbench.library import Library
from tuibench.workbench.projects import Projects

_LOOKED_AT = 20
"""Benchmarks of the project, the newest: each is a whole record to be read."""


def known_copies(stored: StoredBenchmark, projects: Projects, library: Library) -> tuple[ModelSource, ...]:
    """A file for each model that is not where it was; whether it has that content still is for others to see."""
    found = []
    for model in stored.result.models:
        if os.path.isfile(model.path):
            continue
        paths = _paths(stored, model.sha256, projects, library)
        path = next((path for path in paths if os.path.isabs(path) and os.path.isfile(path)), None)
        found += [ModelSource(path, path)] if path is not None else []
    return tuple(found)


def _paths(stored: StoredBenchmark, sha256: str, projects: Projects, library: Library) -> Iterator[str]:
    project = projects.kept(stored.card.project)
    if project is None:
        return
    for version in projects.get(project).project.versions:
        if version.model.sha256 == sha256:
            yield version.model.file.path
    for row in library.list(project=project, limit=_LOOKED_AT):
        try:
            models = library.get(row.id).result.models
        except TuibenchError:
            continue  # a damaged record beside it is no reason against those that can be read
        yield from (model.path for model in models if model.sha256 == sha256)

"""Models by path, name or address: locate, fetch, inspect, complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core.model import FetchProgress, ModelSummary
from tuibench.core.settings.model_token import SAMPLES, resolve_model
from tuibench.core.spec import ModelSource
from tuibench.services.forecast import free_dims

if TYPE_CHECKING:
    from tuibench.services.api import Services

MOST = 50
_MODELS = (".onnx", ".ort")
Tell = Callable[[FetchProgress], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A model that was inspected: its source, its summary, and the project that has it already."""

    source: ModelSource
    summary: ModelSummary
    project: str
    """ULID; '' for none."""
    name: str
    """Suggested name of a project for it."""
    dims: tuple[str, ...] = ()
    """Free dims other than its batch: requested once and remembered in the project."""


class Models:
    """Finds models; `tell` is called with the progress of a download, from the calling thread."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def fetch(self, token: str, tell: Tell = lambda _: None) -> ModelSource:
        """Fetch a remote model unless it is cached, and return its file."""
        from tuibench.services.child_call import ModelFetch  # lazy: child processes

        return ModelFetch(token, self._services.settings.places).carry_out(tell).source

    def locate(self, token: str, tell: Tell = lambda _: None) -> ModelSource:
        """Return the file of a path, a name such as sample:tiny, or an address, which is fetched."""
        return resolve_model(token.strip(), fetch=lambda address: self.fetch(address, tell))

    def find(self, text: str, tell: Tell = lambda _: None) -> Found:
        """Return a model, read by a child; raise ModelError or UsageError if it is not a model."""
        source = self.locate(os.path.expanduser(text.strip()), tell)
        summary, project, name = self._services.projects.look(source)
        return Found(source, summary, project.id if project else "", name, free_dims(summary))

    def complete(self, text: str) -> tuple[str, ...]:
        """Return completions of a path: directories with a slash, models, samples; at most fifty."""
        return complete_path(text, SAMPLES)


def complete_path(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return at most fifty completions as typed: directories first, with a slash; `names` are no paths."""
    known = [name for name in names if text and name.startswith(text)]
    folder, begun = os.path.split(text)
    try:
        entries = os.scandir(os.path.expanduser(folder) or os.curdir)
    except (OSError, ValueError):
        return tuple(known[:MOST])
    with entries:
        # Hidden entries only if the typed name begins with a dot.
        fitting = [e for e in entries if e.name.startswith(begun) and (begun[:1] == "." or e.name[:1] != ".")]
    folders = sorted(os.path.join(folder, entry.name, "") for entry in fitting if _is(entry.is_dir))
    models = sorted(os.path.join(folder, e.name) for e in fitting if e.name.endswith(_MODELS) and _is(e.is_file))
    # A name that cannot be displayed cannot be typed either.
    found = [path for path in (*known, *folders, *models) if path.isprintable()]
    return tuple(found[:MOST])


def _is(question: Callable[[], bool]) -> bool:
    """Return whether an entry is of a kind; False if stat fails, as for a link to itself."""
    try:
        return question()
    except OSError:
        return False

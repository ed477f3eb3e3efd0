"""Current content of model files: a child reads them, once per change."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from tuibench.core.errors import TuibenchError
from tuibench.core.model import ModelSummary, refer
from tuibench.core.spec import ModelSource
from tuibench.core.stored import ModelReference


class ContentGlance:
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

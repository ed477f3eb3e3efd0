"""What a model's files hold by now: a child reads them, once for each time that they changed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from tuibench.core.errors import TuibenchError
from tuibench.core.model import ModelSummary
from tuibench.core.project import ModelReference
from tuibench.core.reference import refer
from tuibench.core.spec import ModelSource


class ContentGlance:
    """Remembers what was found in a file for as long as this and those of its weights stay as they were."""

    def __init__(
        self, look: Callable[[ModelSource], ModelSummary], is_untouched: Callable[[ModelReference], bool]
    ) -> None:
        self._look = look
        self._is_untouched = is_untouched
        self._seen: dict[str, tuple[ModelReference, ModelSummary]] = {}
        """By path."""
        self._turn = Lock()

    def sha256(self, source: ModelSource, known: ModelReference) -> str:
        """What a model is known by; '' where it cannot be read, and no child is asked where it is still `known`."""
        # One child at a time: RUN asks for what the check of the last key is finding out.
        with self._turn:
            if known.file.path == source.path and self._is_untouched(known):
                return known.sha256
            found = self._read(source)
            return found.sha256 if found is not None else ""

    def summary(self, source: ModelSource) -> ModelSummary | None:
        """What it is; None where it cannot be read."""
        with self._turn:
            return self._read(source)

    def read_anew(self, source: ModelSource) -> ModelSummary:
        """The same by a child in any case; ModelError where it is none."""
        with self._turn:
            return self._read_anew(source)

    def _read(self, source: ModelSource) -> ModelSummary | None:
        reference, found = self._seen.get(source.path, (None, None))
        if reference is not None and reference.file.path == source.path and self._is_untouched(reference):
            return found
        try:
            return self._read_anew(source)
        except TuibenchError:
            return None  # what is wrong with it is said elsewhere

    def _read_anew(self, source: ModelSource) -> ModelSummary:
        found = self._look(source)
        reference = refer(source.asked, found)
        if reference is not None:
            self._seen[source.path] = reference, found
        return found

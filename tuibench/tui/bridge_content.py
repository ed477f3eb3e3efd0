"""Which content a model's files hold by now: a child reads them, once for each time that they changed."""

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
        self._seen: dict[str, ModelReference] = {}
        """By path."""
        self._turn = Lock()

    def sha256(self, source: ModelSource, known: ModelReference) -> str:
        """What a model is known by; '' where it cannot be read, and no child is asked where it is still `known`."""
        # One child at a time: RUN asks for what the check of the last key is finding out.
        with self._turn:
            for reference in (known, self._seen.get(source.path)):
                if reference is not None and reference.file.path == source.path and self._is_untouched(reference):
                    return reference.sha256
            try:
                found = refer(source.asked, self._look(source))
            except TuibenchError:
                return ""  # what is wrong with it is said elsewhere
            if found is None:
                return ""
            self._seen[source.path] = found
            return found.sha256

"""What a session leaves for the next one: the last values of each project's form, and what was copied last."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tuibench.core.errors import WriteError
from tuibench.core.text import show
from tuibench.runs.directory import make_private, write_whole
from tuibench.runs.regular import open_regular

_FORMS = "forms"
_COPIED = "copied.txt"
_LONGEST_BYTES = 1 << 20


class Keeping:
    """Small files in the state directory; losing one costs nobody a measurement, so reading never raises."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def values(self, project: str) -> dict[str, Any]:
        """What `keep_values` was given last for a project; {} where that was never, or cannot be read any more."""
        try:
            with os.fdopen(open_regular(self._form(project)), "rb") as handle:
                found = json.loads(handle.read(_LONGEST_BYTES))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep_values(self, project: str, values: dict[str, Any]) -> None:
        """Remember a form; WriteError where the disk does not take it."""
        self._write(self._form(project), json.dumps(values, indent=1))

    def keep_copy(self, text: str) -> Path:
        """Leave a text where somebody without a clipboard finds it."""
        path = self._state / _COPIED
        self._write(path, text + "\n")
        return path

    def _form(self, project: str) -> Path:
        return self._state / _FORMS / f"{os.path.basename(project) or 'none'}.json"

    def _write(self, path: Path, text: str) -> None:
        try:
            make_private(path.parent)
            write_whole(path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise WriteError(f"{show(str(path), 120)} cannot be written: {reason}", "make room there") from error

"""What the dashboard remembers from one session to the next: small, private, and never worth an error."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tuibench.tui.small_file import read_small


class StateFile:
    """One JSON object in a file of its own; several sessions may write it, and the last one wins."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        """What was remembered; nothing where that cannot be read, as it can be chosen anew."""
        try:
            found = json.loads(read_small(self._path))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Remember these, beside what others have; whether the disk took it."""
        now = self.read()
        new = {**now, **changes}
        if new == now:
            return True
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}.part")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
                json.dump(new, handle)
            os.replace(part, self._path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        return True

"""Where things lie on disk; found once, passed in everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """The four directories of a user; TUIBENCH_HOME puts all of them below one."""

    data: Path
    """The store: what must never be lost."""
    state: Path
    """Runs that go on, their journals and logs."""
    cache: Path
    """What can be had again: downloaded models, hashes, facts."""
    config: Path

    @property
    def runs(self) -> Path:
        """One directory per run."""
        return self.state / "runs"

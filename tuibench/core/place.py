"""Directories on disk, found once and passed to all code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """The four directories of a user; TUIBENCH_HOME puts all of them below one."""

    data: Path
    """The store: data that must never be lost."""
    state: Path
    """Runs, with their journals and logs."""
    cache: Path
    """Data that can be recreated: downloaded models, hashes, facts."""
    config: Path

    @property
    def runs(self) -> Path:
        """One directory per run."""
        return self.state / "runs"

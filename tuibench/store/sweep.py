"""Removes temporary files of dead writers, one directory at a time."""

from __future__ import annotations

import os

from tuibench.store.context import Context
from tuibench.store.files import parse_temp

HOUR_S = 3600.0
FOREIGN_HOURS = 24
"""Hours after which another machine's temporary file counts as dead, as its process cannot be checked."""


class Sweeper:
    """Sweeps each directory once per session; needs the lock that guards it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: set[str] = set()

    def once(self, directory: str) -> None:
        """Remove dead temporary files from a directory unless already done."""
        if directory not in self._seen:
            self._seen.add(directory)
            self.sweep(directory)

    def sweep(self, directory: str) -> list[str]:
        """Remove dead temporary files from a directory; return their paths."""
        dead = self.find(directory)
        for path in dead:
            self._context.files.remove(path)
        return dead

    def find(self, directory: str) -> list[str]:
        """Return temporary files older than an hour whose process is gone."""
        found = []
        for name in self._context.files.names(directory):
            if (maker := parse_temp(name)) is None:
                continue
            path = os.path.join(directory, name)
            stated = self._context.files.stat(path)
            age = self._context.waiting.clock() - stated.st_mtime if stated is not None else 0.0
            if self._is_dead(maker, age):
                found.append(path)
        return found

    def _is_dead(self, maker: tuple[str, int], age_s: float) -> bool:
        node, pid = maker
        if node != self._context.files.node:
            return age_s > FOREIGN_HOURS * HOUR_S
        return age_s > HOUR_S and not self._context.is_alive(pid)

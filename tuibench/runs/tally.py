"""A replay for run lists: counts executions instead of keeping them."""

from __future__ import annotations

from typing import Any

from tuibench.runs.profile.parts import PartTally, count_parts
from tuibench.runs.replay import Replay


class Tally(Replay):
    """Applies events in order; keeps only the I/O class of each execution."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: dict[str, Any] = {}
        """The last progress event."""
        self._told = PartTally()
        self._io: dict[str, list[str]] = {}
        """Maps each cell to the I/O class of each of its executions."""

    @property
    def counts(self) -> dict[str, int]:
        """Return the same counts as `past.count`."""
        profile = self.spec.profile
        if profile is not None:
            return count_parts(profile, self._told.done, self._told.measured, self._told.changes)
        tracks = self.tracks.values()
        return {
            "cells": len(tracks),
            "cells_done": sum(not track.live for track in tracks),
            "executions": sum(map(len, self._io.values())),
        }

    def _on_progress(self, event: dict[str, Any]) -> None:
        self.latest = event

    def _on_profile_part(self, event: dict[str, Any]) -> None:
        self._told.take(event)

    def _on_execution_done(self, event: dict[str, Any]) -> None:
        if not event.get("anchor"):
            self._io.setdefault(str(event["cell"]), []).append(str(event["result"]["used"]["io"]))

    def _on_warning(self, event: dict[str, Any]) -> None:
        super()._on_warning(event)
        if event.get("keep_io"):
            key = str(event["cell"])
            self._io[key] = [io for io in self._io.get(key, []) if io == event["keep_io"]]

"""Shows the download of a model on stderr: its size, the progress, then its name and checksum."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tuibench.core.place import Places
from tuibench.core.remote import FetchedModel, FetchProgress, public_name
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.core.units import percent, size
from tuibench.report.progress import ProgressPainter, Snapshot, can_repaint

_MEASURE_AFTER_S = 1.0


class ArrivalView:
    """Prints the size of a model once, then the downloaded part."""

    def __init__(self, label: str, painter: ProgressPainter, clock: Callable[[], float]) -> None:
        self._label = label
        self._painter = painter
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def update(self, progress: FetchProgress) -> None:
        """Repaint if it is time."""
        if self._first is None:
            self._first = (self._clock(), progress.fetched)
            total = "of unknown size" if progress.total is None else size(progress.total)
            self._painter.say(f"fetching {self._label}: {total}")
        self._painter.update(Snapshot(0, 0, self._label, eta_s=self._left_s(progress), activity=_share(progress)))

    def done(self, model: FetchedModel) -> None:
        """Print the last line; nothing if the model was cached."""
        self._painter.clear()
        if model.fetched:
            self._painter.say(f"fetched {show(model.name)}: {size(model.bytes)}, sha256 {show(model.sha256, 12)}")

    def _left_s(self, progress: FetchProgress) -> float | None:
        if self._first is None or progress.total is None:
            return None
        began, before = self._first
        spent, arrived = self._clock() - began, progress.fetched - before
        if spent < _MEASURE_AFTER_S or arrived <= 0:
            return None
        return (progress.total - progress.fetched) * spent / arrived


def fetcher(places: Places, quiet: bool, ascii_only: bool) -> Callable[[str], ModelSource]:
    """Return a function that fetches a name such as hf:ORG/REPO or https://… and shows the progress on stderr."""

    def fetch(token: str) -> ModelSource:
        from tuibench.workbench.fetching import ModelFetch  # lazy: only for remote models

        in_place = can_repaint(sys.stderr, os.environ.get("TERM", ""))
        painter = ProgressPainter(sys.stderr, time.monotonic, in_place, ascii_only)
        view = ArrivalView(show(public_name(token), 50), painter, time.monotonic)
        try:
            model = ModelFetch(token, places).carry_out(_unheard if quiet else view.update)
        finally:
            painter.clear()
        if not quiet:
            view.done(model)
        return model.source

    return fetch


def _share(progress: FetchProgress) -> str:
    if not progress.total:
        return size(progress.fetched)
    return f"{size(progress.fetched)} of {size(progress.total)}, {percent(progress.fetched / progress.total)}"


def _unheard(_: FetchProgress) -> None:
    """Ignore the progress, for -q."""

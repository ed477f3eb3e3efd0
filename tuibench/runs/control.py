"""Control requests to a running benchmark, left as files in its directory, so that no signal has to arrive."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tuibench.runs.directory import write_whole
from tuibench.runs.journal import Journal, open_regular
from tuibench.runs.schedule import Schedule
from tuibench.runs.supervision import Bounds

MAX_S = 1e7
"""Upper limit of extra time: four months."""
_PLACE = "wishes"
_FINISH = "finish"
_TICKET = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


@dataclass(frozen=True, slots=True)
class MoreTime:
    """One request for more time per cell; its id separates a request granted before a crash from a new one."""

    id: str
    more_s: float


class ControlRequests:
    """The request files of one run: clients write them, the runner removes them."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / _PLACE

    def ask_to_finish(self) -> None:
        """Request to stop after the current execution; a repeated request has no further effect."""
        self._path.mkdir(mode=0o700, exist_ok=True)
        (self._path / _FINISH).touch(mode=0o600)

    def ask_for_time(self, ticket: str, more_s: float) -> None:
        """Request `more_s` per cell; each ticket, a ULID, counts once."""
        self._path.mkdir(mode=0o700, exist_ok=True)
        write_whole(self._path / ticket, json.dumps({"more_s": more_s}).encode("ascii"))

    @property
    def finish_asked(self) -> bool:
        """Return whether the run is to stop after the current execution."""
        return (self._path / _FINISH).exists()

    def forget_finish(self) -> None:
        """Remove the finish request when the run is resumed."""
        (self._path / _FINISH).unlink(missing_ok=True)

    def more_time(self) -> tuple[MoreTime, ...]:
        """Return the pending requests for time, oldest first; skip invalid files."""
        try:
            names = sorted(os.listdir(self._path))
        except OSError:
            return ()
        found = ((name, self._read(name)) for name in names if _TICKET.fullmatch(name))
        return tuple(MoreTime(name, more_s) for name, more_s in found if more_s is not None)

    def _read(self, name: str) -> float | None:
        try:
            with os.fdopen(open_regular(self._path / name), "rb") as handle:
                more_s = float(json.load(handle)["more_s"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None  # removed meanwhile, or written by somebody else
        return more_s if math.isfinite(more_s) and 0 < more_s <= MAX_S else None

    def withdraw(self, ticket: str) -> None:
        """Remove a request for time that was granted or came too late."""
        (self._path / ticket).unlink(missing_ok=True)


class ControlPoller:
    """The control requests of one session; `granted` are the ids that earlier sessions have granted."""

    def __init__(self, run_dir: Path, journal: Journal, bounds: Bounds, granted: Collection[str] = ()) -> None:
        self._requests = ControlRequests(run_dir)
        self._journal = journal
        self._bounds = bounds
        self._granted = set(granted)
        self.finishing = False
        """True if the current execution is to be the last."""

    def poll(self, schedule: Schedule | None) -> None:
        """Apply new requests; requests for more time wait until there is a schedule."""
        if not self.finishing and self._requests.finish_asked:
            self._journal.append("finish_asked")
            self.finishing = True
        if schedule is None or self.finishing:
            return
        for request in self._requests.more_time():
            if request.id not in self._granted:
                self._grant(request, schedule)
            self._requests.withdraw(request.id)

    def _grant(self, request: MoreTime, schedule: Schedule) -> None:
        executions, cells = schedule.extend(request.more_s)
        self._bounds.extend(request.more_s)
        self._granted.add(request.id)
        self._journal.append("extended", wish=request.id, limit_s=request.more_s, executions=executions, cells=cells)

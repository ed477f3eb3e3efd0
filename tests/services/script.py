"""A scripted run: its directory, journal and lock without a process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.build import make_cell, make_execution, make_spec
from tests.store.data import make_id
from tuibench.core.cell import Cell
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.reason import Failure, error_text
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.directory import LOCK, RunDirectory
from tuibench.runs.journal import Journal

SHA = "a" * 64
HERE = "0123456789abcdef"
SUMMARY = ModelSummary("/models/m.onnx", SHA, 1000, 0, (), ())
POINT = Point("p0", 0, 1, 1, {}, {}, (), None, 1, Reference(None, None, None))
SECOND_NS = 10**9


class ScriptedRun:
    """A run that begins with `request.json` alone; each method is one step of a runner."""

    def __init__(
        self,
        root: Path,
        number: int = 1,
        *,
        cells: int = 2,
        metadata: Mapping[str, Any] | None = None,
        spec: BenchmarkSpec | None = None,
        store: Path | None = None,
    ) -> None:
        self.directory = RunDirectory(root / make_id(number))
        root.mkdir(parents=True, exist_ok=True)
        self.spec = spec or make_spec(Path("/models/m.onnx"), cores=tuple(range(1, cells + 1)))
        self.cells: list[Cell] = [make_cell("p0", cores=cores, model_sha256=SHA) for cores in range(1, cells + 1)]
        request = {
            "id": self.id,
            "spec": to_plain(self.spec),
            "card": dict(metadata or {}),
        }
        self.directory.make(request | ({"store": str(store)} if store else {}))
        self.journal: Journal | None = None
        self._lock: int | None = None

    @property
    def id(self) -> str:
        return self.directory.id

    def hold(self) -> None:
        """Hold the runner's lock."""
        self._lock = os.open(self.directory.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def let_go(self) -> None:
        """Release the runner's lock."""
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None

    def say(self, ev: str, **fields: Any) -> None:
        """Write any event."""
        self.journal = self.journal or Journal(self.directory.path)
        self.journal.append(ev, **fields)

    def begin(self, **fields: Any) -> None:
        """Begin with this process as the runner, unless another is given."""
        start = {"run": self.id, "spec": to_plain(self.spec), "host_id": HERE, "boot_id": "", "pid": os.getpid()}
        self.say("run_start", **{**start, "started_utc": "2026-11-18T10:00:00Z", "versions": {}, **fields})

    def plan(self) -> None:
        """Plan all cells on one point."""
        cells = [to_plain(cell) for cell in self.cells]
        self.say("plan", models=[to_plain(SUMMARY)], points=[to_plain(POINT)], cells=cells, seed=0)

    def start(self, cell: int, n: int, *, anchor: bool = False, round: int | None = None) -> None:  # noqa: A002
        """Start an execution."""
        place = {"cell": self.cells[cell].key, "n": n, "round": abs(n) if round is None else round, "anchor": anchor}
        self.say("execution_start", **place)

    def progress(self, cell: int | None, **fields: Any) -> None:
        """Report the progress of a cell."""
        key = None if cell is None else self.cells[cell].key
        known = {
            "p50_ms": 1.0,
            "half_width_pct": None,
            "grade": None,
            "eta_s": 30.0,
            "n": 0,
            "round": 1,
            "phase": "timed",
        }
        self.say("progress", cell=key, **({**known, **fields} if key else fields))

    def done(self, cell: int, n: int, p50_ns: float = 1e6, *, anchor: bool = False, **changes: Any) -> None:
        """Finish an execution with its numbers."""
        execution = replace(make_execution(p50_ns), **changes)
        place = {"cell": self.cells[cell].key, "n": n, "round": abs(n), "anchor": anchor, "wall_s": 1.0}
        self.say("execution_done", **place, result=to_plain(execution))

    def fail(self, cell: int, message: str = "no such operator") -> None:
        """Fail a cell for good."""
        failure = to_plain(Failure("refused", "load", error_text(message)))
        place = {"cell": self.cells[cell].key, "n": 1, "round": 1, "anchor": False, "again": False, "wall_s": 0.1}
        self.say("execution_failed", **place, failure=failure)
        self.say("cell_done", cell=self.cells[cell].key, stopped_by="failed", pooled=None)

    def finish(self, cell: int) -> None:
        """Finish a cell."""
        self.say("cell_done", cell=self.cells[cell].key, stopped_by="±0.1 % after 3 executions", pooled=None)

    def end(self, status: str = "finished", **fields: Any) -> None:
        """Write the last event and release the lock."""
        counts = {"cells": len(self.cells), "cells_done": len(self.cells), "executions": 3}
        self.say("run_end", status=status, **{**counts, **fields})
        self.let_go()

"""A desk with a constant machine that counts examinations; it passes other calls to the real desk."""

from __future__ import annotations

from typing import Any, cast

from tests.store.build import make_id
from tests.tui.pilot import make_desk
from tuibench.core.activity import RUNNING, RunInfo
from tuibench.core.errors import TuibenchError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.present.doctor import render_doctor
from tuibench.tui.desk import Desk, Pulse, RunRow

ENGINES = (
    EngineChoice("onnxruntime", True, "1.31.1", "", ("f32",)),
    EngineChoice("openvino", False, "", "pip install 'tuibench[openvino]'"),
)
MACHINE = Machine(2, 2, 2, ("avx512", "vnni"), ENGINES, "host-1")


RUN = RunRow(
    RunInfo(
        id=make_id(7), state=RUNNING, detail="", started_utc="2026-01-02T03:04:05Z", models=("/m/a.onnx",), name="",
        directory="", pid=1, cells=4, cells_done=1, executions=3, eta_s=60.0,
    ),
    project="", engines="onnxruntime", scenarios="sync", cores="1", batches="1",
)  # fmt: skip


class SystemDesk:
    """A desk that counts examinations; `lines` are the facts that doctor would print, or an error."""

    def __init__(self, facts: dict[str, Any] | TuibenchError, runs: tuple[RunRow, ...] = ()) -> None:
        self.facts = facts
        self.runs = runs
        self.looks = 0
        self._real = make_desk()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def as_desk(self) -> Desk:
        """Return this desk typed as Desk."""
        return cast(Desk, self)

    def machine(self) -> Machine:
        """Return the constant machine."""
        return MACHINE

    def pulse(self) -> Pulse:
        """Return the runs that the test has set."""
        return Pulse("1", self.runs)

    def examine(self) -> tuple[str, ...]:
        """Count one examination and return the facts."""
        self.looks += 1
        if isinstance(self.facts, TuibenchError):
            raise self.facts
        return tuple(render_doctor(self.facts).splitlines())

"""Services with a constant machine that count examinations and are real otherwise."""

from __future__ import annotations

from typing import Any

from tests.store.build import make_id
from tests.tui.pilot import replace_methods
from tuibench.core.activity import RUNNING, RunInfo, RunRow, Snapshot
from tuibench.core.errors import TuibenchError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.services.api import Services

ENGINES = (
    EngineChoice("onnxruntime", True, "1.31.1", "", ("f32",)),
    EngineChoice("openvino", False, "", "pip install 'tuibench[openvino]'"),
)
MACHINE = Machine(2, 2, 2, ("avx512", "vnni"), ENGINES, "host-1")


RUN = RunRow(
    RunInfo(
        id=make_id(7), state=RUNNING, detail=None, started_utc="2026-01-02T03:04:05Z", models=("/m/a.onnx",), name="",
        directory="", pid=1, cells=4, cells_done=1, executions=3, eta_s=60.0,
    ),
    project="", engines="onnxruntime", scenarios="sync", cores="1", batches="1",
)  # fmt: skip


class SystemServices(Services):
    """Services that count examinations; `facts` are those of doctor, or an error."""

    def __init__(self, facts: dict[str, Any] | TuibenchError, active: tuple[RunRow, ...] = ()) -> None:
        super().__init__()
        self.facts = facts
        self.looks = 0
        snapshot = Snapshot("1", active)
        replace_methods(
            self, machine__read=lambda: MACHINE, machine__examine=self._examine, monitor__look=lambda: snapshot
        )

    def _examine(self) -> dict[str, Any]:
        self.looks += 1
        if isinstance(self.facts, TuibenchError):
            raise self.facts
        return self.facts

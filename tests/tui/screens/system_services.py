"""Services with a constant machine that count examinations and are real otherwise."""

from __future__ import annotations

from typing import Any

from tests.store.build import make_id
from tests.tui.pilot import replace_methods
from tuibench.core.activity import RUNNING, RunInfo, RunRow, Snapshot
from tuibench.core.engine_state import AVAILABLE, BESIDE, IMPOSSIBLE, INSTALLED, MISSING, EngineState
from tuibench.core.errors import TuibenchError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.core.reason import because
from tuibench.services.api import Services

DEEPSPARSE = "deepsparse_community"
INSTALL = "tuibench engines install deepsparse"
ENGINES = (
    EngineChoice("onnxruntime", True, "1.31.1", "", ("f32",)),
    EngineChoice("openvino", False, "", "pip install 'tuibench[openvino]'"),
)
STATES = (
    EngineState("onnxruntime", BESIDE, "1.31.1"),
    EngineState("onnxruntime@1.27.0", INSTALLED, "1.27.0", 113_000_000, "3.11.7"),
    EngineState("openvino", MISSING, "", command="pip install 'tuibench[openvino]'"),
    EngineState("deepsparse", AVAILABLE, "1.8.0", 200_000_000, licence=DEEPSPARSE, command=INSTALL),
    EngineState("executor", IMPOSSIBLE, "1.4.2", why=because("no_python_for", pythons=["3.10", "3.11"])),
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
            self,
            machine__read=lambda: MACHINE,
            machine__examine=self._examine,
            monitor__look=lambda: snapshot,
            engines__every=lambda: STATES,
        )

    def _examine(self) -> dict[str, Any]:
        self.looks += 1
        if isinstance(self.facts, TuibenchError):
            raise self.facts
        return self.facts

"""Services for tests of the form: it knows one model, parses lists as the shell does, and records its calls."""

from __future__ import annotations

import threading
from typing import Any

from tests.build import SERVER_ISA
from tests.store.build import make_id
from tests.tui.pilot import replace_methods
from tuibench.core import activity
from tuibench.core.activity import RunInfo, RunRow, Snapshot
from tuibench.core.errors import ModelError, TuibenchError, UsageError
from tuibench.core.machine import EngineChoice, Machine
from tuibench.core.model import ModelSummary
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.settings.axis import Axis, parse_integers
from tuibench.present.error.words import error_line
from tuibench.services.api import Services
from tuibench.services.form_values import FormCheck, FormStart, FormValues

RUN = make_id(7)
MODEL = "/models/resnet50.onnx"
VALUES = FormValues(model=MODEL, cores="1,2,4,8,16", batches="1,8,32", dims=(("seq", "128"),))
ENGINES = (
    EngineChoice("onnxruntime", True, "1.31.0", "", ("f32",)),
    EngineChoice("openvino", True, "2026.4.0", "", ("f32", "bf16", "f16")),
    EngineChoice("attic", False, "", "pip install 'tuibench[attic]'"),
)


class FormServices(Services):
    """Services whose form is scripted."""

    def __init__(self, values: FormValues = VALUES, **start: Any) -> None:
        super().__init__()
        self.machine_now = Machine(16, 16, 32, SERVER_ISA, ENGINES)
        self.begins = FormStart(values, **{"origin": "this project's last values", "summary": None, **start})
        self.active: tuple[RunRow, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.checked: list[FormValues] = []
        self.started: list[tuple[FormValues, str, str]] = []
        self.opened: list[tuple[str, str, str]] = []
        self.copied: list[str] = []
        self.refusal: TuibenchError | None = None
        self.gate = threading.Event()
        """Starts wait for it."""
        self.gate.set()
        self.reading = threading.Event()
        """Opening waits for it."""
        self.reading.set()
        self.checking = threading.Event()
        """Checks wait for it."""
        self.checking.set()
        self.other_models: dict[str, FormStart] = {}
        replace_methods(
            self,
            monitor__look=lambda: Snapshot("1", self.active),
            machine__read=lambda: self.machine_now,
            projects__get=lambda token: _Row(_Project("resnet50")),
            forms__open=self._open,
            forms__check=self._check,
            forms__start=self._start,
        )

    def _open(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """Return the form's values, or those of another model."""
        self.opened.append((project, benchmark, path))
        self.reading.wait(30)
        if not path or path == self.begins.values.model:
            return self.begins
        if path not in self.other_models:
            raise ModelError(LEGACY_TEXT, text=f"there is no model {path}", hint="name another file")
        return self.other_models[path]

    def _check(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """Return the errors of number lists and the number of cells."""
        self.checked.append(values)
        self.checking.wait(30)
        errors: dict[str, str] = {}
        counts = [
            self._count(errors, name, getattr(values, name), most) for name, most in (("cores", 16), ("batches", 4096))
        ]
        counts += [self._count(errors, f"dim:{name}", text, 4096) for name, text in values.dims]
        for name in ("streams", "warmup_s", "target"):
            self._count(errors, name, getattr(values, name), 4096)
        if len(values.name) > 200:
            errors["name"] = "takes one line of at most 200 visible characters"
        cells = len(values.scenarios.split(",")) * max(len(values.engines), 1)
        for count in counts:
            cells *= count
        if errors:
            return FormCheck(errors)
        command = f"tuibench benchmark {values.model} -ncores {values.cores} -b {values.batches} --dim seq=128"
        return FormCheck({}, command, cells, 12.0 * cells, 30.0 * cells, 3_100_000_000, self.warnings)

    @staticmethod
    def _count(errors: dict[str, str], name: str, text: str, most: int) -> int:
        if not text:
            return 1
        try:
            return len(parse_integers(text, Axis("", 1, most, of_cores=name == "cores"))[0])
        except UsageError as error:
            errors[name] = error_line(error)
            return 1

    def _start(self, values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        """Return a run, or raise the refusal that the test has set."""
        self.gate.wait(30)
        if self.refusal is not None:
            raise self.refusal
        self.started.append((values, project, rerun_of))
        return RUN, self.notes

    def keep_copy(self, text: str) -> str:
        """Return the path where the copy would be."""
        self.copied.append(text)
        return "/state/copied.txt"


def running(eta_s: float) -> RunRow:
    """Return an active run of another user."""
    info = RunInfo(
        RUN,
        activity.RUNNING,
        None,
        "2026-09-21T12:00:00Z",
        ("resnet50.onnx",),
        "",
        "/state/runs/x",
        1,
        15,
        9,
        40,
        eta_s,
    )
    return RunRow(info, "", "onnxruntime", "sync", "1", "1")


class _Project:
    def __init__(self, name: str) -> None:
        self.name = name


class _Row:
    def __init__(self, project: _Project) -> None:
        self.project = project

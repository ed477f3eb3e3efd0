"""Copies of models in the form that an engine takes; the user's file is never changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tuibench.core.cell import Cell
from tuibench.core.engine import FIXED, SAFETENSORS, ModelForm, entry_of, reads
from tuibench.core.errors import ModelError, TuibenchError
from tuibench.core.model import Point
from tuibench.core.record import to_plain
from tuibench.core.settings.model_token import checkpoint_beside
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.supervision import Bounds
from tuibench.runs.task import Call, ChildDeath, StopSwitch


class ModelCopies:
    """Makes each copy at its first use, in a child process, and keeps it for the run."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        run_dir: Path,
        call: Call,
        stop: StopSwitch,
        bounds: Bounds,
        memory_room: Callable[[], int | None],
    ) -> None:
        self._spec, self._run_dir = spec, run_dir
        self._call, self._stop, self._bounds = call, stop, bounds
        self._memory_room = memory_room
        self._made: dict[str, str | TuibenchError] = {}

    def path_of(self, cell: Cell, point: Point) -> str:
        """Return the file to measure: the user's own, or a copy; raise TuibenchError if none can be made."""
        original = file_for(cell.asked.engine, self._spec.models[cell.model].path)
        entry = entry_of(cell.asked.engine)
        if entry is None or entry.model_form is None:
            return original
        form = entry.model_form
        name = f"m{cell.model}-{entry.name}" + (f"-{_digest(point.id)}" if form.dims == FIXED else "")
        if name not in self._made:
            self._made[name] = self._make(name, original, form, point)
        made = self._made[name]
        if isinstance(made, TuibenchError):
            raise made
        return made

    def _make(self, name: str, original: str, form: ModelForm, point: Point) -> str | TuibenchError:
        target = self._run_dir / "work" / f"{name}.onnx"
        request: dict[str, Any] = {
            "path": original,
            "form": to_plain(form),
            "bundle": point.bundle,
            "target": str(target),
            "memory_bytes": self._spec.limits.memory_bytes or self._memory_room(),
            "parent": os.getpid(),
        }
        try:
            self._call(
                "adapt",
                request,
                timeout_s=self._bounds.limit_s("load", None),
                stop=self._stop,
                log_path=str(self._run_dir / "logs" / f"adapt-{name}.log"),
            )
        except ChildDeath as death:
            return ModelError("copy_died", model=self._spec.models[point.model].asked, why=death.reason)
        except TuibenchError as error:
            return error
        return str(target)


def file_for(engine_id: str, path: str) -> str:
    """Return the file that an engine is given: the model, or the weights beside it if only those are for the engine."""
    is_onnx = path.endswith((".onnx", ".ort"))
    if is_onnx and not reads(engine_id, "onnx") and reads(engine_id, SAFETENSORS):
        return checkpoint_beside(path) or path
    return path


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]

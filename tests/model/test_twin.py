"""A file that only its engine reads, beside the same network as ONNX: that gives its dims and its reference."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.build import make_spec
from tests.model.factory import classifier, save
from tests.runs.child_task import call_here
from tuibench.core.model import ModelSummary, Point, Port
from tuibench.core.record import from_plain, to_plain
from tuibench.model.inspection import inspect
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import read_bundle


def script(folder: Path) -> Path:
    """Write an archive that has the names of a TorchScript file."""
    with zipfile.ZipFile(folder / "m.pt", "w") as archive:
        archive.writestr("m/code/net.py", b"")
    return folder / "m.pt"


def describe(path: Path) -> ModelSummary:
    """Inspect the file as if its engine had named one input and no outputs."""
    return inspect(path, lambda file, kind: ((Port("x", "tensor", "float32", None),), ()))


def prepare(path: Path, summary: ModelSummary, folder: Path) -> Point:
    request: dict[str, Any] = {"spec": to_plain(make_spec(path)), "model": 0, "summary": to_plain(summary)}
    request["run_dir"] = str(folder)
    (point,) = call_here("prepare", request, timeout_s=60, stop=StopSwitch())["points"]
    return from_plain(Point, point)


def test_twin_gives_dims_and_the_reference(tmp_path: Path) -> None:
    path = script(tmp_path)
    save(classifier(("batch", 3, 8, 8)), tmp_path / "m.onnx")
    summary = describe(path)
    assert (summary.format, summary.inputs[0].shape) == ("torchscript", ("batch", 3, 8, 8))
    point = prepare(path, summary, tmp_path)
    assert point.reference.file is not None and point.bundle is not None
    (reference,), feed = read_bundle(point.reference.file), read_bundle(point.bundle)[0]
    np.testing.assert_array_equal(reference["output0"], np.maximum(feed["x"], 0))


def test_file_without_a_twin_is_not_checked(tmp_path: Path) -> None:
    path = script(tmp_path)
    point = prepare(path, describe(path), tmp_path)
    assert point.reference.reason is not None and point.bundle is not None
    assert (point.reference.file, point.reference.reason.code) == (None, "no_onnx_twin")

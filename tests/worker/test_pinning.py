"""Thread affinity of a real engine, read from the kernel during a timed run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from onnx import TensorProto

from tests.build import make_cell, make_job
from tests.engines import make
from tuibench.core.cell import Execution
from tuibench.runs.supervision import Bounds, Supervision
from tuibench.runs.task import StopSwitch
from tuibench.worker.bundle import write_bundle

ALLOWED = sorted(os.sched_getaffinity(0))


def masks(pid: int) -> dict[int, str]:
    """Return the CPUs on which each thread of a process may run."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        found[int(task.name)] = next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list"))
    return found


@pytest.mark.skipif(len(ALLOWED) < 2, reason="this process may use one CPU only")
@pytest.mark.parametrize("pin", ["core", "none"])
def test_onnxruntime_threads_run_on_the_cpus_of_their_pinning(tmp_path: Path, pin: str) -> None:
    case = make.mlp()
    path = case.save(tmp_path)
    bundle = tmp_path / "inputs.npz"
    write_bundle(bundle, list(case.feeds))
    cpus = tuple(ALLOWED[:2])
    cell = make_cell(engine="onnxruntime", cores=2, pin=pin)
    job = make_job(tmp_path, bundle, cell, model_path=path, cpus=cpus, timed_s=0.3)
    seen: list[tuple[int, dict[int, str]]] = []

    def look(frame: Mapping[str, Any]) -> None:
        if frame["f"] == "progress" and not seen:
            # Detached runners of other tests may wait here to be reaped.
            alive = [p for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]
            worker = next(p for p in alive if "tuibench.worker.main" in " ".join(p.cmdline()))
            seen.append((worker.pid, masks(worker.pid)))

    execution = Supervision(job, Bounds(1.0, None), StopSwitch(), look, 0).carry_out()
    assert isinstance(execution, Execution), execution
    ((pid, found),) = seen
    both = f"{cpus[0]}-{cpus[1]}" if cpus[1] == cpus[0] + 1 else f"{cpus[0]},{cpus[1]}"
    if pin == "none":
        assert set(found.values()) == {both}
    else:
        assert found[pid] == str(cpus[0]), "the thread that calls is the first of the two"
        assert str(cpus[1]) in found.values(), "the pool's thread has the other"
    assert execution.used.threads == 2
    assert execution.used.pinned == pin


def test_half_precision_model_is_not_reported_as_f32(tmp_path: Path) -> None:
    model = make.build(
        [make.op("Relu", "x", "y")],
        [make.tensor("x", ["n", 4], TensorProto.FLOAT16)],
        [make.tensor("y", ["n", 4], TensorProto.FLOAT16)],
    )
    case = make.Case("half", model, ({"x": np.ones((1, 4), dtype=np.float16)},))
    bundle = tmp_path / "inputs.npz"
    write_bundle(bundle, list(case.feeds))
    job = make_job(tmp_path, bundle, make_cell(engine="onnxruntime"), model_path=case.save(tmp_path))
    execution = Supervision(job, Bounds(1.0, None), StopSwitch(), lambda frame: None, 0).carry_out()
    assert isinstance(execution, Execution), execution
    assert execution.used.precision == "f16"
    assert execution.used.batch == 1

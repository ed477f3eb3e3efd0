"""A sweep of twelve cells over a model of a millisecond, with --quick: precision, time, and how much of it is timed.

python -m tests.benchmarks.sweep
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.benchmarks.calibration import figure
from tests.benchmarks.drive import drive

WIDTH, LAYERS = 1024, 12
BATCHES = (1, 2, 4, 8, 16, 32)


def save_model(path: Path) -> None:
    """A stack of layers that takes about a millisecond on one core."""
    draw = np.random.default_rng(0)
    nodes, weights = [], []
    for layer in range(LAYERS):
        weight = (draw.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"m{layer}"]))
        nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"x{layer + 1}"]))
    first, last = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", WIDTH]) for n in ("x0", f"x{LAYERS}"))
    graph = helper.make_graph(nodes, "stack", [first], [last], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), path)


def timed_s(events: tuple[dict[str, Any], ...]) -> float:
    """Seconds inside timed blocks, anchors included."""
    return float(sum(e["result"]["timed_s"] for e in events if e["ev"] == "execution_done"))


def main() -> None:
    """One sweep, its cells, and the share of its time that was measurement."""
    cores = "1,2" if len(os.sched_getaffinity(0)) > 1 else "1"
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "stack.onnx"
        save_model(model)
        batches = ",".join(map(str, BATCHES))
        run = drive([str(model), "-s", "sync", "-ncores", cores, "-b", batches, "--quick"])
    cells = run.exported["tuibench"]["cells"]
    done = [e for e in run.events if e["ev"] == "execution_done"]
    seen: dict[str, int] = {}
    for event in done:
        seen.setdefault(event["cell"], event["t_ns"])
    first_all_s = (max(seen.values()) - run.begin_ns) / 1e9
    for cell in cells:
        p50 = cell["latency_ms"]["p50"]
        half = 100 * (p50["high"] - p50["low"]) / 2 / p50["value"] if p50["low"] is not None else float("nan")
        asked, grade = cell["asked"], cell["grade"]["letter"]
        print(
            f"  {asked['cores']} cores, batch {asked['batch']:>2}: {p50['value']:8.3f} ms ±{half:5.2f} %, {grade},"
            f" {cell['stopped_by']}"
        )
    print(figure("cells", len(cells), ""))
    print(figure("wall", run.wall_s, "s", 120))
    print(figure("every cell had a first value after", first_all_s / run.wall_s, "of the time", 0.25))
    share = timed_s(run.events) / run.wall_s
    print(figure("everything but timed iterations", 1 - share, "of the time", 0.55))


if __name__ == "__main__":
    main()

"""Durations of loss profiles: from the weights alone, and measured with 5 levels and 2 samples of each layer.

python -m tests.benchmarks.loss [MODEL] [THREADS]     without a model: a network of 60 convolutions made on the spot
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.benchmarks.calibration import figure
from tests.model.factory import F32, model, save, tensor, weight
from tests.model.spec import make_spec
from tuibench.core.record import to_plain

LAYERS, CHANNELS, SIDE = 60, 128, 28
AT_MOST_S = 60


def network() -> onnx.ModelProto:
    """Convolutions with batch normalization, of a few ten milliseconds together."""
    rng = np.random.default_rng(0)
    nodes, held, last = [helper.make_node("Conv", ["x", "stem"], ["c"], pads=[1, 1, 1, 1])], [], "c"
    held.append(weight("stem", rng.standard_normal((CHANNELS, 3, 3, 3), np.float32)))
    for name, values in (("one", 1.0), ("none", 0.0)):
        held.append(weight(name, np.full(CHANNELS, values, np.float32)))
    for number in range(LAYERS - 1):
        size = 3 if number % 2 else 1
        spread = np.float32((2 / (CHANNELS * size * size)) ** 0.5)
        kernel = rng.standard_normal((CHANNELS, CHANNELS, size, size), np.float32) * spread
        held.append(weight(f"k{number}", kernel))
        pads = [size // 2] * 4
        nodes.append(helper.make_node("Conv", [last, f"k{number}"], [f"c{number}"], pads=pads))
        normal = [f"c{number}", "one", "none", "none", "one"]
        nodes.append(helper.make_node("BatchNormalization", normal, [f"n{number}"]))
        nodes.append(helper.make_node("Relu", [f"n{number}"], [f"r{number}"]))
        last = f"r{number}"
    nodes += [helper.make_node("GlobalAveragePool", [last], ["p"]), helper.make_node("Flatten", ["p"], ["y"])]
    return model(nodes, [tensor("x", F32, ["b", 3, SIDE, SIDE])], [tensor("y", F32, None)], held)


def ask(task: str, request: dict[str, Any]) -> tuple[list[dict[str, Any]], float, float]:
    """The lines of a child, its time on the clock and that of its CPUs, in seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "tuibench.child", task]
    done = subprocess.run(command, input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=False)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines or not lines[-1].get("ok"):
        raise SystemExit(f"{task}: {lines[-1:]}")
    return lines, took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """One model, each task once, in processes of their own as a run has them."""
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    with tempfile.TemporaryDirectory() as directory:
        path = sys.argv[1] if len(sys.argv) > 1 else save(network(), Path(directory) / "network.onnx")
        spec = to_plain(make_spec(path, distinct=2))
        lines, _, _ = ask("prepare", {"spec": spec, "model": 0, "run_dir": directory, "reference": False})
        point = lines[-1]["result"]["points"][0]
        lines, took, _ = ask("weights", {"path": path})
        print(figure("layers", len(lines[-1]["result"]), ""))
        print(figure("approximated, the whole task", took, "s"))
        request = {"path": path, "point": point, "run_dir": directory, "threads": threads, "cpus": cpus, "samples": 2}
        lines, took, cpu = ask("loss", request)
        begin = next(line["begin"] for line in lines if "begin" in line)
        print(figure("points", begin["points"], ""))
        print(figure("foretold", begin["points"] * begin["ms_each"] / 1000, "s"))
        print(figure("measured, the whole task", took, "s", AT_MOST_S))
        # What the clock would have shown at least, had nothing else run on these CPUs.
        print(figure("measured, CPU time / threads", cpu / threads, "s"))


if __name__ == "__main__":
    main()

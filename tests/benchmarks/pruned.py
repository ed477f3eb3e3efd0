"""A model of products with 90 % zeros against its dense twin, on each engine in one run on one core.

TUIBENCH_TEST_ENGINES=DIRECTORY python -m tests.benchmarks.pruned
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.calibration import figure
from tests.benchmarks.drive import drive
from tests.engines.make import Case, build, op, tensor
from tuibench.engines.installation import find_installation

LAYERS, WIDTH, HIDDEN, ROWS = 4, 1024, 4096, 64
ENGINES = ("deepsparse", "onnxruntime", "openvino")


def products(zeros: float) -> Case:
    """Return products of 1024 × 4096 and back, with a share of zeros at random places."""
    drawn = np.random.default_rng(0)
    weights, nodes, last = {}, [], "x"
    for at in range(LAYERS):
        shape = (WIDTH, HIDDEN) if at % 2 == 0 else (HIDDEN, WIDTH)
        weight = (drawn.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
        weight[drawn.random(shape) < zeros] = 0
        weights[f"w{at}"] = weight
        nodes.append(op("MatMul", f"{last} w{at}", "y" if at == LAYERS - 1 else f"m{at}"))
        last = f"m{at}"
    ports = [tensor("x", [ROWS, WIDTH])], [tensor("y", [ROWS, WIDTH])]
    return Case(f"zeros{zeros:g}", build(nodes, *ports, **weights), ())


def main() -> None:
    """Measure both models with all engines, so that each ratio is of one run."""
    root = os.environ.get("TUIBENCH_TEST_ENGINES", "")
    if not root or find_installation(Path(root), "deepsparse") is None:
        print("skipped: DeepSparse is not installed in TUIBENCH_TEST_ENGINES")
        return
    with tempfile.TemporaryDirectory() as home:
        os.environ["TUIBENCH_HOME"] = home
        data = Path(home) / "data"
        data.mkdir()
        (data / "engines").symlink_to(Path(root).resolve())
        models = [products(zeros).save(Path(home)) for zeros in (0.0, 0.9)]
        run = drive([*models, "-e", ",".join(ENGINES), "-s", "sync", "-ncores", "1", "--no-save"])
        cells = run.exported["tuibench"]["cells"]
    first = cells[0]["asked"]["model_sha256"]
    times = {
        (c["asked"]["engine"].partition("@")[0], c["asked"]["model_sha256"] == first): c["latency_ms"]["p50"]["value"]
        for c in cells
    }
    for name in ENGINES:
        dense, pruned = times[name, True], times[name, False]
        print(f"  {name}: dense {dense:.3g} ms, 90 % zeros {pruned:.3g} ms")
        print(figure(f"{name}, 90 % zeros / dense", pruned / dense, "times", 1 / 3 if name == "deepsparse" else None))


if __name__ == "__main__":
    main()

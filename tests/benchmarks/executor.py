"""The Executor's INT8 form of a small BERT against ONNX Runtime's f32, both in one run on one core.

TUIBENCH_TEST_ENGINES=DIRECTORY python -m tests.benchmarks.executor
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.benchmarks.drive import drive
from tests.model import bert
from tests.model.factory import save
from tuibench.engines.installation import find_installation


def main() -> None:
    """Measure both models with both engines, so that each ratio is of one run."""
    root = os.environ.get("TUIBENCH_TEST_ENGINES", "")
    if not root or find_installation(Path(root), "executor") is None:
        print("skipped: the executor is not installed in TUIBENCH_TEST_ENGINES")
        return
    with tempfile.TemporaryDirectory() as home:
        os.environ["TUIBENCH_HOME"] = home
        data = Path(home) / "data"
        data.mkdir()
        (data / "engines").symlink_to(Path(root).resolve())
        full = save(bert.bert(), Path(home) / "f32.onnx")
        int8 = str(bert.quantized(Path(full), Path(home) / "int8.onnx"))
        asks = ("-e", "onnxruntime,executor", "-s", "sync", "-ncores", "1", "-seq_len", "128", "--no-save")
        run = drive([full, int8, *asks])
        cells = run.exported["tuibench"]["cells"]
    times: dict[tuple[str, bool], dict[str, Any]] = {}
    first = cells[0]["asked"]["model_sha256"]
    for cell in cells:
        asked = cell["asked"]
        times[asked["engine"], asked["model_sha256"] == first] = cell
        print(f"  {asked['engine']}: {cell['latency_ms']['p50']['value']:.3g} ms, outputs {cell['check']['state']}")
    base = times["onnxruntime", True]["latency_ms"]["p50"]["value"]
    for name, is_full, most in (("f32", True, None), ("INT8 QDQ", False, 0.6)):
        ratio = times["executor", is_full]["latency_ms"]["p50"]["value"] / base
        print(figure(f"executor {name} / onnxruntime f32", ratio, "times", most))


if __name__ == "__main__":
    main()

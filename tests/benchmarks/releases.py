"""Two releases of ONNX Runtime on the sample, ten times: the 95 % half-width of their ratio, and the seconds.

TUIBENCH_TEST_ENGINES=DIRECTORY python -m tests.benchmarks.releases [RELEASE]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.calibration import figure
from tests.benchmarks.drive import drive
from tuibench.engines.installation import find_installation

TRIALS, FAILING = 10, 1
HALF_PERCENT, SECONDS = 2.0, 60.0


def main() -> None:
    """Measure both releases in each trial, interleaved, with the usual settings."""
    root, release = os.environ.get("TUIBENCH_TEST_ENGINES", ""), (sys.argv[1:] or ["1.20.1"])[0]
    other = f"onnxruntime@{release}"
    if not root or find_installation(Path(root), other) is None:
        print(f"skipped: {other} is not installed in TUIBENCH_TEST_ENGINES")
        return
    missed = 0
    with tempfile.TemporaryDirectory() as home:
        os.environ["TUIBENCH_HOME"] = home
        (Path(home) / "data").mkdir()
        (Path(home) / "data" / "engines").symlink_to(Path(root).resolve())
        for number in range(1, TRIALS + 1):
            run = drive(["sample", "-e", f"onnxruntime,{other}", "-s", "sync", "--no-save"])
            (found,) = run.exported["tuibench"]["comparisons"]
            half = (found["high"] - found["low"]) / 2 * 100 if found["high"] is not None else float("inf")
            print(f"  trial {number}: ratio {found['ratio']:.3f} ±{half:.1f} % in {run.wall_s:.0f} s")
            missed += half > HALF_PERCENT or run.wall_s > SECONDS
    print(figure(f"trials over ±{HALF_PERCENT:g} % or {SECONDS:g} s", missed, f"of {TRIALS}", FAILING))


if __name__ == "__main__":
    main()

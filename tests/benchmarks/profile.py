"""How far layers add up to an inference, and how far two profiles of a model agree, with their grade.

python -m tests.benchmarks.profile CORES MODEL...
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.models.spec import make_spec
from tuibench.core.model import Point
from tuibench.core.profile import CostProfile, LayerRun, PerformanceProfile
from tuibench.core.record import from_plain, to_plain
from tuibench.insight.assembly import assemble_performance

PROCESSES, RUNS = 3, 10
_WORTH = 0.01


def ask(task: str, request: dict[str, Any]) -> Any:
    """The answer of a child."""
    command = [sys.executable, "-m", "tuibench.child", task]
    done = subprocess.run(command, input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=False)
    last = json.loads(done.stdout.splitlines()[-1])
    if not last["ok"]:
        raise SystemExit(last["error"]["message"])
    return last["result"]


def profile(path: str, cores: int, run_dir: str) -> tuple[PerformanceProfile, float]:
    """One profile and how long its processes took."""
    spec = make_spec(path, engines=("onnxruntime",))
    asked = {"spec": to_plain(spec), "model": 0, "run_dir": run_dir, "reference": False}
    point = ask("prepare", asked)["points"][0]
    cpus = sorted(os.sched_getaffinity(0))[:cores]
    request = {
        "path": path,
        "point": point,
        "cpus": cpus,
        "threads": cores,
        "runs": RUNS,
        "max_s": 60,
        "run_dir": run_dir,
    }
    begin = time.monotonic()
    runs = [from_plain(LayerRun, ask("layers", request)) for _ in range(PROCESSES)]
    taken_s = time.monotonic() - begin
    costs = CostProfile((), None, 1, {}, 0, 0, 0, 0, 0, 0, None, 0, "not counted")
    return assemble_performance(spec=spec, point=from_plain(Point, point), costs=costs, runs=runs), taken_s


def worst_disagreement(first: PerformanceProfile, second: PerformanceProfile) -> float:
    """The largest difference of a layer that takes more than a hundredth of the time."""
    other = {layer.key: layer.ms.value for layer in second.layers}
    pairs = [(layer.ms.value, other.get(layer.key)) for layer in first.layers]
    whole = first.ms.value or math.inf
    return max((abs(math.log(b / a)) for a, b in pairs if a and b and a > _WORTH * whole), default=math.nan)


def main(arguments: list[str]) -> None:
    """Two profiles of each model."""
    cores = int(arguments[0])
    for path in arguments[1:]:
        with tempfile.TemporaryDirectory() as run_dir:
            (first, taken_s), (second, _) = profile(path, cores, run_dir), profile(path, cores, run_dir)
        letters = "".join(found.grade.letter if found.grade else "?" for found in (first, second))
        print(f"{Path(path).name}, {cores} cores, {first.ms.value or 0:.3f} ms, grades {letters}")
        for found in (first, second):
            print(figure("  sum of layers / unprofiled", (found.sum_ms or 0) / (found.ms.value or math.nan), ""))
            print(figure("  attributed", found.attributed or 0, ""))
        print(figure("  worst layer of two profiles", 100 * worst_disagreement(first, second), "%", 10))
        print(figure("  three processes", taken_s, "s", 15))


if __name__ == "__main__":
    main(sys.argv[1:])

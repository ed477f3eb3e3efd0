"""Measures the sum of layers against an inference, the agreement of two profiles, and the command's duration.

python -m tests.benchmarks.profile [CORES MODEL...]     without arguments: one core, a network of 60 convolutions
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.benchmarks.loss import network
from tests.model.factory import save
from tuibench.core.profile import PerformanceProfile
from tuibench.core.record import from_plain

COMMAND_S, SUM_PERCENT, AGREE_PERCENT, UNNAMED_PERCENT = 15, 2, 10, 1
_WORTH = 0.01


def run(path: str, cores: int, home: str) -> tuple[PerformanceProfile, float, float]:
    """Run the command with its own home; return the profile, the wall time and the CPU time in seconds."""
    command = [sys.executable, "-m", "tuibench", "profile", path, "-ncores", str(cores), "-q", "--json"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env={**os.environ, "TUIBENCH_HOME": home}, stdout=subprocess.PIPE, check=True)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    plain: dict[str, Any] = json.loads(done.stdout)["tuibench"]["profile"]["performance"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return from_plain(PerformanceProfile, plain), took, cpu


def worst_disagreement(first: PerformanceProfile, second: PerformanceProfile) -> float:
    """The largest difference of a layer that takes more than a hundredth of the time, in percent."""
    other = {layer.key: layer.ms.value for layer in second.layers}
    pairs = [(layer.ms.value, other.get(layer.key)) for layer in first.layers]
    whole = first.ms.value or math.inf
    worst = max((abs(math.log(b / a)) for a, b in pairs if a and b and a > _WORTH * whole), default=math.nan)
    return 100 * worst


def measure(path: str, cores: int) -> None:
    """Two profiles: of a machine that has never seen the tool, and of one that has its roofs already."""
    with tempfile.TemporaryDirectory() as home:
        (first, cold_s, cold_cpu_s), (second, warm_s, warm_cpu_s) = run(path, cores, home), run(path, cores, home)
    letters = "".join(found.grade.letter if found.grade else "?" for found in (first, second))
    print(f"{Path(path).name}, {cores} cores, {first.ms.value or 0:.3f} ms, grades {letters}")
    for found in (first, second):
        share = (found.sum_ms or math.nan) / (found.ms.value or math.nan)
        print(figure("  sum of layers / unprofiled", share, ""))
        print(figure("  which is away from one by", 100 * abs(share - 1), "%", SUM_PERCENT))
        print(figure("  time without a name", 100 * (1 - (found.attributed or 0)), "%", UNNAMED_PERCENT))
    print(figure("  worst layer of two profiles", worst_disagreement(first, second), "%", AGREE_PERCENT))
    print(figure("  the command, first time on a machine", cold_s, "s", COMMAND_S))
    print(figure("  CPU time of it", cold_cpu_s, "s"))
    print(figure("  the command, roofs known", warm_s, "s", COMMAND_S))
    print(figure("  CPU time of it", warm_cpu_s, "s"))


def main(arguments: list[str]) -> None:
    """Each model, or one that is made on the spot."""
    if arguments:
        for path in arguments[1:]:
            measure(path, int(arguments[0]))
        return
    with tempfile.TemporaryDirectory() as directory:
        measure(save(network(), Path(directory) / "network.onnx"), 1)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Share of the gap between layers and inference that comes from changes of the processor's speed.

python -m tests.benchmarks.profile_drift [CORES MODEL [PROCESSES]]

Each process profiles, ends that, and times the same session, as a profile does; here a fixed loop of Python stands
between the blocks of both stretches. The sum of the layers over the unprofiled time is printed as it was found, and
as it would be had the loop taken as long in both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.benchmarks.loss import network
from tests.model.factory import save
from tests.model.spec import make_spec
from tests.test_child import call
from tuibench.core.model import Point
from tuibench.core.record import from_plain, to_plain

PROCESSES, RUNS, MOST_S = 5, 10, 10.0
WITHIN = 0.02
_LOOP = range(40_000)


def probe(request: dict[str, Any]) -> dict[str, float]:
    """One process: the ratio as it is, and the time of the loop in each stretch."""
    from tuibench.engines.protocol import LayerOrder
    from tuibench.model.profile import session
    from tuibench.model.profile.layers import make_timer
    from tuibench.worker.sync import Stamps

    loops: dict[str, list[int]] = defaultdict(list)
    stage = ""
    block = Stamps.block

    def block_and_loop(self: Any, calls: Any, count: int) -> Any:
        found = block(self, calls, min(count, 1))
        begin, summed = time.perf_counter_ns(), 0
        for number in _LOOP:
            summed += number
        loops[stage].append(time.perf_counter_ns() - begin)
        return found

    def hear(name: str, _done: int, _of: int) -> None:
        nonlocal stage
        stage = name

    run = session._Timed._run

    def run_stage(self: Any, expected: int, run_ns: int, name: str, enough: Any) -> Any:
        hear(name, 0, 0)
        return run(self, expected, run_ns, name, enough)

    Stamps.block = block_and_loop  # type: ignore[method-assign]
    session._Timed._run = run_stage  # type: ignore[method-assign, assignment]
    os.sched_setaffinity(0, request["cpus"])
    request |= {"point": from_plain(Point, request["point"]), "cpus": tuple(request["cpus"])}
    found = make_timer().time_layers(LayerOrder(**request), hear)
    ratio = sum(row.us for row in found.rows) / found.unprofiled_us
    then, now = statistics.median(loops["profiling"]), statistics.median(loops["timing"])
    return {"ratio": ratio, "drift": now / then - 1, "even": ratio * now / then}


def main(arguments: list[str]) -> None:
    """One model, or one that is made on the spot."""
    if arguments:
        measure(int(arguments[0]), arguments[1], int(arguments[2]) if len(arguments) > 2 else PROCESSES)
        return
    with tempfile.TemporaryDirectory() as directory:
        measure(1, save(network(), Path(directory) / "network.onnx"), PROCESSES)


def measure(cores: int, path: str, processes: int) -> None:
    """So many processes, one after the other."""
    with tempfile.TemporaryDirectory() as directory:
        asked = {"spec": to_plain(make_spec(path)), "model": 0, "run_dir": directory, "skip_trial": ()}
        (point,) = call("prepare", asked).result["points"]
        cpus = sorted(os.sched_getaffinity(0))[:cores]
        request = {"path": os.path.abspath(path), "point": point, "cpus": cpus, "threads": cores}
        request |= {"runs": RUNS, "max_s": MOST_S, "work_dir": directory}
        told = []
        for _ in range(processes):
            command = [sys.executable, "-m", "tests.benchmarks.profile_drift", "--probe"]
            done = subprocess.run(command, input=json.dumps(request), stdout=subprocess.PIPE, text=True, check=True)
            told.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{Path(path).name}, {cores} cores, {processes} processes")
    for one in told:
        print("  as found {ratio:.3f}, the processor {drift:+.1%}, at even speed {even:.3f}".format(**one))
    for name in ("ratio", "even"):
        values = [one[name] for one in told]
        within = sum(abs(value - 1) <= WITHIN for value in values)
        print(figure(f"  {name}: median", statistics.median(values), f"({within} of {processes} within 2 %)"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--probe"]:
        print(json.dumps(probe(json.load(sys.stdin))))
    else:
        main(sys.argv[1:])

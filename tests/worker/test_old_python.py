"""The worker in Python 3.10 with numpy 1.26, for engines that need an old interpreter."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.build import make_cell, make_job
from tuibench.core.cell import Execution
from tuibench.core.record import from_plain, to_plain
from tuibench.worker.bundle import write_bundle
from tuibench.worker.job import Assembler, encode
from tuibench.worker.start import start_command, start_environment


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "streams", "latency_us"), [("sync", 1, 400), ("async", 2, 400), ("async", 2, 2000)]
)
def test_fake_engine_worker_measures_in_the_old_interpreter(
    python310: Path, tmp_path: Path, scenario: str, streams: int, latency_us: int
) -> None:
    bundle = tmp_path / "inputs.npz"
    write_bundle(bundle, [{"x": np.zeros(2, dtype=np.float32)}])
    job = make_job(tmp_path, bundle, make_cell(scenario=scenario, streams=streams), streams=streams)
    done = subprocess.run(
        start_command("tuibench.worker.main", str(python310)),
        input=encode({"job": to_plain(job), "parent": os.getpid()}),
        capture_output=True,
        env={
            **start_environment(str(python310)),
            "TUIBENCH_FAKE": json.dumps({"default": {"latency_us": latency_us}}),
        },
        timeout=60,
        check=False,
    )
    frames = Assembler().feed(done.stdout)
    assert frames, done.stderr.decode()
    last = frames[-1]
    assert last["f"] == "result", last
    execution = from_plain(Execution, last["execution"])
    assert execution.iterations >= 3
    assert execution.p50_ns >= latency_us * 1000
    assert execution.used.stream_kind == {1: None, 2: "processes" if latency_us < 1000 else "threads"}[streams]

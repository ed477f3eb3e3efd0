"""A filled store: one project of a model, and benchmarks of every kind that a list can show."""

from __future__ import annotations

import atexit
import math
import os
import shutil
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from unittest.mock import patch

from tests.present import build
from tests.present.build import (
    SHA,
    asked,
    differing_cell,
    estimate,
    execution,
    failed_cell,
    model,
    ok_cell,
    run,
    spec,
)
from tests.store.build import NOW
from tuibench.core.activity import Holder, RunInfo, RunRow
from tuibench.core.cell import CellResult
from tuibench.core.ids import make_ulid
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.services.api import Services
from tuibench.store.context import SALT

_RICH: list[tuple[str, tuple[str, ...], Path]] = []
"""The project of `rich_project` with its records on disk, once this process has made it."""
CORES = (1, 2, 4, 8, 16)
BATCHES = (1, 8, 32)


def make_id(number: int, ago_s: float = 0.0) -> str:
    """Return a ULID of that age that ends with the number."""
    return make_ulid(int((NOW - ago_s) * 1000), (number * 0x9E3779B97F4A7C15 % (1 << 80)).to_bytes(10, "big"))


def add_project(services: Services, name: str = "resnet50", sha256: str = SHA, file: Path | None = None) -> str:
    """Create a project of an unchanged model by reference; a given file is used as it is."""
    path = file or Path(services.settings.places.data).parent / "models" / f"{name}.onnx"
    if file is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no model, and nobody reads it")
    pass_millisecond()
    facts = path.stat()
    stamp = FileStamp(str(path), facts.st_size, facts.st_mtime_ns, sha256)
    return services.store.projects.create(name, ModelReference(f"dir/{name}.onnx", stamp, sha256)).id


def pass_millisecond() -> None:
    """Wait for the next millisecond: ids of one millisecond have random order."""
    begin = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == begin:
        continue


def add(services: Services, result: RunResult, project: str = "", **metadata: str) -> str:
    """Store a benchmark of a project; return its id."""
    services.store.benchmarks.add(result, Metadata(project=project or None, **metadata))
    return result.id


def make(number: int, ago_s: float, *cells: CellResult, **changes: object) -> RunResult:
    """Return a result of those cells, with the sentences that a run of them would have."""
    engines = tuple(dict.fromkeys(cell.asked.engine for cell in cells))
    scenarios = tuple(dict.fromkeys(cell.asked.scenario for cell in cells))
    result = run(
        *cells,
        id=make_id(number, ago_s),
        spec=spec(models=(ModelSource("dir/resnet50.onnx", "/models/resnet50.onnx"),), engines=engines,
                  scenarios=scenarios, cores=tuple(dict.fromkeys(cell.asked.cores for cell in cells)) or (2,)),
        models=(model(path="/models/resnet50.onnx"),),
        started_utc=datetime.fromtimestamp(NOW - ago_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        anchor={"drift": 0.004},
        warnings=(),
    )  # fmt: skip
    return replace(result, **changes)  # type: ignore[arg-type]


@cache
def sweep_cell(
    cores: int, batch: int, engine: str = "onnxruntime", scenario: str = "sync", faster: float = 1.0
) -> CellResult:
    """Return a cell of a model with typical scaling: Amdahl over cores, and a small gain from batches."""
    time = (
        16.2
        * batch
        * (0.93 + 0.07 / batch)
        * (0.056 + 0.944 / cores)
        * (0.92 if engine == "openvino" else 1.0)
        / faster
    )
    rate = 1000 * batch / time * (1.3 if scenario == "async" else 1.0)
    half = 0.007 + 0.002 * math.log2(cores)
    cell = ok_cell(time, rate, {"cores": cores, "batch": batch, "engine": engine, "scenario": scenario})
    latency = {name: estimate(e.value or 0.0, half) for name, e in cell.latency_ms.items()}
    ran = tuple(
        execution(
            p50_ns=time * 1e6 * (1 + half * step),
            calls_per_s=rate / batch,
            series=_series(time, half * step),
            histogram=_histogram(time * (1 + half * step)),
        )
        for step in (-0.5, 0.1, 0.4)
    )
    return replace(cell, latency_ms=latency, items_per_sec=estimate(rate, half + 0.004), executions=ran)


def _histogram(time: float) -> dict[str, object]:
    """Return a histogram with most calls near the median and a tail of slow ones."""
    counts = [2, 9, 31, 70, 96, 84, 61, 40, 26, 17, 11, 8, 5, 4, 3, 2, 1, 1, 0, 1]
    return {"low_ns": time * 1e6 * 0.98, "ratio": 1.005, "counts": counts, "under": 0, "over": 2}


def _series(time: float, shift: float) -> tuple[tuple[float, float, float], ...]:
    middle = time * 1e6 * (1 + shift)
    return tuple((middle * 0.99, middle * (1 + 0.002 * math.sin(i)), middle * 1.05) for i in range(20))


def sweep(
    number: int = 1, ago_s: float = 3600.0, engines: tuple[str, ...] = ("onnxruntime",), faster: float = 1.0
) -> RunResult:
    """Return a sweep with fifteen cells per engine."""
    cells = [sweep_cell(c, b, engine, faster=faster) for engine in engines for c in CORES for b in BATCHES]
    return make(number, ago_s, *cells)


def rich_project(services: Services) -> tuple[str, tuple[str, ...]]:
    """Create the project of the sketches in an empty store; return its id and its benchmarks' ids, newest first.

    The first call of a process writes the records, later calls copy them.
    """
    data = services.settings.places.data
    if not _RICH:
        project = add_project(services)
        ids = _add_rich_records(services, project)
        kept = Path(tempfile.mkdtemp(prefix="tuibench-test-"))
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
        shutil.copytree(data / "hosts", kept / "hosts")
        shutil.copy(data / SALT, kept)
        _RICH.append((project, ids, kept))
        return project, ids
    project, ids, kept = _RICH[0]
    assert not (data / SALT).exists(), "the records would be those of another host"
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(kept, data, dirs_exist_ok=True)
    projects = services.store.projects
    # The records name their project.
    with patch.object(projects, "_draw", side_effect=[project, projects._draw()]):
        add_project(services)
    return project, ids


def _add_rich_records(services: Services, project: str) -> tuple[str, ...]:
    hour, day = 3600.0, 86400.0
    old = sweep(2, 5 * hour)
    failed = failed_cell({"cores": 16, "batch": 512})
    part = [sweep_cell(c, 1, "openvino") for c in (1, 2, 4)]
    lost = [CellResult(asked(cores=c, engine="openvino").key, asked(cores=c, engine="openvino"), "skipped",
                       stopped_by=legacy_text("not reached")) for c in (8, 16)]  # fmt: skip
    return (
        add(services, sweep(1, hour, faster=1.06), project, name="after AMX fix", note="new kernel", rerun_of=old.id),
        add(services, rich_pair(), project),
        add(services, old, project, name="before"),
        add(services, make(4, day, differing_cell(cores=1, batch=1)), project),
        add(services, make(5, day + hour, failed), project),
        add(services, make(6, 2 * day, *part, *lost, status="interrupted"), project),
        add(services, make(7, 6 * day, sweep_cell(16, 8, scenario="async")), project),
    )


def date_back(services: Services) -> None:
    """Set all files of the store one hour back: recent files are read again at each poll."""
    for folder, _, names in os.walk(services.settings.places.data):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.utime(path, (time.time() - 3600,) * 2)


def make_going(project: str) -> tuple[RunRow, ...]:
    """Return a measuring run and a queued run that waits for it."""
    holder = Holder(1, "me", make_id(9, 120), 190.0)
    running, waiting = (_run_info(9, 120, "running", 9), _run_info(10, 60, "waiting", 0))
    waiting = replace(waiting, eta_s=None, place=1, holder=holder)
    sizes = ("sync", "1,2,4,8,16", "1,8,32")
    return RunRow(running, project, "openvino", *sizes), RunRow(waiting, project, "onnxruntime", *sizes)


def _run_info(number: int, ago_s: float, state: str, done: int) -> RunInfo:
    started = datetime.fromtimestamp(NOW - ago_s, UTC).isoformat()
    return RunInfo(
        make_id(number, ago_s), state, None, started, ("resnet50.onnx",), "", "", 1, 15, done, 5 * done, 190.0
    )


def make_broken(project: str) -> RunRow:
    """Return an interrupted run that could not be saved."""
    info = replace(
        _run_info(11, 600, "unsaved", 15), eta_s=None, pid=None, resumable=True, detail=legacy_text("the disk is full")
    )
    return RunRow(info, project, "onnxruntime", "sync", "1,2", "1")


def rich_pair() -> RunResult:
    """Return a result of two interleaved engines with their verdict."""
    pair = [sweep_cell(8, 1, engine) for engine in ("onnxruntime", "openvino")]
    versus = build.comparison(
        pair[0].key, pair[1].key, "p50 latency", 0.85, 0.84, 0.86, 8, True, "faster", None,
        "openvino is faster than onnxruntime: 15 % less time (−16.0 to −14.0 %); ratio 0.850 [0.840, 0.860]",
    )  # fmt: skip
    return make(3, 3 * 3600.0, *pair, comparisons=(versus,))


def failed_sweep(number: int, ago_s: float) -> RunResult:
    """Return a sweep whose largest cell died."""
    cells = [sweep_cell(c, b) for c in CORES for b in BATCHES]
    return make(number, ago_s, *cells[:-1], failed_cell({"cores": CORES[-1], "batch": BATCHES[-1]}))

"""Results as runs leave them: small ones for fault tests and full-size ones for cost tests."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from tests.present.build import asked, execution, ok_cell, run, skipped_cell
from tuibench.core.cell import CellResult, Execution, Samples
from tuibench.core.result import RunResult

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
START = datetime(2026, 1, 1, tzinfo=UTC)
BINS, POINTS = 100, 75
"""Sizes in a default run of a model of a few milliseconds."""


def make_id(number: int) -> str:
    """Return a ULID: equal numbers give equal ids, and greater numbers newer ones."""
    time_ms = int((START + timedelta(minutes=number)).timestamp() * 1000)
    digits = [ALPHABET[time_ms >> shift & 31] for shift in range(45, -1, -5)]
    tail = [ALPHABET[(number * 2_654_435_761 + 97 * i) >> (3 * i) & 31] for i in range(12)]
    last = [ALPHABET[number >> shift & 31] for shift in (15, 10, 5, 0)]
    return "".join([*digits, *tail, *last])


@lru_cache(maxsize=4096)
def make_small(number: int, *, sampled: bool = False) -> RunResult:
    """Return a result with one cell and one execution: a few kilobytes."""
    file = f"{asked().key}-0.z" if sampled else None
    one = execution(samples=Samples(500, 500, file))
    return _stamped(run(ok_cell(executions=(one,))), number)


@lru_cache(maxsize=4096)
def make_least(number: int) -> RunResult:
    """Return a result with one skipped cell, where thousands of records are read and only their identity matters."""
    return _stamped(run(skipped_cell(), points=(), warnings=()), number)


def sample_bytes(number: int) -> bytes:
    """Return the content of the sample file of such a result."""
    return zlib.compress(random.Random(number).randbytes(2000))


def make_samples(directory: Path, number: int) -> Path:
    """Write the sample files of such a result."""
    directory.mkdir(parents=True)
    (directory / f"{asked().key}-0.z").write_bytes(sample_bytes(number))
    return directory


def make_real(number: int, cells: int, executions: int = 5) -> RunResult:
    """Return a sweep over batches with histograms and series as a worker makes them."""
    draw = random.Random(number)
    model = f"model-{number % 200}"
    made = [_cell(draw, batch, executions) for batch in range(1, cells + 1)]
    result = run(*made)
    path = f"/srv/models/{model}.onnx"
    models = (replace(result.models[0], path=path, sha256=f"{number % 200:064x}"),)
    environment = {"facts": {f"fact {i}": draw.random() for i in range(60)}, "cpu": {"brand": "A CPU", "cores": 2}}
    return _stamped(replace(result, models=models, environment=environment), number)


def _stamped(result: RunResult, number: int) -> RunResult:
    started = (START + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return replace(result, id=make_id(number), started_utc=started)


def _cell(draw: random.Random, batch: int, executions: int) -> CellResult:
    made = tuple(_execution(draw) for _ in range(executions))
    return ok_cell(p50=1.9 * batch, asks={"batch": batch}, executions=made)


def _execution(draw: random.Random) -> Execution:
    p50 = float(round(1.9e6 * (1 + draw.random() / 50)))
    counts = [max(0, round(draw.gauss(50 - abs(i - 30), 5))) for i in range(BINS)]
    series = tuple(
        (p50 - draw.randrange(40_000), p50 + draw.randrange(9_000), p50 + draw.randrange(900_000))
        for _ in range(POINTS)
    )
    percentiles = {f"{q}": p50 * (1 + i / 100) for i, q in enumerate((25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9))}
    return execution(
        p50_ns=p50, mean_ns=p50 * 1.01, std_ns=p50 / 31, floor_ns=p50 - 4e4, percentiles_ns=percentiles,
        histogram={"low_ns": p50 - 5e4, "ratio": 1.0049, "counts": counts, "under": 0, "over": 3}, series=series,
        samples=Samples(500, 500, "0123456789ab-1.z"),
    )  # fmt: skip

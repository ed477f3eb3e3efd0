"""Costs of a store of ten thousand records of an older version: a list, and deriving the facts of all rows.

python -m tests.benchmarks.facts [BENCHMARKS]

Times are CPU times of this process.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.benchmarks.calibration import figure
from tests.store.volume import MACHINE, fill
from tuibench.core.result import RunResult
from tuibench.core.schema import BENCHMARK
from tuibench.store import benchmark_file as record_file
from tuibench.store.benchmark_file import summarize
from tuibench.store.store import Store

MANY = 10_000
SENTENCE = "1.00 ms ±1.0 % (sync, 1 core, batch 1) · grade A"


def summarize_older(result: RunResult) -> dict[str, Any]:
    """Return a summary as older versions wrote it: a sentence and no facts."""
    return {name: value for name, value in summarize(result).items() if name != "facts"} | {"headline": SENTENCE}


def main() -> None:
    """Fill a store, list it, derive all facts, list it again."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    scratch = Path(tempfile.mkdtemp(prefix="tuibench-bench-"))
    try:
        with patch.object(record_file, "summarize", summarize_older), patch.object(record_file, "REASONS", BENCHMARK):
            fill(scratch / "data", many)
        store = Store(scratch / "data", MACHINE)
        for name in ("list that derives the facts of 30 rows", "next list"):
            begin = time.process_time()
            store.benchmarks.rows(derive=True)
            print(figure(name, 1000 * (time.process_time() - begin), "ms"))
        begin = time.process_time()
        derived = store.migrate().derived
        print(figure(f"facts of {derived} rows", time.process_time() - begin, "s of CPU", 60))
        begin = time.process_time()
        rows = Store(scratch / "data", MACHINE).benchmarks.rows(derive=True)
        print(figure("list in a new session", 1000 * (time.process_time() - begin), "ms"))
        print(figure("rows without facts", sum(not row.facts for row in rows), "rows", 0))
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()

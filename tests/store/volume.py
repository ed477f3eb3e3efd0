"""A store with thousands of benchmarks, made by the real record writer and one write of the index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.store.data import make_id, make_real
from tests.store.disks.failing import SyncingNothing
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata
from tuibench.store.benchmark_file import RecordFiles
from tuibench.store.store import Store

MACHINE = "machine with a long history"
TEMPLATES = 20


def fill(
    root: Path,
    count: int,
    cells: tuple[int, int] = (1, 12),
    executions: int = 5,
    *,
    project: str | None = None,
    machine: str = MACHINE,
) -> None:
    """Add two sizes of results, half each; those of one template differ only in ids, times and models."""
    store = Store(root, machine, disk=SyncingNothing())
    # Use the record writer alone, without writing the index for each record.
    context = store._context
    layout, records = context.own(), RecordFiles(context.sealing)
    templates = [make_real(n, cells[n % 2], executions) for n in range(TEMPLATES)]
    for number in range(1, count + 1):
        result = vary(templates[number % TEMPLATES], number)
        metadata = Metadata(name=f"run {number}", note="of a long history" if number % 7 == 0 else "", project=project)
        if number < count:
            records.write_new(layout.record(result.id), result, metadata)
        else:
            # Finds records and no index, and lists them all.
            store.benchmarks.add(result, metadata)


def vary(template: RunResult, number: int) -> RunResult:
    """Return the same numbers as another benchmark."""
    asked = f"dir/model-{number % 200}.onnx"
    (source,) = template.spec.models
    spec = replace(template.spec, models=(replace(source, asked=asked),))
    return replace(template, id=make_id(number), spec=spec, host="0123456789abcdef")

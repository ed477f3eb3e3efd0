"""Costs of a store of ten thousand benchmarks: add, list, search, open, memory, and rebuilding the index.

python -m tests.benchmarks.store [BENCHMARKS]

Half of them have one cell, half twelve, each cell five executions, as the real writer stores them.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.store.data import make_real
from tests.store.volume import MACHINE, fill
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MANY, FEW = 10_000, 100
ADDS, ROUNDS = 40, 30
SEARCH = "model-17 sync"

OPEN = """
import json, sys, time
from pathlib import Path
begin = time.perf_counter()
from tuibench.store.store import Store
imported = time.perf_counter()
def most_mb():
    # The kernel's count of this very process; getrusage's begins with what its parent had when it forked.
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) / 1024
base = most_mb()
store = Store(Path(sys.argv[1]), sys.argv[2])
rows = store.benchmarks.rows()
opened = time.perf_counter()
found = store.benchmarks.search(sys.argv[3])
print(json.dumps({"import_ms": 1000 * (imported - begin), "open_ms": 1000 * (opened - imported), "rows": len(rows),
    "found": len(found), "rss_mb": most_mb(), "base_mb": base}))
"""


def times_ms(action: Callable[[int], Any], rounds: int) -> list[float]:
    """Return the duration of each of several calls."""
    taken = []
    for number in range(rounds):
        begin = time.perf_counter()
        action(number)
        taken.append(1000 * (time.perf_counter() - begin))
    return taken


def say(name: str, taken: list[float], at_most: float | None = None) -> float:
    """Print median and 95th percentile; the median is what is held."""
    middle = statistics.median(taken)
    print(figure(name, middle, f"ms (p95 {statistics.quantiles(taken, n=20)[-1]:.1f})", at_most))
    return middle


def add_some(root: Path, first: int, name: str, at_most: float | None = None) -> float:
    """Add real results, half of each size, in a session that is open already."""
    store = Store(root, MACHINE)
    results = [make_real(first + n, 12 if n % 2 else 1) for n in range(ADDS)]
    store.benchmarks.rows()
    taken = times_ms(lambda n: store.benchmarks.add(results[n], Metadata(name=f"run {first + n}")), ADDS)
    say(f"{name}, one cell", taken[::2])
    say(f"{name}, twelve cells", taken[1::2])
    return say(name, taken, at_most)


def bare_ms(scratch: Path, index: Path) -> float:
    """The least that an addition could cost: one record written and synced, one dump of the index."""
    tables = json.loads(index.read_bytes())
    data = json.dumps({"1": "x" * 150_000}).encode()

    def once(number: int) -> None:
        json.dumps(tables)
        fd = os.open(scratch / f"bare-{number}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)

    return say("bare: synced write of a record + dump of the index", times_ms(once, ROUNDS))


def measure_reading(root: Path, first: int) -> None:
    """List and search, unchanged and after another session wrote."""
    store, other = Store(root, MACHINE), Store(root, MACHINE)
    store.benchmarks.rows()
    say("list, nothing changed", times_ms(lambda _: store.benchmarks.rows(), ROUNDS), 40)
    changed = []
    for number in range(10):
        other.benchmarks.add(make_real(first + number, 1), Metadata())
        changed += times_ms(lambda _: store.benchmarks.rows(), 1)
    say("list, after another session's addition", changed, 250)
    say("search", times_ms(lambda _: store.benchmarks.search(SEARCH), ROUNDS), 15)
    newest = store.benchmarks.rows()[1].id
    say("get one record", times_ms(lambda _: store.benchmarks.get(newest), ROUNDS))
    say("edit a card", times_ms(lambda n: store.benchmarks.edit(newest, note=f"note {n}"), ROUNDS))
    say("remove to the trash and back", times_ms(lambda _: remove_and_restore(store, newest), 10))


def remove_and_restore(store: Store, one: str) -> None:
    """A removal that is undone."""
    store.trash.remove([one])
    store.trash.restore()


def measure_opening(root: Path) -> None:
    """A fresh process, which is what every command is."""
    seen = []
    for _ in range(7):
        command = [sys.executable, "-c", OPEN, str(root), MACHINE, SEARCH]
        seen.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    say("import of the store in a fresh process", [one["import_ms"] for one in seen])
    say("cold open with the whole list", [one["open_ms"] for one in seen], 250)
    print(figure("memory after open, list, search", max(one["rss_mb"] for one in seen), "MB", 150))
    print(figure("memory before", max(one["base_mb"] for one in seen), "MB"))
    print(figure("rows, found", seen[0]["rows"], f"rows, {seen[0]['found']} found"))


def measure_rebuild(root: Path) -> None:
    """The index is lost and made anew from the records."""
    (index,) = root.glob("hosts/*/tuibench.json")
    index.unlink()
    index.with_name(index.name + ".prev").unlink(missing_ok=True)
    store = Store(root, MACHINE)
    before = resource.getrusage(resource.RUSAGE_SELF)
    taken = times_ms(lambda _: store.check(repair=True), 1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(figure("a lost index is made again", taken[0] / 1000, f"s ({cpu_s:.2f} s of CPU)"))
    say("store check", times_ms(lambda _: store.check(), 5))


def measure_command(root: Path, *arguments: str) -> None:
    """A command of the shell as a user waits for it."""
    command = [sys.executable, "-m", "tuibench", *arguments]
    environment = {**os.environ, "TUIBENCH_HOME": str(root.parent)}
    if subprocess.run(command, env=environment, capture_output=True, check=False).returncode:
        print(f"tuibench {' '.join(arguments)}: not in this version")
        return

    def run(number: int) -> None:
        subprocess.run(command, env=environment, capture_output=True, check=True)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = f"tuibench {' '.join(arguments)}"
    say(name, times_ms(run, 7), 400)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        figure(f"{name}, CPU", 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / 7, "ms")
    )


def main() -> None:
    """A small store, then a large one."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    scratch = Path(tempfile.mkdtemp(prefix="tuibench-bench-"))
    try:
        small, large = scratch / "small" / "data", scratch / "large" / "data"
        fill(small, FEW)
        few_ms = add_some(small, FEW + 1, f"add at {FEW}")
        begin = time.perf_counter()
        fill(large, many)
        print(figure(f"making {many} for this", time.perf_counter() - begin, "s"))
        many_ms = add_some(large, many + 1, f"add at {many}", 60)
        print(figure("add grows", many_ms / few_ms, "times", 12))
        (index,) = large.glob("hosts/*/tuibench.json")
        print(figure("add / bare", many_ms / bare_ms(scratch, index), "times"))
        print(figure("index", index.stat().st_size / 1e6, "MB"))
        measure_reading(large, many + 1000)
        measure_opening(large)
        measure_command(large, "list")
        measure_command(large, "list", "--all")
        measure_rebuild(large)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()

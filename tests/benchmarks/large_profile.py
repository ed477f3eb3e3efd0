"""Measures a profile of very many nodes: bytes of journal and record, and processor time to write and open them.

python -m tests.benchmarks.large_profile [NODES]
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runs.large_profile import make_large_result, make_large_run
from tests.store.build import make_store
from tuibench.core.profile import CostProfile
from tuibench.core.record import from_plain, to_compact
from tuibench.core.stored import Metadata
from tuibench.runs.journal import decode, encode


def main(count: int) -> None:
    """Print what each step takes."""
    result = make_large_result(count)
    if result.profile is None:
        raise SystemExit("no profile")
    costs = result.profile.costs
    line = timed("costs to a line of the journal", lambda: encode({"result": to_compact(costs)}))
    told("that line", len(line))
    timed("costs from it", lambda: from_plain(CostProfile, (decode(line) or {})["result"]))
    told("a line of one process", len(encode({"result": to_compact(make_large_run(costs, 1))})))
    with tempfile.TemporaryDirectory() as root:
        timed("save the record", lambda: make_store(Path(root)).benchmarks.add(result, Metadata()))
        (record,) = Path(root).glob("hosts/*/records/*/*.json")
        told("the record", record.stat().st_size)
        timed("list it", make_store(Path(root)).benchmarks.rows)
        timed("name it", lambda: make_store(Path(root)).benchmarks.edit(result.id, name="named"))
        timed("open it", lambda: make_store(Path(root)).benchmarks.get(result.id))
        print(f"{'another thread waits for at most':50} {longest_stop_s(Path(root), result.id):8.2f} s")


def longest_stop_s(root: Path, one: str) -> float:
    """For how long opening a record holds up a thread that wants to run every millisecond."""
    stops: list[float] = []
    done = threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not done.wait(0.001):
            stops.append(time.perf_counter() - last)
            last += stops[-1]

    ticker = threading.Thread(target=tick)
    ticker.start()
    make_store(root).benchmarks.get(one)
    done.set()
    ticker.join()
    return max(stops)


def told(what: str, count: float) -> None:
    """Say how large something is."""
    print(f"{what:50} {count / 1e6:8.2f} MB")


def timed(what: str, act: Callable[[], Any]) -> Any:
    """Do it and say what it took of the processor."""
    began = time.process_time()
    result = act()
    print(f"{what:50} {time.process_time() - began:8.2f} s")
    return result


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)

"""Measures the dashboard: import, first frame, keys among ten thousand benchmarks, bytes, leaving over a slow line.

python -m tests.benchmarks.dashboard [HOME]

HOME is a home that `tests.tui.crowded.fill_home` has filled; without one it is made first, which takes a minute.
What watching a run takes is measured by tests.benchmarks.watching.
"""

from __future__ import annotations

import json
import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.tui.crowded import fill_home

MANY, ROUNDS, PAIRS = 10_000, 5, 12
SLOW_BYTES_PER_S = 20_000
IMPORT = "from tuibench.tui.app import Dashboard; from tuibench.services.api import Services"
CALM = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0", "TEXTUAL_THEME": "ansi-dark"}
SIZES = ((80, 24), (200, 60))


def measure(what: str, home: Path) -> dict[str, Any]:
    """One child of `tests.tui.crowded`."""
    environment = {**os.environ, **CALM, "TUIBENCH_HOME": str(home)}
    command = [sys.executable, "-m", "tests.tui.crowded", what]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def import_ms(code: str) -> float:
    """The least processor time of several processes that import something."""
    taken = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * min(taken)


def measure_bytes(home: Path, columns: int, rows: int) -> None:
    """Measure the bytes sent by the start, two keys, a page and five idle seconds, and the time to leave."""
    master, slave = pty.openpty()
    environment = {
        **os.environ, **CALM, "TUIBENCH_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "COLUMNS": str(columns), "LINES": str(rows),
    }  # fmt: skip
    command = [sys.executable, "-m", "tuibench"]
    process = subprocess.Popen(command, env=environment, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    os.set_blocking(master, False)
    size = f"at {columns}x{rows}"
    steps = (("start", "", 25_000), ("opening a project", "\r", None), ("cursor key", "\x1b[B", 1500),
             ("page down", "\x1b[6~", 6000), ("idle for 5 s", "", 0))  # fmt: skip
    for name, keys, most in steps:
        os.write(master, keys.encode())
        print(figure(f"bytes, {name}, {size}", read_for(master, 5.0), "bytes", most if columns == 80 else None))
    os.write(master, b"\x11")
    begin = time.monotonic()
    while process.poll() is None:
        read_for(master, 0.02, SLOW_BYTES_PER_S)
    print(figure(f"leaving over 20 kB/s, {size}", time.monotonic() - begin, "s", 0.5))
    os.close(master)


def read_for(master: int, seconds: float, bytes_per_s: int = 10**7) -> int:
    """Read no faster than that for so long; how much it was."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            count += len(os.read(master, max(1, int(bytes_per_s * 0.01))))
        except (BlockingIOError, OSError):
            count += 0
        time.sleep(0.01)
    return count


def main() -> None:
    """Everything, the least of several processes where time is meant."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        if len(sys.argv) < 2:
            fill_home(home, MANY)
        bare_python = import_ms("pass")
        print(figure("import of textual.app, CPU", import_ms("import textual.app") - bare_python, "ms"))
        print(figure("import of the dashboard, CPU", import_ms(IMPORT) - bare_python, "ms", 200))
        # In turns: the clock of a shared machine moves within seconds, and either side may meet its slow end alone.
        pairs = [[measure(what, home)["cpu_ms"] for what in ("bare", "home")] for _ in range(PAIRS)]
        bare, first = (min(side) for side in zip(*pairs, strict=True))
        print(figure("first frame of an empty app, CPU", bare, "ms"))
        print(figure("first frame with rows, CPU beside it", first - bare, "ms", 120))
        print(figure("the same, median of pairs", statistics.median(b - a for a, b in pairs), "ms"))
        costs = [cost for _, cost in measure("keys", home)["keys_ms"]]
        print(figure("a key, median", statistics.median(costs), "ms"))
        print(figure("a key, 99 of 100", statistics.quantiles(costs, n=100)[98], "ms", 30))
        for columns, rows in SIZES:
            measure_bytes(home, columns, rows)


if __name__ == "__main__":
    main()

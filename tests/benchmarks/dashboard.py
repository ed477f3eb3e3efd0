"""The dashboard's budgets: CPU to the first rows and per key with 10,000 benchmarks, bytes, quitting over a slow link.

python -m tests.benchmarks.dashboard [HOME], a home that `tests.tui.crowded.fill_home` made; without one it is made.
What watching a run costs is said by tests.benchmarks.watching.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.calibration import figure
from tests.tui.crowded import fill_home

COUNT = 10_000
ROUNDS = 5
SLOW_BYTES_PER_S = 20_000
SIZES = ((80, 24), (200, 60))


def measure(home: Path, what: str) -> dict[str, Any]:
    """One process of its own."""
    environment = {**os.environ, "TUIBENCH_HOME": str(home), "TEXTUAL_ANIMATIONS": "none"}
    command = [sys.executable, "-m", "tests.tui.crowded", what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def least(home: Path, what: str) -> float:
    """Milliseconds of CPU, the least of several: what disturbs only adds."""
    return min(float(measure(home, what)["cpu_ms"]) for _ in range(ROUNDS))


def import_ms() -> float:
    """CPU to import what the first frame needs."""
    code = "import time, tuibench.tui.app, tuibench.tui.screens.home; print(1000 * time.process_time())"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(ROUNDS))


async def sizes(size: tuple[int, int]) -> dict[str, int]:
    """Bytes of the start and of single keys on a list of twenty pages."""
    from tests.tui.counting import CountingDriver, counter_of
    from tests.tui.pilot import open_app, press, settle
    from tests.tui.stock import add, add_project, sweep
    from tuibench.workbench.hall import Workbench

    bench = Workbench()
    project = add_project(bench)
    for number in range(400):
        add(bench, sweep(100 + number, 3600.0 * (number + 1)), project)
    async with open_app(size, headless=False, driver=CountingDriver) as (app, pilot):
        counter = counter_of(app)
        found = {"start": len(counter.take().encode())}

        async def of(name: str, *keys: str) -> None:
            await settle(pilot)
            counter.take()
            await press(pilot, *keys)
            found[name] = len(counter.take().encode())

        await of("open a project", "enter")
        await of("cursor key", "down")
        await of("page down", "pagedown")
        await of("open a benchmark", "enter")
        await of("tab", "2")
        await of("cursor in a figure", "down")
        await settle(pilot)
        counter.take()
        for _ in range(5):
            app.look()
            await settle(pilot)
        found["idle, five looks"] = len(counter.take().encode())
    return found


def quit_s(home: Path) -> float:
    """Seconds from ctrl+q to the end, where the terminal takes 20 kB a second."""
    main_end, side = pty.openpty()
    termios.tcsetwinsize(side, (24, 80))
    environment = {**os.environ, "TUIBENCH_HOME": str(home), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "tuibench"]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=environment, start_new_session=True)
    os.close(side)
    begin = pressed = time.monotonic()
    while process.poll() is None:
        if pressed == begin and time.monotonic() - begin > 4:
            pressed = time.monotonic()
            os.write(main_end, b"\x11")
        if select.select([main_end], [], [], 0.02)[0]:
            try:
                time.sleep(len(os.read(main_end, 1000)) / SLOW_BYTES_PER_S)
            except OSError:
                break
    process.wait()
    os.close(main_end)
    return time.monotonic() - pressed


def main() -> None:
    """All of them, with what they may be at most."""
    with tempfile.TemporaryDirectory() as passing:
        home = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(passing)
        if not (home / "data").exists():
            fill_home(home, COUNT)
        bare = least(home, "bare")
        print(figure("imports before the first frame, CPU", import_ms(), "ms", 200))
        print(figure("empty Textual app, first frame, CPU", bare, "ms"))
        print(figure("first frame with rows of home, over it", least(home, "home") - bare, "ms", 120))
        print(figure(f"opening a project of {COUNT} benchmarks", least(home, "project"), "ms"))
        costs = sorted(cost for _, cost in measure(home, "keys")["keys_ms"])
        print(figure("a key of that list, median CPU", costs[len(costs) // 2], "ms"))
        print(figure("a key of that list, p99 CPU", costs[int(0.99 * (len(costs) - 1))], "ms", 30))
        print(figure("quit at 20 kB/s", quit_s(home), "s", 0.5))
    for size in SIZES:
        with tempfile.TemporaryDirectory() as fresh:
            os.environ["TUIBENCH_HOME"] = fresh
            for name, count in asyncio.run(sizes(size)).items():
                print(figure(f"bytes at {size[0]}x{size[1]}, {name}", count, "B"))


if __name__ == "__main__":
    main()

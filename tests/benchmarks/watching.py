"""CPU time of the dashboard while it watches a run of the scripted engine: `default` or `brief` effort.

python -m tests.benchmarks.watching [SECONDS] [--brief] [--profile]
"""

from __future__ import annotations

import asyncio
import cProfile
import json
import os
import pstats
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tests.benchmarks.calibration import figure
from tests.tui.counting import CountingDriver, counter_of
from tests.tui.pilot import open_app, settle
from tuibench.services.api import Services
from tuibench.services.form_values import FormValues
from tuibench.tui import route

SECONDS = 30.0
SETTLED_S = 5.0
FORM = FormValues(model="sample:tiny", engines=("fake",), scenarios="sync", cores="1,2", batches="1,8,32")
DEFAULT = replace(FORM, effort="precise", flags="--max-time 1000")
BRIEF = replace(FORM, effort="fixed", time_s="0.2", warmup_s="0.05", flags="--executions 200")


async def watch(seconds: float, brief: bool, profile: bool) -> list[str]:
    """Start a run and count, before its page is opened and on it; lines to print once the app lets go of stdout."""
    told: list[str] = []
    services = Services(hidden=True)
    run, _ = await asyncio.to_thread(services.forms.start, BRIEF if brief else DEFAULT)
    try:
        async with open_app((80, 24), services=services, now=time.time, headless=False, driver=CountingDriver) as (
            app,
            pilot,
        ):
            for name, page in {"home": None, "run view": route.run(run)}.items():
                if page is not None:
                    app.go(page)
                    await settle(pilot)
                await asyncio.sleep(SETTLED_S)
                counter_of(app).take()
                cpu, wall = time.process_time(), time.monotonic()
                with profiled(profile and page is not None):
                    await asyncio.sleep(seconds)
                cpu, wall = time.process_time() - cpu, time.monotonic() - wall
                sent = len(counter_of(app).take().encode())
                told.append(figure(f"CPU of the dashboard, {name}", 100 * cpu / wall, "% of a core", 1.0))
                told.append(figure(f"sent to the terminal, {name}", sent / wall / 1000, "kB/s", 2.0))
    finally:
        await asyncio.to_thread(services.runs.cancel, run)
    return told


@contextmanager
def profiled(wanted: bool) -> Iterator[None]:
    """Say where the time of the loop goes; what threads take is not in it."""
    profiler = cProfile.Profile(time.process_time)
    if wanted:
        profiler.enable()
    yield
    if wanted:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.__stderr__).sort_stats("cumulative").print_stats(70)


def main(arguments: list[str]) -> None:
    """In a home of its own."""
    numbers = [float(each) for each in arguments if not each.startswith("--")]
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {
            "TUIBENCH_HOME": home,
            "TUIBENCH_HOST_LOCK": f"tuibench-{secrets.token_hex(6)}",
            "TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 2000}}),
        }
        lines = asyncio.run(watch(numbers[0] if numbers else SECONDS, "--brief" in arguments, "--profile" in arguments))
        print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])

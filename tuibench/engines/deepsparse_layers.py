"""Times of DeepSparse's own layers, from the debug form of its network; used by `worker/layer_process.py`."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from tuibench.engines import deepsparse
from tuibench.engines.protocol import Feed, LayerJob, Tell, Watch

_UNPROFILED_S = 0.6


def time_whole(job: LayerJob, feed: Feed, tell: Tell, watch: Watch) -> dict[str, Any]:
    """Return the times of the whole model in the form that a benchmark measures.

    Its debug form needs a process of its own: both forms in one crash each other.
    """
    tell("loading", 0, 1)
    begin = perf_counter_ns()
    session = deepsparse.make().load(job.setting)
    load_ms = (perf_counter_ns() - begin) / 1e6
    tell("first", 0, 1)
    bound = session.bind([feed], "call")
    begin = perf_counter_ns()
    bound.calls[0]()
    first_ms = (perf_counter_ns() - begin) / 1e6
    # The first call checks its outputs.
    bound = session.bind([feed], "call")
    tell("timing", 0, 1)
    watch.skip()
    timed = list(_times(bound.calls[0], min(_UNPROFILED_S, job.max_s / 3)))
    watch.mark()
    back = session.read_back()
    return {
        "us": statistics.median(timed) / 1000,
        "runs": len(timed),
        "load_ms": load_ms,
        "first_ms": first_ms,
        "threads": back.threads,
        "supported": back.supported,
    }


def time_layers(job: LayerJob, feed: Feed, tell: Tell, watch: Watch) -> dict[str, Any]:
    """Return the mean times of each layer, and the median and the least of the profiled whole."""
    tell("profiling", 0, job.runs)
    watch.skip()
    found = run_debug(job, feed)
    watch.mark()
    layers = [
        {
            "name": str(one["name"]),
            "tensors": [name for name in str(one["canonical_name"]).split(",") if name not in ("", "<none>")],
            "us": one["average_run_time_in_ms"] * 1000,
        }
        for one in found["layer_info"]
    ]
    return {
        "layers": layers,
        "us": statistics.median(found["iteration_times"]) * 1000,
        "least_us": min(found["iteration_times"]) * 1000,
        "runs": job.runs,
        "load_ms": found["load_ms"],
    }


def run_debug(job: LayerJob, feed: Feed) -> dict[str, Any]:
    """Compile the form that measures itself and run it; the job may pretend zeros in each weight.

    Each network runs once only: a second call reads freed memory.
    """
    import numpy as np

    library, _ = deepsparse.import_library()
    setting = job.setting
    # One run before the timed ones, the library's usual optimization, no zeros in activations.
    asked = ("single_stream", None, "external", job.runs, 1, 1, None, job.zeros)
    begin = perf_counter_ns()
    network = library.deepsparse_engine(setting.model_path, 1, setting.threads, 0, *asked)
    load_ms = (perf_counter_ns() - begin) / 1e6
    if job.zeros is not None:
        # It compiled on all CPUs.
        for thread in os.listdir("/proc/self/task"):
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), setting.cpus)
    _, found = network.benchmark_execute([np.ascontiguousarray(feed[name]) for name in network.input_names()], None)
    return {**found, "load_ms": load_ms}


def _times(call: Callable[[], object], for_s: float) -> Iterator[int]:
    """Yield the time of each call for a while, at least of one."""
    until = perf_counter_ns() + for_s * 1e9
    now = perf_counter_ns()
    while True:
        begin = now
        call()
        now = perf_counter_ns()
        yield now - begin
        if now >= until:
            return

"""Times of the Executor's own kernels, from the trace that it writes; used by `worker/layer_process.py`."""

from __future__ import annotations

import gc
import json
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from tuibench.core.errors import EngineError
from tuibench.engines import executor
from tuibench.engines.protocol import Feed, LayerJob, Tell, Watch

_UNPROFILED_S = 0.6
_TRACES = Path("engine_profiling", "profiling_trace")


def time_layers(job: LayerJob, feed: Feed, tell: Tell, watch: Watch) -> dict[str, Any]:
    """Return the times of the whole model, then those of each kernel with its profiler on."""
    tell("loading", 0, 1)
    begin = perf_counter_ns()
    session = executor.make().load(job.setting)
    load_ms = (perf_counter_ns() - begin) / 1e6
    tell("first", 0, 1)
    call = session.bind([feed], "call").calls[0]
    first_ms = _time_ns(call) / 1e6
    tell("timing", 0, 1)
    watch.skip()
    until = perf_counter_ns() + min(_UNPROFILED_S, job.max_s / 3) * 1e9
    timed = [_time_ns(call)]
    while perf_counter_ns() < until:
        timed.append(_time_ns(call))
    watch.mark()
    del call
    session.close()
    us = statistics.median(timed) / 1000
    runs = max(1, min(job.runs, int(job.max_s * 1e6 / 3 / us)))
    found = _profile(job, feed, runs, tell, watch)
    whole = {"us": us, "runs": len(timed), "load_ms": load_ms, "first_ms": first_ms, "threads": job.setting.threads}
    return {"whole": {**whole, "supported": None}, "layers": found[0], "us": found[1], "runs": runs}


def _profile(job: LayerJob, feed: Feed, runs: int, tell: Tell, watch: Watch) -> tuple[list[dict[str, Any]], float]:
    """Return the median time of each kernel, and that of the profiled whole in microseconds."""
    tell("profiling", 0, runs)
    os.environ["ENGINE_PROFILING"] = "1"
    session = executor.make().load(job.setting)
    call = session.bind([feed], "call").calls[0]
    call()  # the first run prepares the kernels
    watch.skip()
    whole = [_time_ns(call) for _ in range(runs)]
    watch.mark()
    del call
    # It writes the trace when its graph is freed.
    session.release()
    gc.collect()
    traces = sorted(_TRACES.glob("*.json"))
    if not traces:
        raise EngineError("no_run_recorded", events=None)
    layers = read_trace(json.loads(traces[-1].read_text(encoding="utf-8")), runs + 1)
    session.close()
    return layers, statistics.median(whole) / 1000


def read_trace(trace: dict[str, Any], runs: int) -> list[dict[str, Any]]:
    """Return the kernels of a trace in their order, with the median of their times after the first run."""
    events = [one for one in trace["traceEvents"] if one.get("tid") == "Operator"]
    count = len(events) // runs
    found = []
    for at in range(count):
        first, times = events[at], [float(one["dur"]) for one in events[at + count :: count]]
        arguments = first.get("args", {})
        after = [
            part.partition(":")[2] for part in str(arguments.get("attributes", "")).split(";") if "append_op" in part
        ]
        tensors = [one.strip().removesuffix(":0") for one in str(arguments.get("output_tensor_name", "")).split(",")]
        kernel = " ".join([str(first["cat"]), *after])
        found.append({"name": str(first["name"]), "kernel": kernel, "tensors": tensors, "us": statistics.median(times)})
    return found


def _time_ns(call: Callable[[], object]) -> int:
    begin = perf_counter_ns()
    call()
    return perf_counter_ns() - begin

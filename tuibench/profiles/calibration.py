"""The profiler's overhead per kernel, measured on chains of trivial nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tuibench.engines.protocol import Setting
from tuibench.profiles.event import Run, read_events, split_runs

_LENGTH = 100
_RUNS, _DROPPED = 24, 4
_SHAPE = (1, 1, 1, 1)
_WIDE = 4
"""Inputs per node of the second chain; the profiler writes the shape of each."""


@dataclass(frozen=True, slots=True)
class Bias:
    """The profiler's overhead within each kernel's time, in microseconds."""

    single_us: float
    """For a kernel with one input tensor."""
    further_us: float
    """For each further input tensor."""
    inner_us: float = 0.0
    """For a kernel with subgraphs, per kernel inside them: the time between those kernels."""

    def of(self, tensors: int) -> float:
        """Return the overhead of a kernel with this many input tensors."""
        return self.single_us + self.further_us * max(0, tensors - 1)


def calibrate(setting: Setting, work_dir: str) -> Bias:
    """Measure the overhead in this process with the model's thread count."""
    single = _bias_us(setting, work_dir, 1)
    wide = _bias_us(setting, work_dir, _WIDE)
    return Bias(max(0.0, single), max(0.0, (wide - single) / (_WIDE - 1)), _inner_us(setting, work_dir))


def middle_mean(values: Sequence[float]) -> float:
    """Return the mean of the middle half: as robust as a median, but not bound to the profiler's whole microseconds."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    middle = ordered[cut : len(ordered) - cut]
    return sum(middle) / len(middle) if middle else 0.0


def _bias_us(setting: Setting, work_dir: str, tensors: int) -> float:
    """Return a node's reported time minus its true time, each from the middle of many runs."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32)}
    session, runs = _profile(_chain(tensors), feed, setting, work_dir)
    reported = [sum(kernel.us for kernel in run.values()) for run in runs]
    return (middle_mean(reported) - _unprofiled_us(session, feed)) / _LENGTH


def _inner_us(setting: Setting, work_dir: str) -> float:
    """Return the own time of an If that only runs a chain, per node of the chain."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32), "taken": np.array(True)}
    _, runs = _profile(_branch(), feed, setting, work_dir)
    return middle_mean([kernel.us for run in runs for path, kernel in run.items() if len(path) == 1]) / _LENGTH


def _profile(model: bytes, feed: dict[str, Any], setting: Setting, work_dir: str) -> tuple[Any, list[Run]]:
    """Return the session with its profiler off, and the kernels of each run."""
    import onnxruntime as ort  # only where it is measured

    from tuibench.engines.onnxruntime import make_options

    options, _ = make_options(setting)
    # Unoptimized: optimization would fold the chain into one node.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling = True
    options.profile_file_prefix = os.path.join(work_dir, "calibration")
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for _ in range(_RUNS):
        session.run(None, feed)
    path = session.end_profiling()
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return session, list(split_runs(read_events(lines)))[_DROPPED:]
    finally:
        os.unlink(path)


def _unprofiled_us(session: Any, feed: dict[str, Any]) -> float:
    taken = []
    for _ in range(_RUNS):
        begin = perf_counter_ns()
        session.run(None, feed)
        taken.append((perf_counter_ns() - begin) / 1000)
    return middle_mean(taken[_DROPPED:])


def _chain(tensors: int) -> bytes:
    others = [f"c{number}" for number in range(1, tensors)]
    ends = [_value("t0"), _value(f"t{_LENGTH}")]
    constants = [numpy_helper.from_array(np.zeros(_SHAPE, np.float32), name) for name in others]
    return _built(helper.make_graph(_nodes(others), "chain", ends[:1], ends[1:], constants))


def _branch() -> bytes:
    """Build an If whose taken branch is a chain."""
    last = f"t{_LENGTH}"
    taken = helper.make_graph(_nodes([]), "taken", [], [_value(last)])
    other = helper.make_graph([helper.make_node("Neg", ["t0"], ["o"])], "other", [], [_value("o")])
    nodes = [helper.make_node("If", ["taken"], ["y"], name="branch", then_branch=taken, else_branch=other)]
    inputs = [_value("t0"), helper.make_tensor_value_info("taken", TensorProto.BOOL, [])]
    return _built(helper.make_graph(nodes, "branch", inputs, [_value("y")]))


def _nodes(others: list[str]) -> list[onnx.NodeProto]:
    op = "Max" if others else "Relu"
    return [helper.make_node(op, [f"t{at}", *others], [f"t{at + 1}"], name=f"node {at}") for at in range(_LENGTH)]


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, _SHAPE)


def _built(graph: onnx.GraphProto) -> bytes:
    built: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    data: bytes = built.SerializeToString()
    return data

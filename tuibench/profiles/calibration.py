"""What the profiler itself adds to the time of each kernel, from chains of nodes that do next to nothing."""

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
"""Tensors that a node of the second chain reads: the profiler writes the shape of each down."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Microseconds within each kernel's time that are the profiler's."""

    single_us: float
    """Of a kernel that reads one tensor."""
    further_us: float
    """For each further one."""
    inner_us: float = 0.0
    """Of a kernel that runs graphs, for each kernel that runs in them: what lies between the times of those."""

    def of(self, tensors: int) -> float:
        """Of a kernel that reads so many tensors."""
        return self.single_us + self.further_us * max(0, tensors - 1)


def calibrate(setting: Setting, work_dir: str) -> Bias:
    """Measure it in this process with the threads that the model will have."""
    single = _bias_us(setting, work_dir, 1)
    wide = _bias_us(setting, work_dir, _WIDE)
    return Bias(max(0.0, single), max(0.0, (wide - single) / (_WIDE - 1)), _inner_us(setting, work_dir))


def middle_mean(values: Sequence[float]) -> float:
    """The mean of the middle half: as steady as a median, and not tied to the whole microseconds of the profiler."""
    ordered = sorted(values)
    cut = len(ordered) // 4
    middle = ordered[cut : len(ordered) - cut]
    return sum(middle) / len(middle) if middle else 0.0


def _bias_us(setting: Setting, work_dir: str, tensors: int) -> float:
    """Reported time less true time of a node, both over the middle of many runs."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32)}
    session, runs = _profile(_chain(tensors), feed, setting, work_dir)
    reported = [sum(kernel.us for kernel in run.values()) for run in runs]
    return (middle_mean(reported) - _unprofiled_us(session, feed)) / _LENGTH


def _inner_us(setting: Setting, work_dir: str) -> float:
    """What a kernel takes itself that does nothing but run a chain, for each node of the chain."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32), "taken": np.array(True)}
    _, runs = _profile(_branch(), feed, setting, work_dir)
    return middle_mean([kernel.us for run in runs for path, kernel in run.items() if len(path) == 1]) / _LENGTH


def _profile(model: bytes, feed: dict[str, Any], setting: Setting, work_dir: str) -> tuple[Any, list[Run]]:
    """The session, whose profiler is off by now, and what it told of each run."""
    import onnxruntime as ort  # only where it is measured

    from tuibench.engines.onnxruntime import make_options

    options, _ = make_options(setting)
    # Unoptimized, as the chain would be folded into one node otherwise.
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
    """A chain in a branch that is taken."""
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

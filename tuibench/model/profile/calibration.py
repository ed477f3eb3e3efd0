"""The profiler's overhead per kernel, and kernel times over the runs of one process."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tuibench.core.value import dataclass
from tuibench.engines.onnxruntime import open_session
from tuibench.engines.protocol import LoadSettings
from tuibench.model.profile.events import Flat, Path, Run, take_runs
from tuibench.model.profile.small_session import build

_LENGTH = 100
_RUNS, _DROPPED = 24, 4
_SHAPE = (1, 1, 1, 1)
_INPUT = ("t0", TensorProto.FLOAT, _SHAPE)
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


def calibrate(setting: LoadSettings, work_dir: str) -> Bias:
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


def _bias_us(setting: LoadSettings, work_dir: str, tensors: int) -> float:
    """Return a node's reported time minus its true time, each from the middle of many runs."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32)}
    session, runs = _profile(_chain(tensors), feed, setting, work_dir)
    reported = [sum(kernel.us for kernel in run.values()) for run in runs]
    return (middle_mean(reported) - _unprofiled_us(session, feed)) / _LENGTH


def _inner_us(setting: LoadSettings, work_dir: str) -> float:
    """Return the own time of an If that only runs a chain, per node of the chain."""
    feed = {"t0": np.ones((1, 1, 1, 1), np.float32), "taken": np.array(True)}
    _, runs = _profile(_branch(), feed, setting, work_dir)
    return middle_mean([kernel.us for run in runs for path, kernel in run.items() if len(path) == 1]) / _LENGTH


def _profile(model: bytes, feed: dict[str, Any], setting: LoadSettings, work_dir: str) -> tuple[Any, list[Run]]:
    """Return the session with its profiler off, and the kernels of each run."""
    # Unoptimized: optimization would fold the chain into one node.
    prefix = os.path.join(work_dir, "calibration")
    session, _, _ = open_session(replace(setting, optimize=False), model, profile=prefix)
    for _ in range(_RUNS):
        session.run(None, feed)
    return session, take_runs(session)[_DROPPED:]


def _unprofiled_us(session: Any, feed: dict[str, Any]) -> float:
    taken = []
    for _ in range(_RUNS):
        begin = perf_counter_ns()
        session.run(None, feed)
        taken.append((perf_counter_ns() - begin) / 1000)
    return middle_mean(taken[_DROPPED:])


def _chain(tensors: int) -> bytes:
    others = [f"c{number}" for number in range(1, tensors)]
    constants = [numpy_helper.from_array(np.zeros(_SHAPE, np.float32), name) for name in others]
    return build(_nodes(others), [_INPUT], [(f"t{_LENGTH}", TensorProto.FLOAT)], constants)


def _branch() -> bytes:
    """Build an If whose taken branch is a chain."""
    output = helper.make_tensor_value_info(f"t{_LENGTH}", TensorProto.FLOAT, _SHAPE)
    taken = helper.make_graph(_nodes([]), "taken", [], [output])
    negated = helper.make_tensor_value_info("o", TensorProto.FLOAT, _SHAPE)
    other = helper.make_graph([helper.make_node("Neg", ["t0"], ["o"])], "other", [], [negated])
    node = helper.make_node("If", ["taken"], ["y"], name="branch", then_branch=taken, else_branch=other)
    return build([node], [_INPUT, ("taken", TensorProto.BOOL, ())], [("y", TensorProto.FLOAT)], [])


def _nodes(others: list[str]) -> list[onnx.NodeProto]:
    op = "Max" if others else "Relu"
    return [helper.make_node(op, [f"t{at}", *others], [f"t{at + 1}"], name=f"node {at}") for at in range(_LENGTH)]


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel's figures over all runs."""

    op: str
    raw_us: float
    """The profiler's own figure."""
    calls: float
    """Calls per inference: the middle mean of the runs."""
    bytes: int = 0
    """Bytes read and written in one inference, constants aside."""
    mean_calls: float = 0.0
    """The plain mean over all runs: above zero if it ran in any."""
    reads: str = ""
    """The element type of its first input."""
    precision: str = ""
    """The float type, unless 32 bits."""


def sum_up(runs: Sequence[Run]) -> dict[Path, KernelTime]:
    """Return the middle mean of each kernel's times by path; a run without the kernel counts as zero."""
    paths = dict.fromkeys(path for run in runs for path in run)
    found = {}
    for path in paths:
        kernels = [run[path] for run in runs if path in run]
        idle = [0.0] * (len(runs) - len(kernels))
        found[path] = KernelTime(
            kernels[0].op,
            middle_mean([*(kernel.us for kernel in kernels), *idle]),
            middle_mean([*(float(kernel.calls) for kernel in kernels), *idle]),
            max(kernel.bytes for kernel in kernels),
            sum(kernel.calls for kernel in kernels) / len(runs),
            kernels[0].reads,
            kernels[0].precision,
        )
    return found


def match(times: dict[Path, KernelTime], optimized: Flat) -> dict[Path, int]:
    """Map each path to its node in the optimized model; match unnamed kernels by operator, in the order they ran."""
    children: dict[Path, list[Path]] = defaultdict(list)
    for path in times:
        children[path[:-1]].append(path)
    bodies: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, placed in enumerate(optimized.nodes):
        bodies[placed.parent][placed.scope].append(number)
    found: dict[Path, int] = {}
    waiting: list[tuple[Path, str]] = [((), "")]
    while waiting:
        above, parent = waiting.pop()
        pairs = _match_level(children[above], times, bodies.get(parent, {}), optimized)
        found.update(pairs)
        waiting.extend((path, optimized.nodes[number].id) for path, number in pairs.items() if children.get(path))
    return found


def _match_level(
    paths: Sequence[Path], times: dict[Path, KernelTime], bodies: dict[str, list[int]], optimized: Flat
) -> dict[Path, int]:
    """Match the kernels of one level; if two branches share a name, prefer the branch with more matching names."""
    wanted = {path[-1] for path in paths}
    named = {
        scope: {optimized.nodes[number].node.name: number for number in numbers if optimized.nodes[number].node.name}
        for scope, numbers in bodies.items()
    }
    likeliest = sorted(named, key=lambda scope: -len(wanted & set(named[scope])))
    found: dict[Path, int] = {}
    unnamed: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        scope = next((scope for scope in likeliest if path[-1] in named[scope]), None)
        if scope is not None:
            found[path] = named[scope][path[-1]]
        else:
            unnamed[times[path].op].append(path)
    for scope in likeliest:
        left: dict[str, list[int]] = defaultdict(list)
        for number in bodies[scope]:
            if not optimized.nodes[number].node.name:
                left[optimized.nodes[number].node.op_type].append(number)
        for op, nameless in unnamed.items():
            found.update(zip([path for path in nameless if path not in found], left[op], strict=False))
    return found


def share_us(time: KernelTime, bias: Bias, tensors: int, inner_calls: float) -> float:
    """Return the profiler's overhead in a kernel's own time: its calls, plus the calls in its subgraphs."""
    return time.calls * bias.of(tensors) + inner_calls * bias.inner_us


def count_inner(times: Mapping[Path, KernelTime]) -> dict[Path, float]:
    """Return how many kernels ran directly within each kernel's subgraphs."""
    found: dict[Path, float] = defaultdict(float)
    for path, time in times.items():
        found[path[:-1]] += time.calls
    return found

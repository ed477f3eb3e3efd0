"""The time of each kernel over the runs of one process, matched to the optimized model's nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tuibench.profiles.calibration import Bias, middle_mean
from tuibench.profiles.event import Path, Run
from tuibench.profiles.flat import Flat


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

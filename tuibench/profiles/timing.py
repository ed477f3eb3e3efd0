"""The time of each kernel over the runs of one process, told by the nodes of the optimized model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.profiles.calibration import Bias, middle_mean
from tuibench.profiles.event import Path, Run
from tuibench.profiles.flat import Flat


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel over all runs."""

    op: str
    raw_us: float
    """As the profiler told it."""
    calls: float
    """How often it ran in one inference."""
    bytes: int = 0
    """What it read and wrote in one inference beside constants."""
    precision: str = ""
    """Of floats that are none of 32 bits."""


def sum_up(runs: Sequence[Run]) -> dict[Path, KernelTime]:
    """The middle of each kernel's times, by its path; a run in which it did not run counts as none."""
    paths = dict.fromkeys(path for run in runs for path in run)
    found = {}
    for path in paths:
        kernels = [run.get(path) for run in runs]
        op = next(kernel.op for kernel in kernels if kernel is not None)
        found[path] = KernelTime(
            op,
            middle_mean([kernel.us if kernel else 0.0 for kernel in kernels]),
            middle_mean([float(kernel.calls) if kernel else 0.0 for kernel in kernels]),
            max(kernel.bytes for kernel in kernels if kernel is not None),
            next((kernel.precision for kernel in kernels if kernel is not None), ""),
        )
    return found


def match(times: dict[Path, KernelTime], optimized: Flat) -> dict[Path, int]:
    """Which node of the optimized model each path is; those without names by operator, in the order they ran in."""
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
    """The kernels of one level; where two branches have a name, it is the branch that more of the names are in."""
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


def correct(time: KernelTime, bias: Bias, tensors: int) -> float:
    """A kernel's time without the profiler's share."""
    return max(0.0, time.raw_us - time.calls * bias.of(tensors))

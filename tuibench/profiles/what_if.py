"""Task `what_if`: times each row alone, unchanged and in another form, and reports the ratio."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from tuibench.arrays.bundle import read_bundle
from tuibench.core.cell import Estimate
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.model import Point
from tuibench.core.profile import INT8, WhatIf
from tuibench.core.text import show
from tuibench.engines import registry
from tuibench.engines.protocol import Setting
from tuibench.engines.wording import plain_words
from tuibench.models.external import check_external
from tuibench.models.inspection import load_graph
from tuibench.profiles.alone import Alone, Turn, is_of_engine, take_turns, turn_ratios
from tuibench.profiles.calibration import Bias, calibrate, middle_mean
from tuibench.profiles.cut import Cut, NotAlone, as_it_is, simplified, values_of
from tuibench.profiles.event import Kernel, Run
from tuibench.profiles.int8_form import as_int8, to_be_known
from tuibench.profiles.mapping import OWN_WORK, is_integer
from tuibench.profiles.source import Source
from tuibench.profiles.timed_model import setting_for
from tuibench.stats.interval import log_interval

Say = Callable[[str, WhatIf], None]

LEAST_US = 5.0
"""A row that takes less time alone is dominated by the cost of the call."""
_NARROW = 0.01
_TURNING = frozenset({"QuantizeLinear", "DequantizeLinear"})


def ask_what_if(
    path: str, point: Point, cpus: Sequence[int], threads: int, rows: Mapping[str, Sequence[str]], run_dir: str,
    max_s: float, begin: Callable[[str], None], say: Say, form: str = INT8,
) -> None:  # fmt: skip
    """Report each row's ratio, or why it has none, one row after the other; rows are keyed by one of their nodes.

    Call `begin` with the next row first, as the row may kill this process.
    """
    if form != INT8:
        raise UsageError(f"layers cannot be measured as '{show(form, 40)}'", f"forms: {INT8}")
    model = load_graph(path)
    if model is None or point.bundle is None:
        raise ModelError(f"{show(path)}: its layers cannot be taken out of it", "profile an .onnx file that runs")
    check_external(model, Path(path))
    registry.make("onnxruntime").start()
    setting = setting_for(path, cpus, threads, run_dir)
    bias = calibrate(setting, run_dir)
    until = perf_counter() + max_s
    source = Source(model, path, read_bundle(point.bundle)[0], setting)
    source.run([name for names in rows.values() for name in names])
    for at, (chief, names) in enumerate(rows.items()):
        begin(chief)
        left_s = max(0.2, (until - perf_counter()) / (len(rows) - at))
        try:
            say(chief, measure_ratio(source.cut(names), setting, bias, run_dir, left_s))
        except NotAlone as error:
            say(chief, _unknown(str(error)))
        except Exception as error:  # an engine raises any type at a generated model; the next row may work
            if isinstance(error, MemoryError) or not is_of_engine(error):
                raise
            say(chief, _unknown(plain_words(str(error))[:300] or type(error).__name__))


def _unknown(reason: str) -> WhatIf:
    return WhatIf(INT8, Estimate(None, reason=reason), reason)


def measure_ratio(cut: Cut, setting: Setting, bias: Bias, run_dir: str, max_s: float) -> WhatIf:
    """Return the row's time with int8 products over its unchanged time, both as optimized by the engine."""
    plain = as_it_is(cut)
    simple = simplified(plain, setting, run_dir)
    values = values_of(simple, plain.feed, to_be_known(simple), setting)
    changed = as_int8(simple, {**plain.feed, **values})
    first = Alone(plain.model, plain.feed, setting, os.path.join(run_dir, "plain"))
    try:
        second = Alone(changed, plain.feed, setting, os.path.join(run_dir, "changed"))
    except BaseException:
        first.end_profiling()
        raise
    turns = take_turns(first, second, min(max_s, 1.0) / 2, enough=_is_narrow)
    runs = first.end_profiling(), second.end_profiling()
    return compared(runs, turns, bias, frozenset(node.op_type for node in cut.nodes))


def _is_narrow(first: Sequence[Turn], second: Sequence[Turn]) -> bool:
    half = log_interval(turn_ratios(first, second)).half_width
    return half is not None and half < _NARROW


def compared(
    runs: tuple[Sequence[Run], Sequence[Run]],
    turns: tuple[Sequence[Turn], Sequence[Turn]],
    bias: Bias,
    ops: frozenset[str],
) -> WhatIf:
    """Compare two profiled sessions that alternated on a row whose own operators are `ops`."""
    if not any(is_integer(kernel.op) for run in runs[1][-1:] for kernel in run.values()):
        raise NotAlone("the engine runs its products in floats all the same")

    def counts(kernel: Kernel) -> bool:
        """Exclude layout changes: alone every row pays them, but a whole model shares them between layers."""
        return kernel.op not in OWN_WORK or kernel.op in ops

    before = kernel_us(runs[0], turns[0], bias, counts)
    after = kernel_us(runs[1], turns[1], bias, counts)
    if middle_mean(before) < LEAST_US:
        raise NotAlone(f"it takes less than {LEAST_US:g} µs alone")
    turning = kernel_us(runs[1], turns[1], bias, lambda kernel: kernel.op in _TURNING)
    ratio = log_interval([max(b, 0.1) / a for a, b in zip(before, after, strict=True)])
    whole = middle_mean(after)
    return WhatIf(INT8, ratio, around=middle_mean(turning) / whole if whole > 0 else None)


def kernel_us(runs: Sequence[Run], turns: Sequence[Turn], bias: Bias, counts: Callable[[Kernel], bool]) -> list[float]:
    """Return the time of the selected kernels per turn, without the dropped runs."""
    found, at = [], 0
    for turn in turns:
        own = runs[at + turn.dropped : at + turn.dropped + len(turn.seconds)]
        at += turn.dropped + len(turn.seconds)
        found.append(middle_mean([sum(_us(kernel, bias) for kernel in run.values() if counts(kernel)) for run in own]))
    return found


def _us(kernel: Kernel, bias: Bias) -> float:
    return max(0.0, kernel.us - kernel.calls * bias.of(3))

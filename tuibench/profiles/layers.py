"""The time of each layer with ONNX Runtime, measured in one fresh process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tuibench.core.errors import TuibenchError
from tuibench.core.profile import FOLDED, RUNTIME, UNMAPPED, KernelRow, LayerRun, own_key
from tuibench.engines import registry
from tuibench.engines.layer_timer import LayerOrder, Tell
from tuibench.engines.protocol import Setting
from tuibench.engines.wording import plain_words
from tuibench.profiles.alone import is_of_engine
from tuibench.profiles.calibration import Bias, calibrate
from tuibench.profiles.event import CONTROL, Path
from tuibench.profiles.flat import Flat
from tuibench.profiles.mapping import Row, map_rows
from tuibench.profiles.naming import PlainlyNamed, plainly_named
from tuibench.profiles.optimized import graph_of_names, read_optimized
from tuibench.profiles.precision import name_precision
from tuibench.profiles.session import Asked, Measured, measure
from tuibench.profiles.timed_model import open_timed, setting_for
from tuibench.profiles.timing import KernelTime, count_inner, match, share_us, sum_up


def make_timer() -> OnnxRuntimeTimer:
    """Create ONNX Runtime's layer timer, for the registry."""
    return OnnxRuntimeTimer()


class OnnxRuntimeTimer:
    """Times layers with ONNX Runtime's profiler and maps its kernels by the optimized graph."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Profile a model in this process."""
        model, bundle = open_timed(order)
        with plainly_named(model, order.path, order.work_dir) as named:
            original = Flat(model.graph)
            del model
            try:
                found = _measure(original, named.path, bundle, order, named.notes, tell)
            except Exception as error:  # an engine raises any type; name the user's file, not our copy
                if not is_of_engine(error):
                    raise
                words = plain_words(str(error)).replace(named.path, order.path)
                raise TuibenchError(words[:500] or type(error).__name__) from error
            return replace(found, rows=tuple(_as_called(row, named) for row in found.rows))


def _as_called(row: KernelRow, named: PlainlyNamed) -> KernelRow:
    """Replace our node names by the user's."""
    return replace(row, kernels=tuple(map(named.undo, row.kernels))) if named.own else row


def _measure(original: Flat, path: str, bundle: str, order: LayerOrder, said: Sequence[str], tell: Tell) -> LayerRun:
    version = registry.make("onnxruntime").start()
    run_dir = order.work_dir
    setting = setting_for(path, order.cpus, order.threads, run_dir)
    bias = calibrate(setting, run_dir)
    asked = Asked(order.runs, order.max_s, _most_kernels(original))
    measured = measure(setting, bundle, asked, run_dir, tell)
    times = sum_up(measured.runs)
    notes = [*said, *measured.notes]
    try:
        optimized = Flat(read_optimized(setting, run_dir))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # disk full or model too large to save: kernel names alone map most of it
        notes.append(f"mapped by names alone: the optimized model cannot be saved ({plain_words(str(error))[:200]})")
        optimized = Flat(graph_of_names(times))
    found = kernel_rows(original, optimized, times, bias)
    return _layer_run(measured, found, name_precision(times.values()), version, setting, notes)


@dataclass(frozen=True, slots=True)
class Kernels:
    """All rows with their times, and totals over the kernels of one inference."""

    rows: list[KernelRow]
    calls: float
    """Number of kernel calls."""
    shares_us: float
    """The profiler's overhead in all kernels."""


def kernel_rows(original: Flat, optimized: Flat, times: dict[Path, KernelTime], bias: Bias) -> Kernels:
    """Return the model's rows; a kernel's time belongs to the row of the node that it represents."""
    numbers = match(times, optimized)
    found = [_Found() for _ in optimized.nodes]
    inner = count_inner(times)
    calls = shares_us = 0.0
    strangers: list[KernelRow] = []
    ids = {placed.id for placed in original.nodes}
    for path, time in times.items():
        number = numbers.get(path)
        # A kernel that cannot be mapped counts for the nearest mapped kernel around it.
        for length in range(len(path) - 1, 0, -1):
            number = numbers.get(path[:length]) if number is None else number
        tensors = len([name for name in optimized.nodes[number].node.input if name]) if number is not None else 1
        share = share_us(time, bias, tensors, inner.get(path, 0.0))
        us = max(0.0, time.raw_us - share)
        calls += time.calls
        shares_us += share
        if number is None:
            told = (time.raw_us, us, False, None, time.mean_calls)
            key = own_key("/".join(path), ids)
            strangers.append(KernelRow(key, RUNTIME, UNMAPPED, (), (path[-1],), time.op, *told))
        else:
            found[number].add(time, us)
    rows = [_kernel_row(row, optimized, found) for row in map_rows(original, optimized)]
    last = next((at for at, row in enumerate(rows) if row.kind == FOLDED), len(rows))
    return Kernels([*rows[:last], *strangers, *rows[last:]], calls, shares_us)


@dataclass(slots=True)
class _Found:
    """Times collected for one node of the optimized model."""

    raw_us: float = 0.0
    us: float = 0.0
    bytes: int = 0
    calls: float = 0.0
    precision: str = ""

    def add(self, time: KernelTime, us: float) -> None:
        self.raw_us += time.raw_us
        self.us += us
        self.bytes += time.bytes
        self.calls += time.mean_calls
        # A Cast reads a precision but computes nothing in it.
        self.precision = self.precision or (time.precision if time.op != "Cast" else "")


def _kernel_row(row: Row, optimized: Flat, found: Sequence[_Found]) -> KernelRow:
    own = [found[kernel] for kernel in row.kernels]
    return KernelRow(
        row.key,
        row.kind,
        row.op,
        row.nodes,
        tuple(optimized.nodes[kernel].node.name or optimized.nodes[kernel].id for kernel in row.kernels),
        row.kernel_op,
        sum(one.raw_us for one in own),
        sum(one.us for one in own),
        row.integer,
        sum(one.bytes for one in own),
        sum(one.calls for one in own),
        next((one.precision for one in own if one.precision), ""),
    )


def _most_kernels(original: Flat) -> int | None:
    """Return an upper bound of the kernels in one inference; None if loops may repeat them."""
    if any(placed.node.op_type in CONTROL - {"If"} for placed in original.nodes):
        return None
    return 2 * len(original.nodes) + 50


def _layer_run(
    measured: Measured, found: Kernels, precision: str, version: str, setting: Setting, notes: list[str]
) -> LayerRun:
    return LayerRun(
        rows=tuple(found.rows),
        unprofiled_us=measured.unprofiled_us,
        profiled_us=measured.profiled_us,
        bias_us=found.shares_us / found.calls if found.calls else 0.0,
        runs=len(measured.runs),
        unprofiled_runs=measured.unprofiled_runs,
        kernels=round(found.calls),
        load_ms=measured.load_ms,
        first_ms=measured.first_ms,
        peak_bytes=measured.peak_bytes,
        noise=measured.noise,
        engine_version=version,
        threads=setting.threads,
        cpus=setting.cpus,
        notes=tuple(notes),
        precision=precision,
    )

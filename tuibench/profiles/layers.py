"""Task `layers`: the time of each layer of a model in one fresh process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tuibench.core.errors import ModelError
from tuibench.core.model import Point
from tuibench.core.profile import FOLDED, RUNTIME, UNMAPPED, KernelRow, LayerRun
from tuibench.core.text import show
from tuibench.engines import registry
from tuibench.engines.protocol import Setting
from tuibench.engines.wording import plain_words
from tuibench.models.inspection import load_graph
from tuibench.profiles.calibration import Bias, calibrate
from tuibench.profiles.event import CONTROL, Path
from tuibench.profiles.flat import Flat
from tuibench.profiles.mapping import Row, map_rows
from tuibench.profiles.naming import plainly_named
from tuibench.profiles.optimized import graph_of_names, read_optimized
from tuibench.profiles.session import Asked, Measured, Tell, measure
from tuibench.profiles.timing import KernelTime, correct, match, sum_up


def setting_for(path: str, cpus: Sequence[int], threads: int, work_dir: str) -> Setting:
    """The setting of a benchmark's cell of one stream at f32."""
    return Setting(
        model_path=path,
        threads=threads,
        streams=1,
        cpus=tuple(cpus),
        pin="core",
        precision="f32",
        scenario="sync",
        work_dir=work_dir,
    )


def measure_layers(
    path: str, point: Point, cpus: Sequence[int], threads: int, runs: int, max_s: float, run_dir: str, tell: Tell
) -> LayerRun:
    """Profile a model in this process, which is pinned and has loaded nothing yet."""
    if point.bundle is None:
        raise ModelError(f"{show(path)} cannot be run: {show((point.failure or ('', '', ''))[2])}", "give other inputs")
    model = load_graph(path)
    if model is None:
        reason = f"{show(path)} is an .ort file, in which layers cannot be told from the nodes of a model"
        raise ModelError(reason, "profile the .onnx file that it was made of")
    with plainly_named(model, path, run_dir) as (named, said):
        original = Flat(model.graph)
        model = None
        return _measure(original, named, point.bundle, Placed(cpus, threads, run_dir), (runs, max_s), said, tell)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where this process runs, and where it may write."""

    cpus: Sequence[int]
    threads: int
    run_dir: str


def _measure(
    original: Flat, path: str, bundle: str, placed: Placed, effort: tuple[int, float], said: Sequence[str], tell: Tell
) -> LayerRun:
    version = registry.make("onnxruntime").start()
    run_dir = placed.run_dir
    setting = setting_for(path, placed.cpus, placed.threads, run_dir)
    bias = calibrate(setting, run_dir)
    asked = Asked(*effort, _most_kernels(original))
    measured = measure(setting, bundle, asked, run_dir, tell)
    times = sum_up(measured.runs)
    notes = [*said, *measured.notes]
    try:
        optimized = Flat(read_optimized(setting, run_dir))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # a disk that is full, a model too large to be saved: the names alone say most of it
        notes.append(f"mapped by names alone: the optimized model cannot be saved ({plain_words(str(error))[:200]})")
        optimized = Flat(graph_of_names(times))
    rows, calls, shares_us = kernel_rows(original, optimized, times, bias)
    return _layer_run(measured, rows, shares_us / calls if calls else 0.0, round(calls), version, setting, notes)


def kernel_rows(
    original: Flat, optimized: Flat, times: dict[Path, KernelTime], bias: Bias
) -> tuple[list[KernelRow], float, float]:
    """Every row with its time; then how many kernels ran in one inference, and the profiler's share in all of them."""
    numbers = match(times, optimized)
    raw = [0.0] * len(optimized.nodes)
    own = [0.0] * len(optimized.nodes)
    moved = [0] * len(optimized.nodes)
    precisions = [""] * len(optimized.nodes)
    calls = shares_us = 0.0
    strangers: list[KernelRow] = []
    for path, time in times.items():
        number = numbers.get(path)
        # What lies in a kernel that cannot be looked into is that kernel's.
        for length in range(len(path) - 1, 0, -1):
            number = numbers.get(path[:length]) if number is None else number
        tensors = len([name for name in optimized.nodes[number].node.input if name]) if number is not None else 1
        us = correct(time, bias, tensors)
        calls += time.calls
        shares_us += time.calls * bias.of(tensors)
        if number is None:
            strangers.append(KernelRow("/".join(path), RUNTIME, UNMAPPED, (), (path[-1],), time.op, time.raw_us, us))
        else:
            raw[number] += time.raw_us
            own[number] += us
            moved[number] += time.bytes
            # What changes the precision of a tensor multiplies nothing.
            precisions[number] = precisions[number] or (time.precision if time.op != "Cast" else "")
    rows = [_kernel_row(row, optimized, raw, own, moved, precisions) for row in map_rows(original, optimized)]
    last = next((at for at, row in enumerate(rows) if row.kind == FOLDED), len(rows))
    return [*rows[:last], *strangers, *rows[last:]], calls, shares_us


def _kernel_row(
    row: Row,
    optimized: Flat,
    raw: Sequence[float],
    own: Sequence[float],
    moved: Sequence[int],
    precisions: Sequence[str],
) -> KernelRow:
    names = tuple(optimized.nodes[kernel].node.name or optimized.nodes[kernel].id for kernel in row.kernels)
    return KernelRow(
        row.key,
        row.kind,
        row.op,
        row.nodes,
        names,
        row.kernel_op,
        sum(raw[kernel] for kernel in row.kernels),
        sum(own[kernel] for kernel in row.kernels),
        row.integer,
        sum(moved[kernel] for kernel in row.kernels),
        next((precisions[kernel] for kernel in row.kernels if precisions[kernel]), ""),
    )


def _most_kernels(original: Flat) -> int | None:
    """More kernels than this do not run in one inference; None where loops may repeat them."""
    if any(placed.node.op_type in CONTROL - {"If"} for placed in original.nodes):
        return None
    return 2 * len(original.nodes) + 50


def _layer_run(
    measured: Measured,
    rows: list[KernelRow],
    bias_us: float,
    kernels: int,
    version: str,
    setting: Setting,
    notes: list[str],
) -> LayerRun:
    return LayerRun(
        rows=tuple(rows),
        unprofiled_us=measured.unprofiled_us,
        profiled_us=measured.profiled_us,
        bias_us=bias_us,
        runs=len(measured.runs),
        unprofiled_runs=measured.unprofiled_runs,
        kernels=kernels,
        load_ms=measured.load_ms,
        first_ms=measured.first_ms,
        peak_bytes=measured.peak_bytes,
        noise=measured.noise,
        engine_version=version,
        threads=setting.threads,
        cpus=setting.cpus,
        notes=tuple(notes),
    )

"""The time of each layer with ONNX Runtime, measured in one fresh process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path as File

import onnx
from onnx import helper

from tuibench.core.errors import ModelError, TuibenchError
from tuibench.core.profile import FOLDED, RUNTIME, UNMAPPED, KernelRow, LayerRun, own_key
from tuibench.core.reason import Reason, because, error_text
from tuibench.core.value import dataclass
from tuibench.engines import factory
from tuibench.engines.error_words import engine_reason, engine_words, is_of_engine
from tuibench.engines.onnxruntime import open_session
from tuibench.engines.protocol import LayerOrder, LoadSettings, Tell
from tuibench.model.file import is_external
from tuibench.model.graph import text, walk_nodes, walk_weights
from tuibench.model.inspection import require_graph
from tuibench.model.profile.calibration import Bias, KernelTime, calibrate, count_inner, match, share_us, sum_up
from tuibench.model.profile.events import CONTROL, Flat, Path
from tuibench.model.profile.mapping import Row, is_integer, is_product, map_rows
from tuibench.model.profile.session import ProfileLimits, measure

_PLAIN = re.compile(r"[\w./:+-]{0,400}", re.ASCII)
_FILE = "named.onnx"


@dataclass(frozen=True, slots=True)
class PlainlyNamed:
    """A model file whose node names survive."""

    path: str
    notes: tuple[Reason, ...] = ()
    own: tuple[str, ...] = ()
    """The user's names of the renamed nodes, by number."""
    prefix: str = ""
    """The part of a new name before its number."""

    def undo(self, name: str) -> str:
        """Return a kernel's name with the user's own node names; also replace them inside longer names."""
        if not self.own:
            return name
        ours = rf"{re.escape(self.prefix)}([0-9]+)"
        return re.sub(ours, lambda found: self.own[int(found[1])] if int(found[1]) < len(self.own) else "", name)


@contextmanager
def plainly_named(model: onnx.ModelProto, path: str, run_dir: str) -> Iterator[PlainlyNamed]:
    """Yield the file to run with notes; rename the nodes of `model` to match the file.

    The user's own file if its names survive, else a copy that is deleted afterwards.
    """
    names = [text(node.name) for node in walk_nodes(model)]
    strange = [node for node in walk_nodes(model) if not _PLAIN.fullmatch(text(node.name))]
    if not strange:
        yield PlainlyNamed(path)
        return
    if any(map(is_external, walk_weights(model))):
        yield PlainlyNamed(path, (because("names_not_recorded", count=len(strange)),))
        return
    prefix = "tuibench."
    while any(name.startswith(prefix) for name in names):
        prefix += "."
    own = [text(node.name) for node in strange]
    for number, node in enumerate(strange):
        node.name = f"{prefix}{number}"
    copy = File(run_dir) / _FILE
    copy.write_bytes(model.SerializeToString())
    try:
        yield PlainlyNamed(str(copy), (), tuple(own), prefix)
    finally:
        os.unlink(copy)


_NAME, _WEIGHTS = "optimized.onnx", "optimized.weights"
_SMALL_BYTES = "256"
_EXTERNAL = "session.optimized_model_external_initializers"


def read_optimized(setting: LoadSettings, work_dir: str) -> onnx.GraphProto:
    """Let the engine save its optimized model; read it without weights and delete the files."""
    path = File(work_dir) / _NAME
    entries = {f"{_EXTERNAL}_file_name": _WEIGHTS, f"{_EXTERNAL}_min_size_in_bytes": _SMALL_BYTES}
    try:
        open_session(replace(setting, threads=1, pin="none"), save=str(path), entries=entries)
        return onnx.load(path, load_external_data=False).graph
    finally:
        for name in (_NAME, _WEIGHTS):
            (File(work_dir) / name).unlink(missing_ok=True)


def graph_of_names(times: dict[Path, KernelTime]) -> onnx.GraphProto:
    """Build a graph from kernel names alone, for an optimized model that cannot be saved."""
    nodes = [helper.make_node(time.op, [], [], name=path[0]) for path, time in times.items() if len(path) == 1]
    return helper.make_graph(nodes, "names", [], [])


_INT8 = "int8"
_FLOATS = {"float": "f32", "float16": "f16", "bfloat16": "bf16", "double": "f64"}


def name_precision(kernels: Iterable[KernelTime]) -> str:
    """Return the products' precision; else that of kernels reading floats, else of any kernel; '' without kernels.

    Several are joined in order of their time, as in 'int8 + f32'.
    """
    called = [kernel for kernel in kernels if kernel.mean_calls > 0]
    groups = (
        [kernel for kernel in called if is_integer(kernel.op) or is_product(kernel.op)],
        [kernel for kernel in called if kernel.reads in _FLOATS],
        called,
    )
    for group in groups:
        us_of: dict[str, float] = {}
        for kernel in group:
            name = _INT8 if is_integer(kernel.op) else _FLOATS.get(kernel.reads, kernel.reads)
            if name:
                us_of[name] = us_of.get(name, 0.0) + kernel.raw_us
        if us_of:
            return " + ".join(sorted(us_of, key=lambda name: -us_of[name]))
    return ""


def open_timed(order: LayerOrder) -> tuple[onnx.ModelProto, str]:
    """Return the model from its file and the path of its inputs; raise ModelError if either is missing."""
    if order.point.bundle is None:
        why = order.point.failure.message if order.point.failure else Reason("no_inputs")
        raise ModelError("cannot_be_run", model=order.path, why=why)
    return require_graph(order.path), order.point.bundle


def setting_for(path: str, cpus: Sequence[int], threads: int, work_dir: str) -> LoadSettings:
    """Return the settings of a benchmark cell with one stream at f32."""
    return LoadSettings(
        model_path=path,
        threads=threads,
        streams=1,
        cpus=tuple(cpus),
        pin="core",
        precision="f32",
        one_at_a_time=True,
        work_dir=work_dir,
    )


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
                said = engine_words(error, 1000).replace(named.path, order.path)
                raise TuibenchError.from_reason(error_text(said[:500])) from error
            return replace(found, rows=tuple(_as_called(row, named) for row in found.rows))


def _as_called(row: KernelRow, named: PlainlyNamed) -> KernelRow:
    """Replace our node names by the user's."""
    return replace(row, kernels=tuple(map(named.undo, row.kernels))) if named.own else row


def _measure(original: Flat, path: str, bundle: str, order: LayerOrder, said: Sequence[Reason], tell: Tell) -> LayerRun:
    version = factory.make("onnxruntime").start()
    run_dir = order.work_dir
    setting = setting_for(path, order.cpus, order.threads, run_dir)
    bias = calibrate(setting, run_dir)
    asked = ProfileLimits(order.runs, order.max_s, _most_kernels(original))
    run, recorded = measure(setting, bundle, asked, run_dir, tell)
    times = sum_up(recorded)
    notes = [*said, *run.notes]
    try:
        optimized = Flat(read_optimized(setting, run_dir))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # disk full or model too large to save: kernel names alone map most of it
        notes.append(because("mapped_by_names", why=engine_reason(error, 200)))
        optimized = Flat(graph_of_names(times))
    found = kernel_rows(original, optimized, times, bias)
    return replace(
        run,
        rows=tuple(found.rows),
        bias_us=found.shares_us / found.calls if found.calls else 0.0,
        kernels=round(found.calls),
        engine_version=version,
        notes=tuple(notes),
        precision=name_precision(times.values()),
    )


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
            facts = (time.raw_us, us, False, None, time.mean_calls)
            key = own_key("/".join(path), ids)
            strangers.append(KernelRow(key, RUNTIME, UNMAPPED, (), (path[-1],), time.op, *facts))
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

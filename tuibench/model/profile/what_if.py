"""The child task `what_if`: times each row alone, unchanged and in int8, and reports the ratio."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import onnx
from onnx import external_data_helper, numpy_helper

from tuibench.core.cell import Estimate
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.model import Point
from tuibench.core.profile import INT8, WhatIf
from tuibench.core.reason import Reason, because
from tuibench.engines import factory
from tuibench.engines.error_words import engine_reason, is_of_engine
from tuibench.engines.onnxruntime import open_session
from tuibench.engines.protocol import Feed, LoadSettings
from tuibench.model.file import check_external, is_external
from tuibench.model.inspection import require_graph
from tuibench.model.profile.calibration import Bias, calibrate, middle_mean
from tuibench.model.profile.events import Flat, Kernel, Run
from tuibench.model.profile.int8 import (
    Cut,
    NotSeparable,
    as_int8,
    needed_ranges,
    simplify,
    unchanged_form,
    values_of,
)
from tuibench.model.profile.layers import setting_for
from tuibench.model.profile.mapping import OWN_WORK, is_integer
from tuibench.model.profile.small_session import SmallSession, Turn, alternate, time_ratios
from tuibench.stats.interval import log_interval
from tuibench.worker.bundle import Array, read_bundle

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


class ModelValues:
    """The values of one model on one input sample."""

    def __init__(self, model: onnx.ModelProto, path: str, feed: Feed, setting: LoadSettings) -> None:
        self._model = model
        self._home = os.path.dirname(os.path.abspath(path))
        self._feed = feed
        self._setting = setting
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._weights |= {
            node.output[0]: attribute.t
            for node in model.graph.node
            if node.op_type == "Constant"
            for attribute in node.attribute
            if attribute.name == "value"
        }
        flat = Flat(model.graph)
        moving = flat.dynamic()
        self._nodes = {placed.id: number for number, placed in enumerate(flat.nodes)}
        self._placed = flat.nodes
        self._constant_names = {name for (scope, name), made in flat.producer.items() if not scope and not moving[made]}
        """Tensors computed from constants alone."""
        self._readers: dict[str, set[int]] = {}
        """Readers of top-level tensors, including subgraphs of nodes."""
        for number, tensors in enumerate(flat.inputs):
            for scope, name in tensors:
                if not scope:
                    self._readers.setdefault(name, set()).add(number)
        self._outputs = {output.name for output in model.graph.output}
        self._values: Mapping[str, Array] = {}
        self._reason: Reason | None = None

    def run(self, wanted: Sequence[str]) -> None:
        """Run the model once, unoptimized, and keep every tensor that the wanted nodes read."""
        made = {name for node in self._model.graph.node for name in node.output}
        placed = [self._placed[self._nodes[one]] for one in wanted if one in self._nodes]
        names = {name for one in placed if not one.parent for name in one.node.input if name in made}
        names -= set(self._weights)
        changed = onnx.ModelProto()
        changed.CopyFrom(self._model)
        changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - self._outputs))
        plain = replace(self._setting, optimize=False)
        entries = {"session.model_external_initializers_file_folder_path": self._home}
        try:
            session, _, _ = open_session(plain, changed.SerializeToString(), entries=entries)
            given = session.run(sorted(names), self._feed) if names else []
        except Exception as error:  # an engine raises any type; every row then gets this reason
            if isinstance(error, MemoryError) or not is_of_engine(error):
                raise
            self._reason = because("inputs_not_computed", why=engine_reason(error, 200))
            return
        self._values = {**self._feed, **dict(zip(sorted(names), given, strict=True))}

    def cut(self, names: Sequence[str]) -> Cut:
        """Return the nodes of a row with the values they read; raise NotSeparable with the reason."""
        if self._reason:
            raise NotSeparable(self._reason)
        if any(name not in self._nodes for name in names):
            raise NotSeparable(Reason("node_not_in_model"))
        numbers = sorted(self._nodes[name] for name in names)
        placed = [self._placed[number] for number in numbers]
        if any(one.parent for one in placed):
            raise NotSeparable(Reason("node_in_subgraph"))
        nodes = [one.node for one in placed if one.op != "Constant"]
        if any(attribute.type in _GRAPHS for node in nodes for attribute in node.attribute):
            raise NotSeparable(Reason("runs_subgraphs"))
        made = {name for node in nodes for name in node.output if name}
        read = dict.fromkeys(name for node in nodes for name in node.input if name and name not in made)
        constants: dict[str, Array] = {}
        fed: dict[str, Array] = {}
        for name in read:
            if name in self._weights and name not in self._feed:
                constants[name] = self._constant(self._weights[name])
            elif isinstance(self._values.get(name), np.ndarray):
                (constants if name in self._constant_names else fed)[name] = self._values[name]
            else:
                raise NotSeparable(Reason("reads_no_tensor"))
        outputs = self._read_outputs(made, numbers)
        return Cut(nodes, constants, fed, outputs, self._model.opset_import, self._model.functions)

    def _read_outputs(self, made: set[str], numbers: Sequence[int]) -> list[str]:
        """Return the outputs that other nodes read; if none are, all outputs that nothing reads."""
        own = set(numbers)
        given = sorted(name for name in made if name in self._outputs or self._readers.get(name, own) - own)
        return given or sorted(name for name in made if name not in self._readers)

    def _constant(self, tensor: onnx.TensorProto) -> Array:
        if is_external(tensor) and not tensor.raw_data:
            loaded = onnx.TensorProto()
            loaded.CopyFrom(tensor)
            external_data_helper.load_external_data_for_tensor(loaded, self._home)
            tensor = loaded
        array: Array = numpy_helper.to_array(tensor)
        return array


Say = Callable[[str, WhatIf], None]

LEAST_US = 5.0
"""A row that takes less time alone is dominated by the cost of the call."""
_TARGET_HALF_WIDTH = 0.01
_QDQ_OPS = frozenset({"QuantizeLinear", "DequantizeLinear"})


def measure_what_if(
    path: str, point: Point, cpus: Sequence[int], threads: int, rows: Mapping[str, Sequence[str]], run_dir: str,
    max_s: float, begin: Callable[[str], None], say: Say, form: str = INT8,
) -> None:  # fmt: skip
    """Report each row's ratio, or why it has none, one row after the other; rows are keyed by one of their nodes.

    Call `begin` with the next row first, as the row may kill this process.
    """
    if form != INT8:
        raise UsageError("unknown_form", form=form, names=[INT8])
    model = require_graph(path)
    if point.bundle is None:
        raise ModelError("layers_cannot_run_alone", path=path)
    check_external(model, Path(path))
    factory.make("onnxruntime").start()
    setting = setting_for(path, cpus, threads, run_dir)
    bias = calibrate(setting, run_dir)
    until = perf_counter() + max_s
    source = ModelValues(model, path, read_bundle(point.bundle)[0], setting)
    source.run([name for names in rows.values() for name in names])
    for at, (chief, names) in enumerate(rows.items()):
        begin(chief)
        left_s = max(0.2, (until - perf_counter()) / (len(rows) - at))
        try:
            say(chief, measure_ratio(source.cut(names), setting, bias, run_dir, left_s))
        except NotSeparable as error:
            say(chief, _unknown_ratio(error.reason))
        except Exception as error:  # an engine raises any type at a generated model; the next row may work
            if isinstance(error, MemoryError) or not is_of_engine(error):
                raise
            say(chief, _unknown_ratio(because("alone_failed", why=engine_reason(error))))


def _unknown_ratio(reason: Reason) -> WhatIf:
    return WhatIf(INT8, Estimate(None, reason=reason), reason)


def measure_ratio(cut: Cut, setting: LoadSettings, bias: Bias, run_dir: str, max_s: float) -> WhatIf:
    """Return the row's time with int8 products over its unchanged time, both as optimized by the engine."""
    plain = unchanged_form(cut)
    simple = simplify(plain, setting, run_dir)
    values = values_of(simple, plain.feed, needed_ranges(simple), setting)
    changed = as_int8(simple, {**plain.feed, **values})
    first = SmallSession(plain.model, plain.feed, setting, os.path.join(run_dir, "plain"))
    try:
        second = SmallSession(changed, plain.feed, setting, os.path.join(run_dir, "changed"))
    except BaseException:
        first.end_profiling()
        raise
    turns = alternate(first, second, min(max_s, 1.0) / 2, enough=_is_precise)
    runs = first.end_profiling(), second.end_profiling()
    return compare_sessions(runs, turns, bias, frozenset(node.op_type for node in cut.nodes))


def _is_precise(first: Sequence[Turn], second: Sequence[Turn]) -> bool:
    half = log_interval(time_ratios(first, second)).half_width
    return half is not None and half < _TARGET_HALF_WIDTH


def compare_sessions(
    runs: tuple[Sequence[Run], Sequence[Run]],
    turns: tuple[Sequence[Turn], Sequence[Turn]],
    bias: Bias,
    ops: frozenset[str],
) -> WhatIf:
    """Compare two profiled sessions that alternated on a row whose own operators are `ops`."""
    if not any(is_integer(kernel.op) for run in runs[1][-1:] for kernel in run.values()):
        raise NotSeparable(Reason("products_in_floats"))

    def counts(kernel: Kernel) -> bool:
        """Exclude layout changes: alone every row pays them, but a whole model shares them between layers."""
        return kernel.op not in OWN_WORK or kernel.op in ops

    before = kernel_us(runs[0], turns[0], bias, counts)
    after = kernel_us(runs[1], turns[1], bias, counts)
    if middle_mean(before) < LEAST_US:
        raise NotSeparable(because("too_short_alone", least_us=LEAST_US))
    conversions = kernel_us(runs[1], turns[1], bias, lambda kernel: kernel.op in _QDQ_OPS)
    ratio = log_interval([max(b, 0.1) / a for a, b in zip(before, after, strict=True)])
    whole = middle_mean(after)
    return WhatIf(INT8, ratio, around=middle_mean(conversions) / whole if whole > 0 else None)


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

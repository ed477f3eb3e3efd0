"""Task `what_if`: layers alone, as they are and in another form, in turn: by which factor their time changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import onnx
from onnx import external_data_helper, numpy_helper

from tuibench.arrays.bundle import read_bundle
from tuibench.core.cell import Estimate
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.model import Point
from tuibench.core.profile import INT8
from tuibench.core.text import show
from tuibench.engines import registry
from tuibench.engines.onnxruntime import make_options
from tuibench.engines.protocol import Feed, Setting
from tuibench.engines.wording import plain_words
from tuibench.models.external import check_external, is_external
from tuibench.models.inspection import load_graph
from tuibench.models.node import Placed, walk
from tuibench.profiles.alone import Alone, Turn, take_turns
from tuibench.profiles.calibration import Bias, calibrate, middle_mean
from tuibench.profiles.event import Run
from tuibench.profiles.flat import Flat
from tuibench.profiles.int8_form import NotAlone, Piece, as_int8, as_it_is
from tuibench.profiles.mapping import OWN_WORK
from tuibench.profiles.timed_model import setting_for
from tuibench.stats.interval import log_interval

Array = np.ndarray[Any, Any]
Say = Callable[[str, Estimate, str], None]

LEAST_US = 5.0
"""A layer that takes less in isolation is as much its caller as itself."""
_AROUND = frozenset({*OWN_WORK, "QuantizeLinear", "DequantizeLinear"})


def ask_what_if(
    path: str, point: Point, cpus: Sequence[int], threads: int, nodes: Sequence[str], run_dir: str, max_s: float,
    say: Say, form: str = INT8,
) -> None:  # fmt: skip
    """Say of each node its ratio or why there is none, one after the other."""
    if form != INT8:
        raise UsageError(f"layers cannot be measured as '{show(form, 40)}'", f"forms: {INT8}")
    model = load_graph(path)
    if model is None or point.bundle is None:
        raise ModelError(f"{show(path)}: its layers cannot be taken out of it", "profile an .onnx file that runs")
    check_external(model, Path(path))
    registry.make("onnxruntime").start()
    setting = setting_for(path, cpus, threads, run_dir)
    placed = {one.id: one for one in walk(model.graph)}
    bias = calibrate(setting, run_dir)
    until = perf_counter() + max_s
    source = _Source(model, path, read_bundle(point.bundle)[0], setting)
    source.run([placed[name] for name in nodes if name in placed])
    for at, name in enumerate(nodes):
        left_s = max(0.2, (until - perf_counter()) / (len(nodes) - at))
        try:
            if name not in placed:
                raise NotAlone("the model has no such node")
            piece = source.piece(placed[name])
            say(name, measure_ratio(piece, setting, bias, run_dir, left_s), "")
        except NotAlone as error:
            say(name, Estimate(None, reason=str(error)), str(error))
        except MemoryError:
            raise
        except Exception as error:  # an engine raises whatever it likes at a model of ours; the next layer may do
            reason = plain_words(str(error))[:300] or type(error).__name__
            say(name, Estimate(None, reason=reason), reason)


def measure_ratio(piece: Piece, setting: Setting, bias: Bias, run_dir: str, max_s: float) -> Estimate:
    """The time of the integer kernel over that of the float one, without what lies around them in a model alone."""
    changed = as_int8(piece)
    plain = as_it_is(piece)
    first = Alone(plain.model, plain.feed, setting, os.path.join(run_dir, "plain"))
    try:
        second = Alone(changed.model, changed.feed, setting, os.path.join(run_dir, "changed"))
    except BaseException:
        first.end_profiling()
        raise
    turns = take_turns(first, second, min(max_s, 1.0) / 2)
    before = kernel_us(first.end_profiling(), turns[0], bias)
    after = kernel_us(second.end_profiling(), turns[1], bias)
    if middle_mean(before) < LEAST_US:
        raise NotAlone(f"it takes less than {LEAST_US:g} µs alone")
    return log_interval([max(b, 0.1) / a for a, b in zip(before, after, strict=True)])


def kernel_us(runs: Sequence[Run], turns: Sequence[Turn], bias: Bias) -> list[float]:
    """Per turn what the layer's own kernels took; its first runs belong to none."""
    found, at = [], 0
    for turn in turns:
        own = runs[at + turn.dropped : at + turn.dropped + len(turn.seconds)]
        at += turn.dropped + len(turn.seconds)
        found.append(middle_mean([sum(_own_us(run, bias)) for run in own]))
    return found


def _own_us(run: Run, bias: Bias) -> list[float]:
    return [max(0.0, kernel.us - kernel.calls * bias.of(3)) for kernel in run.values() if kernel.op not in _AROUND]


class _Source:
    """What the nodes of a model read while it runs."""

    def __init__(self, model: onnx.ModelProto, path: str, feed: Feed, setting: Setting) -> None:
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
        self._still = {name for (scope, name), made in flat.producer.items() if not scope and not moving[made]}
        """Tensors that nodes make of constants alone."""
        self._values: Mapping[str, Array] = {}
        self._reason = ""

    def run(self, wanted: Sequence[Placed]) -> None:
        """Run the model once, unoptimized, with what the nodes read among its outputs."""
        import onnxruntime as ort  # after the process is pinned

        made = {name for node in self._model.graph.node for name in node.output}
        names = {name for one in wanted if not one.parent for name in one.node.input if name in made}
        names -= set(self._weights)
        changed = onnx.ModelProto()
        changed.CopyFrom(self._model)
        known = {output.name for output in changed.graph.output}
        changed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - known))
        options, _ = make_options(self._setting)
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", self._home)
        try:
            session = ort.InferenceSession(changed.SerializeToString(), options, providers=["CPUExecutionProvider"])
            given = session.run(sorted(names), self._feed) if names else []
        except MemoryError:
            raise
        except Exception as error:  # an engine raises whatever it likes; every layer then has this reason
            self._reason = f"what it reads could not be had: {plain_words(str(error))[:200]}"
            return
        self._values = {**self._feed, **dict(zip(sorted(names), given, strict=True))}

    def piece(self, placed: Placed) -> Piece:
        """A node with what it reads, or NotAlone with the reason."""
        if self._reason:
            raise NotAlone(self._reason)
        if placed.parent:
            raise NotAlone("it lies in the graph of another node")
        constants: dict[str, Array] = {}
        fed: dict[str, Array] = {}
        for name in filter(None, placed.node.input):
            if name in self._weights and name not in self._feed:
                constants[name] = self._constant(self._weights[name])
            elif isinstance(self._values.get(name), np.ndarray):
                (constants if name in self._still else fed)[name] = self._values[name]
            else:
                raise NotAlone("it reads something that is no tensor")
        return Piece(placed.node, constants, fed, self._model.opset_import)

    def _constant(self, tensor: onnx.TensorProto) -> Array:
        if is_external(tensor) and not tensor.raw_data:
            loaded = onnx.TensorProto()
            loaded.CopyFrom(tensor)
            external_data_helper.load_external_data_for_tensor(loaded, self._home)
            tensor = loaded
        array: Array = numpy_helper.to_array(tensor)
        return array

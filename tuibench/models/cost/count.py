"""Entry of the package: counts the cost of a model on the shapes of one run or on inferred shapes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tuibench.core.errors import ModelError
from tuibench.core.profile import CostProfile, CountBound
from tuibench.core.text import show
from tuibench.models.cost.assembly import Setting, assemble
from tuibench.models.cost.constant import find_constants
from tuibench.models.cost.expansion import Expansion, expand
from tuibench.models.cost.known import learn_from_trace, skip_folded
from tuibench.models.cost.parameter import share_out
from tuibench.models.cost.quantized import describe_weights
from tuibench.models.cost.static import infer
from tuibench.models.cost.tensor import Shape, Tensor
from tuibench.models.cost.trace import Trace
from tuibench.models.cost.zeros import Zeros
from tuibench.models.inspection import load_graph

STATIC = "static inference"
TRACED = "one run without optimization"


@dataclass(frozen=True)
class Shapes:
    """Input shapes and the trace of a run on them; without a trace shapes are inferred, and `reason` says why."""

    inputs: Mapping[str, Shape] = field(default_factory=dict)
    batch: int | None = None
    items: int = 1
    dims: Mapping[str, int] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)
    """Values of dims by their names in the model, including the batch."""
    trace: Trace | None = None
    reason: str = ""
    bound: CountBound | None = None
    """Set if a run reached a limit."""


def open_expansion(path: str | os.PathLike[str]) -> Expansion:
    """Return a model's graph, expanded; raise ModelError for an .ort file, which has no readable graph."""
    model = load_graph(path)
    if model is None:
        what = f"{show(path)} is an .ort file: it holds no graph of nodes that could be counted"
        raise ModelError(what, "profile the .onnx file that it was made from")
    return expand(model)


def count(path: str | os.PathLike[str], shapes: Shapes | Mapping[str, Shape] | None = None) -> CostProfile:
    """Return the cost of each node of the model at `path`, without running or caching anything."""
    given = shapes if isinstance(shapes, Shapes) else Shapes(dict(shapes or {}))
    return count_expansion(open_expansion(path), Path(path), given)


def count_expansion(
    expansion: Expansion, path: Path, shapes: Shapes, clock: Callable[[], float] = time.monotonic
) -> CostProfile:
    """Return the cost profile of an expanded model."""
    sites, top = expansion.sites, expansion.top
    if shapes.trace is not None:
        if shapes.trace.is_converted:
            infer(expansion.model, sites, top, shapes.inputs, shapes.symbols)
        inputs = {name: Tensor("", shape) for name, shape in shapes.inputs.items()}
        known = learn_from_trace(sites, top, expansion.names, shapes.trace, inputs)
        origin = TRACED
    else:
        known = infer(expansion.model, sites, top, shapes.inputs, shapes.symbols)
        origin = f"{STATIC}: {shapes.reason}" if shapes.reason else STATIC
    constants = find_constants(sites, top)
    describe_weights(sites, constants)
    skip_folded(known, constants)
    zeros = Zeros(path, clock)
    holdings = share_out(sites, constants, zeros.count)
    setting = Setting(shapes.batch, shapes.items, shapes.dims, origin, zeros.notes(), expansion.bound or shapes.bound)
    return assemble(expansion, known, constants, holdings, setting)

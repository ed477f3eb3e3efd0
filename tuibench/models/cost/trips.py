"""Trip counts of subgraphs, if constants and shapes alone determine them."""

from __future__ import annotations

import onnx
from onnx import numpy_helper

from tuibench.models.cost.site import Scope, Site
from tuibench.models.graph import text

_ENDLESS = 2**31
"""Exporters write a limit above this for a loop without a limit."""


def count_trips(site: Site) -> int | None:
    """Return how often a node's subgraphs run; 1 for branches, None if only a run can show it."""
    if site.op == "If":
        return 1
    if site.op == "Loop":
        return _loop_trips(site)
    if site.op == "Scan":
        return _scan_trips(site)
    return None


def _loop_trips(site: Site) -> int | None:
    """Return the limit if the body never stops early."""
    limit = scalar(site.scope, site.inputs[0]) if site.inputs and site.inputs[0] else None
    begins = scalar(site.scope, site.inputs[1]) if len(site.inputs) > 1 and site.inputs[1] else 1
    if begins == 0 or (limit is not None and limit <= 0):
        return 0
    if limit is not None and limit > _ENDLESS:
        return None
    return limit if begins == 1 and site.inner and _goes_on(site) else None


def _goes_on(site: Site) -> bool:
    body = site.inner[0]
    if not body.graph.output:
        return False
    name = text(body.graph.output[0].name)
    passed = text(body.graph.input[1].name) if len(body.graph.input) > 1 else ""
    maker = body.makers.get(name)
    while maker is not None and maker.op == "Identity":
        name = maker.inputs[0]
        maker = body.makers.get(name)
    return name == passed or scalar(body, name) == 1


def _scan_trips(site: Site) -> int | None:
    """Return the length of the scanned axis."""
    numbers = {attribute.name: attribute for attribute in site.node.attribute}
    count = int(numbers["num_scan_inputs"].i) if "num_scan_inputs" in numbers else 0
    if not 0 < count <= len(site.inputs):
        return None
    axes = list(numbers["scan_input_axes"].ints) if "scan_input_axes" in numbers else []
    shape = site.scope.tensor(site.inputs[-count]).shape
    axis = axes[0] if axes else 0
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def scalar(scope: Scope, name: str) -> int | None:
    """Return the value of a constant with one element."""
    home = scope.home(name)
    if home is None:
        return None
    maker = home.makers.get(name)
    if maker is None:
        proto = home.weights.get(name)
    else:
        proto = next((a.t for a in maker.node.attribute if a.HasField("t")), None) if maker.op == "Constant" else None
    if proto is None or proto.data_location == onnx.TensorProto.EXTERNAL or sum(proto.dims) > 1:
        return None
    try:
        return int(numpy_helper.to_array(proto).reshape(-1)[0])
    except (ValueError, TypeError, IndexError):
        return None

"""Drift between the outputs of two models, and the reasons why they cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.model import ModelSummary, Port
from tuibench.core.reason import Drift, Reason, because

_COMPARED = ("onnx", "ort")
"""Formats that tuibench's own interpreter runs."""


def reason_against(base: ModelSummary, new: ModelSummary) -> Reason | None:
    """Return the reason why the outputs of two models cannot be compared, or None."""
    if base.reason is not None or new.reason is not None:
        return Reason("models_unread")
    if not {base.format, new.format} <= {*_COMPARED}:
        return because("drift_needs_onnx", formats=sorted({base.format, new.format} - {*_COMPARED}))
    return _differing("input", base.inputs, new.inputs) or _differing("output", base.outputs, new.outputs)


def find_drift(drifts: Sequence[Drift], base: str, new: str, batch: int | None, dims: dict[str, int]) -> Drift | None:
    """Return the drift between two models, by their checksums, at one size of the inputs."""
    found = (one for one in drifts if (one.base, one.new, one.batch, one.dims) == (base, new, batch, dims))
    return next(found, None)


def _differing(role: str, base: Sequence[Port], new: Sequence[Port]) -> Reason | None:
    left, right = ({port.name: port for port in ports} for ports in (base, new))
    if left.keys() != right.keys():
        return because("interface_names_differ", role=role, base=sorted(left), new=sorted(right))
    for name, port in left.items():
        other = right[name]
        if (port.kind, port.dtype) != (other.kind, other.dtype):
            return because("interface_types_differ", role=role, name=name, base=port.dtype, new=other.dtype)
        if not _fits(port, other):
            return because("interface_shapes_differ", role=role, name=name)
    return None


def _fits(base: Port, new: Port) -> bool:
    """Return whether two shapes agree where both are fixed."""
    if base.shape is None or new.shape is None:
        return True
    pairs = zip(base.shape, new.shape, strict=False)
    fixed = (pair for pair in pairs if isinstance(pair[0], int) and isinstance(pair[1], int))
    return len(base.shape) == len(new.shape) and all(left == right for left, right in fixed)

"""Maps each operator to its count function; an operator without one is unknown, never zero."""

from __future__ import annotations

from tuibench.core.text import show
from tuibench.models.cost.attention import ATTENTION, ATTENTION_CONTRIB
from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.element import ELEMENT, ELEMENT_CONTRIB, ELEMENT_ML, ELEMENT_NCHWC
from tuibench.models.cost.fused import FUSED, NCHWC
from tuibench.models.cost.integer import INTEGER, INTEGER_CONTRIB
from tuibench.models.cost.matrix import MATRIX
from tuibench.models.cost.recurrent import RECURRENT
from tuibench.models.graph import text
from tuibench.models.node import op_of

_CONTRIB = {**ELEMENT_CONTRIB, **FUSED, **INTEGER_CONTRIB, **ATTENTION_CONTRIB}
_OWN = {**ELEMENT, **MATRIX, **INTEGER, **RECURRENT, **ATTENTION}
_DOMAINS: dict[str, dict[str, Count]] = {
    "": _OWN,
    "ai.onnx": _OWN,
    "com.microsoft": _CONTRIB,
    # The same operators, converted by the engine to channels last.
    "com.ms.internal.nhwc": _OWN,
    "com.microsoft.nchwc": {**ELEMENT_NCHWC, **NCHWC},
    "ai.onnx.ml": ELEMENT_ML,
}


def is_counted(domain: str, name: str) -> bool:
    """Return whether an operator has a count function."""
    return name in _DOMAINS.get(domain, {})


def count_call(call: Call) -> Work:
    """Return the work of one execution of a node, or the reason why it is unknown."""
    name = text(call.node.op_type)
    count = _DOMAINS.get(text(call.node.domain), {}).get(name)
    if count is None:
        return Work(None, None, why=f"what {show(op_of(call.node), 60)} does is not known")
    try:
        return count(call)
    except Unknown as unknown:
        return Work(None, None, why=str(unknown))
    except (IndexError, ValueError, OverflowError):
        # A model can have any shape at any operator; count functions check only what they need.
        return Work(None, None, why="its shapes do not fit the operator")

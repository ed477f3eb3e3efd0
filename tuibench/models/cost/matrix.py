"""Multiply-accumulates of ONNX's own matrix operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.tensor import Shape

_SAMPLING = 8
"""Operations to interpolate one value between four pixels."""


def count_conv(call: Call, kernel: int = 1, bias: int | None = 2) -> Work:
    """Count one kernel over the channels of its group per output element; taps on padding count, as is usual."""
    weights = at_least(call.shape(kernel), 3, "the kernel")
    out = call.written()
    biased = bias is not None and call.has(bias)
    return Work(out * math.prod(weights[1:]), out if biased else 0, call.quantized)


def count_conv_transpose(call: Call) -> Work:
    """Count one kernel over the output channels of its group per input element."""
    weights = at_least(call.shape(1), 2, "the kernel")
    return Work(call.elements(0) * math.prod(weights[1:]), call.written() if call.has(2) else 0, call.quantized)


def count_deform_conv(call: Call) -> Work:
    """Count a convolution whose taps lie between pixels: each tap is first interpolated from four."""
    weights = at_least(call.shape(1), 3, "the kernel")
    out = at_least(call.out(), 3, "the output")
    taps = out[0] * call.shape(0)[1] * math.prod(out[2:]) * math.prod(weights[2:])
    return Work(math.prod(out) * math.prod(weights[1:]), _SAMPLING * taps + (math.prod(out) if call.has(3) else 0))


def count_gemm(call: Call, left: int = 0, right: int = 1, bias: int = 2) -> Work:
    """Count rows x columns x depth; the rows are the batch."""
    rows, depth = _turned(call.shape(left), call.number("transA"))
    columns = _turned(call.shape(right), call.number("transB"))[1]
    return Work(rows * columns * depth, rows * columns if call.has(bias) else 0, call.quantized)


def count_matmul(call: Call, left: int = 0, right: int = 1) -> Work:
    """Count one product per matrix of the batch; either operand may be a vector, and batches are broadcast."""
    return Work(matmul_macs(call.shape(left), call.shape(right)), 0, call.quantized)


def matmul_macs(left: Shape, right: Shape) -> int:
    """Return the multiply-accumulates of numpy's matmul."""
    if not left or not right:
        raise Unknown("one side of the product is a single number")
    rows, columns = (left[-2] if len(left) > 1 else 1), (right[-1] if len(right) > 1 else 1)
    return math.prod(broadcast(left[:-2], right[:-2])) * rows * columns * left[-1]


def broadcast(*shapes: Shape) -> Shape:
    """Return the common shape of several broadcast shapes."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    # A dim of 0 replaces 1 like any other dim.
    return tuple(next((d for d in dims if d != 1), 1) for dims in zip(*padded, strict=True))


def count_einsum(call: Call) -> Work:
    """Count operands combined one after the other; a step that sums over no label is element-wise."""
    terms, result = _parse(call.words("equation"), [len(call.shape(n)) for n in range(len(call.inputs))])
    sizes: dict[str, int] = {}
    for number, term in enumerate(terms):
        for label, size in zip(term, call.shape(number), strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    macs = element = 0
    held = set(terms[0])
    for number, term in enumerate(terms[1:], 1):
        together = held | set(term)
        needed = set(result).union(*terms[number + 1 :])
        work = math.prod(sizes[label] for label in together)
        macs, element = (macs + work, element) if together - needed else (macs, element + work)
        held = together & needed
    if len(terms) == 1:
        element = call.elements(0) if set(terms[0]) - set(result) else 0
    return Work(macs, element, call.quantized)


def _parse(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return the labels of each operand and of the result; labels of an ellipsis are numbers, counted from the last."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise Unknown("its equation does not fit its inputs")
    terms = [_labels(part, rank) for part, rank in zip(parts, ranks, strict=True)]
    if any(len(term) != rank for term, rank in zip(terms, ranks, strict=True)):
        raise Unknown("its equation does not fit the rank of its inputs")
    every = [label for term in terms for label in term]
    hidden = sorted({label for label in every if label.isdigit()}, key=int, reverse=True)
    if not arrow:
        return terms, hidden + sorted(label for label in set(every) - set(hidden) if every.count(label) == 1)
    return terms, (hidden if "..." in right else []) + [c for c in right.replace("...", "") if c in every]


def _labels(part: str, rank: int) -> list[str]:
    before, dots, after = part.partition("...")
    hidden = rank - len(before) - len(after) if dots else 0
    return [*before, *(str(n) for n in range(hidden, 0, -1)), *after]


def at_least(shape: Shape, rank: int, what: str) -> Shape:
    """Return the shape; raise Unknown if it has fewer than `rank` dims."""
    if len(shape) < rank:
        raise Unknown(f"{what} has {len(shape)} dims, not {rank}")
    return shape


def _turned(shape: Shape, transposed: int) -> tuple[int, int]:
    if len(shape) != 2:
        raise Unknown(f"a matrix has {len(shape)} dims, not 2")
    return (shape[1], shape[0]) if transposed else (shape[0], shape[1])


MATRIX: dict[str, Count] = {
    "Conv": count_conv,
    "ConvTranspose": count_conv_transpose,
    "DeformConv": count_deform_conv,
    "Gemm": count_gemm,
    "MatMul": count_matmul,
    "Einsum": count_einsum,
}

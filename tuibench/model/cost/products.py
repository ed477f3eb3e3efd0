"""Count functions of operators that multiply, and the table of all operators; others are unknown, never zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from tuibench.core.reason import Reason, because
from tuibench.model.cost.elements import ELEMENT, ELEMENT_CONTRIB, ELEMENT_ML, ELEMENT_NCHWC
from tuibench.model.cost.structure import Call, Count, Shape, Unknown, Work
from tuibench.model.graph import op_of, text

_SAMPLING = 8
"""Operations to interpolate one value between four pixels."""


def count_conv(call: Call, kernel: int = 1, bias: int | None = 2) -> Work:
    """Count one kernel over the channels of its group per output element; taps on padding count, as is usual."""
    weights = at_least(call.shape(kernel), 3, "kernel")
    out = call.written()
    biased = bias is not None and call.has(bias)
    return Work(out * math.prod(weights[1:]), out if biased else 0, call.quantized)


def count_conv_transpose(call: Call) -> Work:
    """Count one kernel over the output channels of its group per input element."""
    weights = at_least(call.shape(1), 2, "kernel")
    return Work(call.elements(0) * math.prod(weights[1:]), call.written() if call.has(2) else 0, call.quantized)


def count_deform_conv(call: Call) -> Work:
    """Count a convolution whose taps lie between pixels: each tap is first interpolated from four."""
    weights = at_least(call.shape(1), 3, "kernel")
    out = at_least(call.out(), 3, "output")
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
        raise Unknown("scalar_side")
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
        raise Unknown("equation_input_count")
    terms = [_labels(part, rank) for part, rank in zip(parts, ranks, strict=True)]
    if any(len(term) != rank for term, rank in zip(terms, ranks, strict=True)):
        raise Unknown("equation_rank")
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
        raise Unknown("too_few_dims", what=what, dims=len(shape), least=rank)
    return shape


def _turned(shape: Shape, transposed: int) -> tuple[int, int]:
    if len(shape) != 2:
        raise Unknown("no_matrix", dims=len(shape))
    return (shape[1], shape[0]) if transposed else (shape[0], shape[1])


MATRIX: dict[str, Count] = {
    "Conv": count_conv,
    "ConvTranspose": count_conv_transpose,
    "DeformConv": count_deform_conv,
    "Gemm": count_gemm,
    "MatMul": count_matmul,
    "Einsum": count_einsum,
}


_SOFTMAX = 5


def count_attention(call: Call) -> Work:
    """Count ONNX's own Attention: 3 dims with head counts as attributes, or 4 dims; past keys and values at 4 and 5."""
    query, key, value = call.shape(0), call.shape(1), call.shape(2)
    heads, rows, width = _heads(query, call.number("q_num_heads"))
    _, columns, _ = _heads(key, call.number("kv_num_heads"))
    _, _, deep = _heads(value, call.number("kv_num_heads"))
    columns += at_least(call.shape(4), 4, "past")[2] if call.has(4) else 0
    return _scores(query[0], heads, rows, columns, width, deep)


def count_packed_attention(call: Call) -> Work:
    """Count ONNX Runtime's first form, which includes the projection of the input to queries, keys and values."""
    return _project(call, call.number("num_heads"), call.shape(4) if call.has(4) else None)


def count_integer_attention(call: Call) -> Work:
    """Count the same form with an 8-bit projection; the past is input 8."""
    work = _project(call, call.number("num_heads"), call.shape(8) if call.has(8) else None)
    return Work(work.macs, work.element_flops, integer=True)


def count_multi_head(call: Call) -> Work:
    """Count attention on separate queries, keys and values, or on one input packed into five dims; past keys at 6."""
    query, heads = call.shape(0), call.number("num_heads")
    if heads <= 0:
        raise Unknown("attributes_missing", names=["num_heads"])
    batch, rows = query[0], query[1]
    if len(query) == 5:
        width = deep = query[4]
        columns = rows
    else:
        width = at_least(query, 3, "query")[2] // heads
        columns, deep = _keys(call, heads)
    if call.has(6):
        # A past with a length of its own is the start of a buffer.
        columns += _past(call, 6, is_shared=call.has(8))
    return _scores(batch, heads, rows, columns, width, deep)


def count_grouped(call: Call) -> Work:
    """Count attention with fewer key heads than query heads; the output keys show the length of the past."""
    heads, groups = call.number("num_heads"), call.number("kv_num_heads")
    if heads <= 0 or groups <= 0:
        raise Unknown("attributes_missing", names=["num_heads", "kv_num_heads"])
    query = at_least(call.shape(0), 3, "query")
    width = query[2] // (heads if call.has(1) else heads + 2 * groups)
    if len(call.outputs) > 1 and call.outputs[1] is not None:
        columns = at_least(call.out(1), 4, "keys")[2]
        # The output has more keys than the past, unless both are one buffer of the longest length.
        if call.has(3):
            _past(call, 3, is_shared=at_least(call.shape(3), 4, "past")[2] >= columns)
    else:
        columns = query[1] + (_past(call, 3) if call.has(3) else 0)
    return _scores(query[0], heads, query[1], columns, width, width)


def _past(call: Call, number: int, *, is_shared: bool = False) -> int:
    """Return the number of keys in the past."""
    if is_shared:
        raise Unknown("past_buffer_shared")
    return at_least(call.shape(number), 4, "past")[2]


def _keys(call: Call, heads: int) -> tuple[int, int]:
    """Return the number of keys and the width of a value in one head."""
    if not call.has(1):
        raise Unknown("keys_missing")
    key = call.shape(1)
    if len(key) == 5:
        return key[1], key[4]
    value = call.shape(2)
    columns = key[2] if len(key) == 4 else at_least(key, 3, "keys")[1]
    return columns, value[3] if len(value) == 4 else at_least(value, 3, "values")[2] // heads


def _project(call: Call, heads: int, past: Shape | None) -> Work:
    data, weights = at_least(call.shape(0), 3, "input"), at_least(call.shape(1), 2, "weights")
    if heads <= 0:
        raise Unknown("attributes_missing", names=["num_heads"])
    if past is not None and call.number("past_present_share_buffer"):
        raise Unknown("past_buffer_shared")
    batch, rows, depth = data[:3]
    query, _, value = call.numbers("qkv_hidden_sizes")[:3] or (weights[1] // 3,) * 3
    columns = rows + (past[3] if past is not None and len(past) == 5 else 0)
    work = _scores(batch, heads, rows, columns, query // heads, value // heads)
    projected = batch * rows * weights[1]
    return Work((work.macs or 0) + projected * depth, (work.element_flops or 0) + (projected if call.has(2) else 0))


def _heads(shape: Shape, heads: int) -> tuple[int, int, int]:
    """Return heads, rows and the width of one head."""
    if len(shape) == 4:
        return shape[1], shape[2], shape[3]
    if len(shape) != 3 or heads <= 0:
        raise Unknown("heads_unknown")
    return heads, shape[1], shape[2] // heads


def _scores(batch: int, heads: int, rows: int, columns: int, width: int, deep: int) -> Work:
    cells = batch * heads * rows * columns
    return Work(cells * (width + deep), (_SOFTMAX + 1) * cells)


ATTENTION: dict[str, Count] = {"Attention": count_attention}
ATTENTION_CONTRIB: dict[str, Count] = {
    "Attention": count_packed_attention,
    "QAttention": count_integer_attention,
    "MultiHeadAttention": count_multi_head,
    "GroupQueryAttention": count_grouped,
}


_GELU = 8
_RESCALE = 2
"""Operations that convert one sum back to 8 bits: a scale and a zero point."""
_GATES = {4: 17, 3: 14, 1: 3}
"""Operations per cell and step, by the number of gates: sums, activations and the mixing of states."""


def _plus(count: Count, more: Callable[[Call], int]) -> Count:
    """Return a count function with further element-wise operations."""

    def counted(call: Call) -> Work:
        work = count(call)
        return replace(work, element_flops=(work.element_flops or 0) + more(call))

    return counted


def _integer(count: Count, rate: int = 0, bias: int | None = None, per_input: int = 0) -> Count:
    """Return a count function of integer products, with `rate` operations per output and one for a bias."""

    def more(call: Call) -> int:
        each = rate + (bias is not None and call.has(bias))
        return (each * call.written() if each else 0) + (per_input * call.elements() if per_input else 0)

    counted = _plus(count, more)
    return lambda call: replace(counted(call), integer=True)


def _count_recurrent(call: Call, gates: int) -> Work:
    """Count two products per step and direction; sequences that end early count in full, as lengths are data."""
    data = at_least(call.shape(0), 3, "input")
    directions, width, inside = at_least(call.shape(1), 3, "weights")[:3]
    cells = at_least(call.shape(2), 3, "recurrent weights")[2]
    if width != gates * cells:
        raise Unknown("weights_misfit")
    steps = math.prod(data[:2]) * directions
    return Work(steps * width * (inside + cells), _GATES[gates] * steps * cells)


def _count_dynamic_lstm(call: Call) -> Work:
    """Count an LSTM with transposed 8-bit matrices."""
    data = at_least(call.shape(0), 3, "input")
    directions, inside, width = at_least(call.shape(1), 3, "weights")[:3]
    cells, steps = width // 4, data[0] * data[1] * directions
    return Work(steps * width * (inside + cells), _GATES[4] * steps * cells, integer=True)


def _count_matmul_nbits(call: Call) -> Work:
    """Count float products with a right operand packed in blocks, whose shape only the attributes show."""
    depth, columns = call.number("K"), call.number("N")
    if depth <= 0 or columns <= 0:
        raise Unknown("attributes_missing", names=["K", "N"])
    data = call.shape(0)
    if not data or data[-1] != depth:
        raise Unknown("depth_misfit")
    return Work(math.prod(data[:-1]) * depth * columns, _RESCALE * depth * columns)


def _count_fused_matmul(call: Call) -> Work:
    """Count a product with optionally transposed operands and batch dims; the output shows the other sizes."""
    left = call.shape(0)
    if not left:
        raise Unknown("scalar_operand")
    depth = left[-1]
    if len(left) > 1 and call.number("transA"):
        depth = left[0] if call.number("transBatchA") else left[-2]
    return Work(call.written() * depth, 0, call.quantized)


_FUSED_CONV = _plus(count_conv, lambda call: call.written() * (call.has(3) + bool(call.words("activation"))))
_INTEGER: dict[str, Count] = {
    "QLinearConv": _integer(partial(count_conv, kernel=3, bias=8), _RESCALE),
    "QLinearMatMul": _integer(partial(count_matmul, left=0, right=3), _RESCALE),
}
_OWN: dict[str, Count] = {
    **ELEMENT,
    **MATRIX,
    **ATTENTION,
    **_INTEGER,
    "ConvInteger": _integer(partial(count_conv, bias=None)),
    "MatMulInteger": _integer(count_matmul),
    "LSTM": partial(_count_recurrent, gates=4),
    "GRU": partial(_count_recurrent, gates=3),
    "RNN": partial(_count_recurrent, gates=1),
}
_CONTRIB: dict[str, Count] = {
    **ELEMENT_CONTRIB,
    **ATTENTION_CONTRIB,
    **_INTEGER,
    "FusedConv": _FUSED_CONV,
    "NhwcFusedConv": _FUSED_CONV,
    "NhwcConv": count_conv,
    "FusedGemm": _plus(count_gemm, lambda call: call.written() if call.words("activation") else 0),
    "GemmFastGelu": _plus(count_gemm, lambda call: _GELU * call.written()),
    "FusedMatMul": _count_fused_matmul,
    "TransposeMatMul": _count_fused_matmul,
    "FusedMatMulActivation": _plus(count_matmul, Call.written),
    "DynamicQuantizeMatMul": _integer(count_matmul, _RESCALE, bias=4, per_input=4),
    "MatMulIntegerToFloat": _integer(count_matmul, _RESCALE, bias=6),
    "MatMulInteger16": _integer(count_matmul),
    "QGemm": _integer(partial(count_gemm, left=0, right=3, bias=6), _RESCALE),
    "MatMulNBits": _count_matmul_nbits,
    "MatMulBnb4": _count_matmul_nbits,
    "DynamicQuantizeLSTM": _count_dynamic_lstm,
}
_DOMAINS: dict[str, dict[str, Count]] = {
    "": _OWN,
    "ai.onnx": _OWN,
    "com.microsoft": _CONTRIB,
    # The same operators, converted by the engine to channels last.
    "com.ms.internal.nhwc": _OWN,
    "com.microsoft.nchwc": {**ELEMENT_NCHWC, "Conv": _FUSED_CONV},
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
        return Work(None, None, why=because("operator_unknown", name=op_of(call.node)))
    try:
        return count(call)
    except Unknown as unknown:
        return Work(None, None, why=unknown.reason)
    except (IndexError, ValueError, OverflowError):
        # A model can have any shape at any operator; count functions check only what they need.
        return Work(None, None, why=Reason("shapes_misfit"))

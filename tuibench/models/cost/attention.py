"""Multiply-accumulates of attention: queries times keys, and scores times values; masks do not reduce the count."""

from __future__ import annotations

from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.matrix import at_least
from tuibench.models.cost.tensor import Shape

_SOFTMAX = 5
_SHARED = "past and present share one buffer, whose length does not tell how far the past reaches"


def count_attention(call: Call) -> Work:
    """Count ONNX's own Attention: 3 dims with head counts as attributes, or 4 dims; past keys and values at 4 and 5."""
    query, key, value = call.shape(0), call.shape(1), call.shape(2)
    heads, rows, width = _heads(query, call.number("q_num_heads"))
    _, columns, _ = _heads(key, call.number("kv_num_heads"))
    _, _, deep = _heads(value, call.number("kv_num_heads"))
    columns += at_least(call.shape(4), 4, "the past")[2] if call.has(4) else 0
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
        raise Unknown("its attribute num_heads is not there")
    batch, rows = query[0], query[1]
    if len(query) == 5:
        width = deep = query[4]
        columns = rows
    else:
        width = at_least(query, 3, "the query")[2] // heads
        columns, deep = _keys(call, heads)
    if call.has(6):
        # A past with a length of its own is the start of a buffer.
        columns += _past(call, 6, is_shared=call.has(8))
    return _scores(batch, heads, rows, columns, width, deep)


def count_grouped(call: Call) -> Work:
    """Count attention with fewer key heads than query heads; the output keys show the length of the past."""
    heads, groups = call.number("num_heads"), call.number("kv_num_heads")
    if heads <= 0 or groups <= 0:
        raise Unknown("its attributes num_heads and kv_num_heads are not there")
    query = at_least(call.shape(0), 3, "the query")
    width = query[2] // (heads if call.has(1) else heads + 2 * groups)
    if len(call.outputs) > 1 and call.outputs[1] is not None:
        columns = at_least(call.out(1), 4, "the keys")[2]
        # The output has more keys than the past, unless both are one buffer of the longest length.
        if call.has(3):
            _past(call, 3, is_shared=at_least(call.shape(3), 4, "the past")[2] >= columns)
    else:
        columns = query[1] + (_past(call, 3) if call.has(3) else 0)
    return _scores(query[0], heads, query[1], columns, width, width)


def _past(call: Call, number: int, *, is_shared: bool = False) -> int:
    """Return the number of keys in the past."""
    if is_shared:
        raise Unknown(_SHARED)
    return at_least(call.shape(number), 4, "the past")[2]


def _keys(call: Call, heads: int) -> tuple[int, int]:
    """Return the number of keys and the width of a value in one head."""
    if not call.has(1):
        raise Unknown("its keys are missing")
    key = call.shape(1)
    if len(key) == 5:
        return key[1], key[4]
    value = call.shape(2)
    columns = key[2] if len(key) == 4 else at_least(key, 3, "the keys")[1]
    return columns, value[3] if len(value) == 4 else at_least(value, 3, "the values")[2] // heads


def _project(call: Call, heads: int, past: Shape | None) -> Work:
    data, weights = at_least(call.shape(0), 3, "the input"), at_least(call.shape(1), 2, "the weights")
    if heads <= 0:
        raise Unknown("its attribute num_heads is not there")
    if past is not None and call.number("past_present_share_buffer"):
        raise Unknown(_SHARED)
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
        raise Unknown("its heads are not told")
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

"""Multiply-accumulates of operators that multiply integers."""

from __future__ import annotations

import math
from dataclasses import replace

from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.matrix import count_conv, count_gemm, count_matmul
from tuibench.models.cost.recurrent import count_dynamic_lstm

_RESCALE = 2
"""Operations that convert one sum back to 8 bits: a scale and a zero point."""


def count_qlinear_conv(call: Call) -> Work:
    """Count with the kernel at input 3 and the bias at 8; x, its scale and its zero point come first."""
    return _integer(count_conv(call, 3, 8), _RESCALE * call.written())


def count_conv_integer(call: Call) -> Work:
    """Count a convolution whose sums stay integers."""
    return _integer(count_conv(call, bias=None))


def count_qlinear_matmul(call: Call) -> Work:
    """Count with the operands at inputs 0 and 3."""
    return _integer(count_matmul(call, 0, 3), _RESCALE * call.written())


def count_matmul_integer(call: Call) -> Work:
    """Count with the operands at inputs 0 and 1."""
    return _integer(count_matmul(call))


def count_dynamic_matmul(call: Call) -> Work:
    """Count quantizing the left operand, the product, its conversion to floats and an optional bias."""
    bias = call.written() if call.has(4) else 0
    return _integer(count_matmul(call), 4 * call.elements(0) + _RESCALE * call.written() + bias)


def count_matmul_to_float(call: Call) -> Work:
    """Count an integer product with a float result; the bias is input 6."""
    return _integer(count_matmul(call), (_RESCALE + int(call.has(6))) * call.written())


def count_qgemm(call: Call) -> Work:
    """Count with the operands at inputs 0 and 3, the bias at 6."""
    return _integer(count_gemm(call, 0, 3, 6), _RESCALE * call.written())


def count_matmul_nbits(call: Call) -> Work:
    """Count float products with a right operand packed in blocks, whose shape only the attributes show."""
    depth, columns = call.number("K"), call.number("N")
    if depth <= 0 or columns <= 0:
        raise Unknown("its attributes K and N are not there")
    data = call.shape(0)
    if not data or data[-1] != depth:
        raise Unknown("its input does not fit its attribute K")
    rows = math.prod(data[:-1])
    return Work(rows * depth * columns, _RESCALE * depth * columns)


def _integer(work: Work, more: int = 0) -> Work:
    element = None if work.element_flops is None else work.element_flops + more
    return replace(work, element_flops=element, integer=True)


INTEGER: dict[str, Count] = {
    "QLinearConv": count_qlinear_conv,
    "ConvInteger": count_conv_integer,
    "QLinearMatMul": count_qlinear_matmul,
    "MatMulInteger": count_matmul_integer,
}
INTEGER_CONTRIB: dict[str, Count] = {
    "QLinearConv": count_qlinear_conv,
    "QLinearMatMul": count_qlinear_matmul,
    "DynamicQuantizeMatMul": count_dynamic_matmul,
    "MatMulIntegerToFloat": count_matmul_to_float,
    "MatMulInteger16": count_matmul_integer,
    "QGemm": count_qgemm,
    "MatMulNBits": count_matmul_nbits,
    "MatMulBnb4": count_matmul_nbits,
    "DynamicQuantizeLSTM": count_dynamic_lstm,
}

"""Operators into which ONNX Runtime fuses several ONNX operators, as found in models that it saved."""

from __future__ import annotations

from dataclasses import replace

from tuibench.models.cost.call import Call, Count, Unknown, Work
from tuibench.models.cost.matrix import count_conv, count_gemm, count_matmul

_GELU = 8


def count_fused_conv(call: Call) -> Work:
    """Count a convolution, an addition and an activation."""
    work, out = count_conv(call), call.written()
    return _add(work, out * (int(call.has(3)) + int(bool(call.words("activation")))))


def count_fused_gemm(call: Call) -> Work:
    """Count a product and an activation."""
    work = count_gemm(call)
    return _add(work, call.written() if call.words("activation") else 0)


def count_gelu_gemm(call: Call) -> Work:
    """Count a product and a Gelu."""
    return _add(count_gemm(call), _GELU * call.written())


def count_fused_matmul(call: Call) -> Work:
    """Count a product with optionally transposed operands and batch dims; the output shows the other sizes."""
    left = call.shape(0)
    if len(left) < 2 or not call.number("transA"):
        depth = left[-1] if left else 0
    else:
        depth = left[0] if call.number("transBatchA") else left[-2]
    if not left:
        raise Unknown("one side of the product is a single number")
    return Work(call.written() * depth, 0, call.quantized)


def count_matmul_activation(call: Call) -> Work:
    """Count a product, an addition and an activation."""
    return _add(count_matmul(call), call.written())


def _add(work: Work, more: int) -> Work:
    return replace(work, element_flops=(work.element_flops or 0) + more)


FUSED: dict[str, Count] = {
    "FusedConv": count_fused_conv,
    "NhwcFusedConv": count_fused_conv,
    "NhwcConv": count_conv,
    "FusedGemm": count_fused_gemm,
    "GemmFastGelu": count_gelu_gemm,
    "FusedMatMul": count_fused_matmul,
    "TransposeMatMul": count_fused_matmul,
    "FusedMatMulActivation": count_matmul_activation,
}
NCHWC: dict[str, Count] = {"Conv": count_fused_conv}

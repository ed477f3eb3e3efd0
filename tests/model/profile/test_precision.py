from __future__ import annotations

import pytest

from tuibench.model.profile.calibration import KernelTime
from tuibench.model.profile.layers import name_precision


def kernel(op: str, reads: str, us: float = 10.0, calls: float = 1.0) -> KernelTime:
    return KernelTime(op, us, calls, mean_calls=calls, reads=reads)


@pytest.mark.parametrize(
    ("kernels", "name"),
    [
        ([kernel("FusedConv", "float"), kernel("Cast", "float16", 99)], "f32"),
        ([kernel("MatMul", "double"), kernel("Relu", "float", 99)], "f64"),
        ([kernel("Gemm", "float16")], "f16"),
        ([kernel("QLinearConv", "uint8", 90), kernel("Gemm", "float", 10)], "int8 + f32"),
        ([kernel("QLinearConv", "uint8", 10), kernel("Gemm", "float", 90)], "f32 + int8"),
        ([kernel("DynamicQuantizeMatMul", "float")], "int8"),
        ([kernel("DynamicQuantizeLinear", "float", 90), kernel("MatMul", "float", 10)], "f32"),
        ([kernel("Relu", "double"), kernel("Gather", "int64", 99)], "f64"),
        ([kernel("Add", "int64")], "int64"),
        ([kernel("MatMul", "float"), kernel("Gemm", "double", calls=0)], "f32"),
        ([kernel("MatMul", "")], ""),
        ([], ""),
    ],
)
def test_precision_is_that_of_the_executed_products(kernels: list[KernelTime], name: str) -> None:
    assert name_precision(kernels) == name

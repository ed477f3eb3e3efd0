"""Reading of weights as files store them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.external_data_helper import set_external_data

from tests.model.factory import F32, I64
from tuibench.model.loss.layers import WeightReader

INT4, UINT4, FLOAT16 = onnx.TensorProto.INT4, onnx.TensorProto.UINT4, onnx.TensorProto.FLOAT16


@pytest.mark.parametrize(
    ("element", "data", "values"),
    [
        (INT4, b"\x21\xf3\x07", [1, 2, 3, -1, 7]),
        (UINT4, b"\x21\xf3\x07", [1, 2, 3, 15, 7]),
        (FLOAT16, np.arange(5, dtype=np.float16).tobytes(), [0, 1, 2, 3, 4]),
        (F32, np.arange(5, dtype=np.float32).tobytes(), [0, 1, 2, 3, 4]),
        (I64, np.arange(5, dtype=np.int64).tobytes(), [0, 1, 2, 3, 4]),
    ],
)
@pytest.mark.parametrize("behind", [b"", b"\x55" * 50])
def test_external_weight_without_a_length_ends_with_its_last_number(
    tmp_path: Path, element: int, data: bytes, values: list[int], behind: bytes
) -> None:
    """Later bytes belong to other weights; two 4-bit numbers share a byte."""
    (tmp_path / "data.bin").write_bytes(b"before" + data + behind)
    tensor = onnx.TensorProto(name="w", data_type=element, dims=[5], raw_data=b"-")
    set_external_data(tensor, "data.bin", offset=6)
    tensor.ClearField("raw_data")
    reader = WeightReader(tmp_path / "m.onnx")
    assert reader.raw(tensor) == data
    assert reader.tensor(tensor).astype(np.float64).tolist() == values

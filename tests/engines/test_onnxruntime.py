"""Behaviour specific to ONNX Runtime: the output buffers of timed calls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engines import make
from tests.engines.probe import setting
from tests.engines.test_contract import expect
from tuibench.engines import onnxruntime


@pytest.mark.parametrize("io", ["bound", "engine-allocated"])
def test_each_timed_call_computes_its_own_sample(tmp_path: Path, io: str) -> None:
    engine = onnxruntime.make()
    engine.start()
    case = make.mlp()
    session = engine.load(setting(case.save(tmp_path)))
    bound = session.bind(case.feeds, io)
    places = set()
    for sample, call in enumerate(bound.calls):
        call()
        written = bound.keep[0][sample].get_outputs()[0]
        np.testing.assert_allclose(written.numpy(), expect(case, sample)["y"], rtol=1e-4, atol=1e-5)
        places.add(written.data_ptr())
    assert (len(places) == 1) == (io == "bound")
    session.close()

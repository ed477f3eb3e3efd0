from __future__ import annotations

from dataclasses import replace

import pytest

from tuibench.core.profile import NodeCost, own_key

NODE = NodeCost("n", 0, "MatMul", "", macs=4000, weight_bytes=100, activation_bytes=300)


@pytest.mark.parametrize(("times", "moved"), [(1, 400), (5, 800), (None, 400)])
def test_node_in_a_loop_reads_its_constants_each_time(times: int | None, moved: int) -> None:
    assert replace(NODE, times=times).intensity == 8000 / moved


def test_node_with_unknown_or_no_traffic_has_no_intensity() -> None:
    assert replace(NODE, activation_bytes=None).intensity is None
    assert replace(NODE, macs=None).intensity is None
    assert replace(NODE, times=0, activation_bytes=0).intensity is None


def test_own_row_key_differs_from_every_name_in_the_model() -> None:
    assert own_key("residual", {"a"}) == "residual"
    assert own_key("residual", {"residual"}) == "residual (runtime)"
    assert own_key("residual", {"residual", "residual (runtime)"}) == "residual (runtime) (runtime)"

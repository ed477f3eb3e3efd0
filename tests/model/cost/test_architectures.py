"""Costs of well-known networks compared with published figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.model.architectures import bert_base, densenet121, resnet50, squeezenet, vgg19
from tests.model.cost.support import require_sums
from tuibench.model.cost.count import count, count_expansion, open_expansion
from tuibench.model.cost.executions import Shapes

PICTURE = (1, 3, 224, 224)


@pytest.mark.parametrize(
    ("build", "giga_macs", "million_parameters"),
    [
        (resnet50, 4.089, 25.53),
        (vgg19, 19.632, 143.67),
        (densenet121, 2.834, 8.05),
        (squeezenet, 0.349, 1.235),
    ],
)
def test_network_costs_match_published_figures(
    tmp_path: Path, build: Callable[[Path], str], giga_macs: float, million_parameters: float
) -> None:
    path = build(tmp_path)
    # A fixed clock removes the time limit for zeros, which a busy machine exceeds on the largest network.
    profile = count_expansion(open_expansion(path), Path(path), Shapes({"x": PICTURE}), clock=lambda: 0.0)
    assert profile.macs == pytest.approx(giga_macs * 1e9, rel=1e-3)
    assert profile.parameters == pytest.approx(million_parameters * 1e6, rel=2e-3)
    assert profile.unknown == 0
    assert profile.zeros == profile.parameters  # the file behind them is a hole
    require_sums(profile)


def test_bert_base_costs_the_sum_of_its_products(tmp_path: Path) -> None:
    profile = count(bert_base(tmp_path), {"ids": (1, 128)})
    layer = 4 * 128 * 768**2 + 2 * 128**2 * 768 + 2 * 128 * 768 * 3072
    assert profile.macs == 12 * layer + 768**2
    assert profile.macs == pytest.approx(11.174e9, rel=1e-3)


def test_costs_scale_with_the_batch(tmp_path: Path) -> None:
    path = bert_base(tmp_path)
    one, four = count(path, {"ids": (1, 32)}), count(path, {"ids": (4, 32)})
    assert four.macs == 4 * one.macs
    assert four.parameters == one.parameters
    pairs = zip(one.nodes, four.nodes, strict=True)
    assert all(b.macs == 4 * a.macs for a, b in pairs if a.macs)

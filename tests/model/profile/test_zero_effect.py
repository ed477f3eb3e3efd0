from __future__ import annotations

import pytest

from tuibench.core.cell import Estimate
from tuibench.core.reason import because
from tuibench.model.profile.roofline import cache_working_sets, describe, dram_working_set, is_decided, judge
from tuibench.model.profile.small_session import Turn


@pytest.mark.parametrize(
    ("low", "high", "exploits", "code"),
    [
        (0.15, 0.2, True, "zeros_gain"),
        (0.97, 1.02, False, "zeros_gain_nothing"),
        (0.7, 1.2, None, "zeros_unclear"),
        (None, None, None, "zeros_unclear"),
    ],
)
def test_only_a_clear_interval_decides(low: float | None, high: float | None, exploits: bool | None, code: str) -> None:
    ratio = Estimate(1.0, low, high, 5)
    said = describe("onnxruntime", ratio, judge(ratio))
    assert judge(ratio) is exploits and said.code == code
    figures = {"engine": "onnxruntime", "share": 0.9, "ratio": 1.0, "low": low, "high": high}
    assert said.fields == figures


def test_memory_working_set_exceeds_caches_within_available_memory() -> None:
    assert dram_working_set(lambda _: 32 << 20, None) == (128 << 20, None)
    reason = because("dram_of_few_bytes", mb=256, wanted_mb=2048)
    assert dram_working_set(lambda _: 512 << 20, None) == (256 << 20, reason)
    assert dram_working_set(lambda _: 0, 768 << 20)[0] == 96 << 20
    # 32 MB are the cache's own.
    assert dram_working_set(lambda _: 0, 256 << 20) == (0, because("dram_not_measured", needed_mb=512))
    assert dram_working_set(lambda _: -1, None)[0] == 128 << 20


@pytest.mark.parametrize(
    ("cores", "last", "sizes"),
    [
        (1, 32 << 20, (512 << 10, 4 << 20)),
        (2, 32 << 20, (1 << 20, 8 << 20)),
        (8, 32 << 20, (4 << 20, 16 << 20)),
        (64, 32 << 20, (32 << 20,)),
        (2, 0, (1 << 20, 8 << 20)),
        (4, 6 << 20, (2 << 20, 4 << 20)),
    ],
)
def test_cache_working_sets_fit_the_caches_of_all_cores(cores: int, last: int, sizes: tuple[int, ...]) -> None:
    assert cache_working_sets(cores, lambda _: last) == sizes


@pytest.mark.parametrize(
    ("ratios", "told"),
    [([1.0, 1.001, 0.999, 1.0, 1.0], True), ([1.0], False), ([0.7, 1.2, 0.8, 1.1, 1.3], False), ([0.2] * 5, True)],
)
def test_measurement_ends_once_turns_agree(ratios: list[float], told: bool) -> None:
    dense = [Turn(2, (1.0, 1.0, 1.0)) for _ in ratios]
    assert is_decided(dense, [Turn(2, (ratio,) * 3) for ratio in ratios]) is told

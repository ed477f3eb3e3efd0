from __future__ import annotations

import pytest

from tuibench.core.profile import Roofline
from tuibench.insight.roof import least_ms

ROOFS = Roofline(1, 100.0, 400.0, 10.0, ((1 << 19, 200.0), (1 << 22, 50.0)))


@pytest.mark.parametrize(
    ("flops", "moved", "integer", "ms", "roof"),
    [
        (10**9, 1000, False, 10.0, "f32"),
        (10**9, 1000, True, 2.5, "int8"),
        (0, 400_000, False, 0.002, "cache"),
        (0, 2_000_000, False, 0.04, "cache"),
        (0, 50_000_000, False, 5.0, "DRAM"),
        (10**9, None, False, None, ""),
        (None, 50_000_000, False, None, ""),
        (0, 0, False, None, ""),
    ],
)
def test_the_slower_of_products_and_bytes_binds(
    flops: int | None, moved: int | None, integer: bool, ms: float | None, roof: str
) -> None:
    found = least_ms(flops, moved, integer, ROOFS)
    assert found == ((pytest.approx(ms) if ms is not None else None), roof)


def test_a_roof_that_was_not_measured_binds_nothing() -> None:
    assert least_ms(10**9, 1000, True, Roofline(1, 100.0, None, None)) == (None, "")
    # The one that is known would be called what binds the layer, whatever does.
    assert least_ms(10**9, 1000, True, Roofline(1, 100.0, None, 10.0)) == (None, "")
    assert least_ms(10**9, 1000, False, Roofline(1, 100.0, None, None)) == (None, "")

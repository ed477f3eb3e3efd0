from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present.profile.sample_data import QUIET, make_performance
from tuibench.core.profile import Roofline
from tuibench.core.profile_facts import least_ms
from tuibench.core.reason import because, legacy_text
from tuibench.present.profile.machine import machine_cautions, roof_lines
from tuibench.present.profile.summary import cautions

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
def test_slower_of_products_and_bytes_is_the_limit(
    flops: int | None, moved: int | None, integer: bool, ms: float | None, roof: str
) -> None:
    *found, reason = least_ms(flops, moved, integer, ROOFS)
    assert found == [(pytest.approx(ms) if ms is not None else None), roof]
    assert bool(reason) is (flops is None or moved is None)


@pytest.mark.parametrize(
    ("integer", "roofs", "missing"),
    [
        (True, Roofline(1, 100.0, None, None), ["int8", "DRAM"]),
        # A single known roof would always be named as the limit.
        (True, Roofline(1, 100.0, None, 10.0), ["int8"]),
        (False, Roofline(1, 100.0, None, None), ["DRAM"]),
        (False, Roofline(1, 100.0, None, None, ((1 << 19, 200.0),)), []),
    ],
)
def test_unmeasured_roof_limits_nothing(integer: bool, roofs: Roofline, missing: list[str]) -> None:
    value, roof, reason = least_ms(10**9, 1000, integer, roofs)
    assert (value is None) is bool(missing)
    assert reason == (because("roofs_not_measured", names=missing) if missing else None)
    assert roof == ("" if missing else "f32")


def test_unmeasured_precision_has_no_peak_and_pure_bytes_need_none() -> None:
    assert least_ms(10**9, 1000, False, ROOFS, "f64") == (
        None,
        "",
        because("no_peak_of_precision", precision="f64"),
    )
    value, roof, reason = least_ms(0, 400_000, False, ROOFS, "f64")
    assert (value, roof, reason) == (0.002, "cache", None)


def test_roofs_show_their_date_quality_and_missing_parts() -> None:
    roofs = replace(
        ROOFS, int8_gops=None, measured_utc="2026-11-18T21:04:05Z", reason=legacy_text("no kernel"), grade=QUIET
    )
    peaks, measured, missing, reason = roof_lines(roofs)
    assert peaks == "f32 100 GFLOP/s, up to 524 kB 200 GB/s, up to 4.19 MB 50.0 GB/s, DRAM 10.0 GB/s"
    assert measured == "measured 2026-11-18 21:04 UTC, grade A"
    assert (missing, reason) == ("not known: int8", "no kernel")
    assert roof_lines(Roofline(1, None, None, None))[:2] == (
        "none could be measured",
        "measured at an unknown time, not graded",
    )


@pytest.mark.parametrize(("letter", "said"), [("A", 0), ("B", 0), ("C", 2), ("D", 2)])
def test_roofs_measured_under_load_have_a_warning(letter: str, said: int) -> None:
    grade = replace(QUIET, letter=letter, cause=legacy_text("others were at work"))
    profile = make_performance()
    assert profile.roofline is not None and profile.zero_effect is not None
    profile = replace(
        profile, roofline=replace(profile.roofline, grade=grade), zero_effect=replace(profile.zero_effect, grade=grade)
    )
    found = list(machine_cautions(profile))
    assert len(found) == said and all(text in cautions(profile) for text in found)
    assert all("others were at work" in text and "next profile" in text for text in found)
    assert list(machine_cautions(replace(profile, roofline=None, zero_effect=None))) == []

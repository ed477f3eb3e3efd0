from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from tests.present import build
from tuibench.core.cell import Estimate
from tuibench.core.label import CellName
from tuibench.core.reason import because, legacy_text
from tuibench.core.result import CellPair, Figure, SideBySide
from tuibench.core.text import show, width_of
from tuibench.present.side_by_side import document, dumps, side_by_side

OLD_ID, NEW_ID = "01J0000000000000000000K3F9", "01J000000000000000000077ZZ"
COMPARISON = build.comparison(
    "a", "b", "p50 latency", 0.9, 0.85, 0.95, 4, False, None, "measured at different times", "said"
)


def figure(value: float | None = 1.92, half: float | None = 0.007, grade: str = "A", status: str = "ok") -> Figure:
    estimate = (
        Estimate(value, reason=legacy_text("few")) if value is None or half is None else build.estimate(value, half)
    )
    return Figure("0" * 12, estimate, grade, status)


def named(model: str = "", axes: tuple[str, ...] = ("model",), **settings: Any) -> CellName:
    return CellName(build.asked(**settings), axes, model, None)


NAME = named()


def pair(name: CellName = NAME, **changes: Any) -> CellPair:
    base = CellPair(name, (), "ms", figure(), figure(1.73), COMPARISON)
    return replace(base, **changes)


def side(*pairs: CellPair, **changes: Any) -> SideBySide:
    return replace(SideBySide(OLD_ID, NEW_ID, pairs, (), (), ()), **changes)


def test_pair_is_a_row_of_both_figures_and_the_ratio() -> None:
    found = side(
        pair(named(cores=1, batch=None)), pair(named(batch=None), unit="items/s", old=figure(1011.2, 0.014, "B"))
    )
    assert _stripped(found) == [
        "old k3f9 new 77zz ratio",
        "sync, 1 core 1.92 ms ±0.7 % A 1.73 ms ±0.7 % A 0.900 (0.850 to 0.950)",
        "sync, 2 cores 1011/s ±1.4 % B 1.73/s ±0.7 % A 0.900 (0.850 to 0.950)",
        "Ratio: new / old in time (below 1 is faster), measured at different times.",
        "Environment: nothing that matters for speed is known to differ.",
    ]


def _stripped(found: SideBySide) -> list[str]:
    return [" ".join(line.split()) for line in side_by_side(found).splitlines()]


def test_long_settings_are_above_their_figures() -> None:
    text = side_by_side(side(pair(named(axes=("engine",))))).splitlines()
    assert text[1] == "onnxruntime, sync, 2 cores, batch 1"
    assert text[2].split() == [
        "1.92",
        "ms",
        "±0.7",
        "%",
        "A",
        "1.73",
        "ms",
        "±0.7",
        "%",
        "A",
        "0.900",
        "(0.850",
        "to",
        "0.950)",
    ]
    wide = side_by_side(side(pair(named(axes=("engine",)))), width=120).splitlines()
    assert wide[1].startswith("onnxruntime, sync, 2 cores, batch 1  1.92 ms")


@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("width", [80, 120])
def test_rows_with_long_names_fit_the_width(count: int, width: int) -> None:
    pairs = [pair(named(f"{'n' * (n * 7 % 300)} cell {n}"), old=figure(0.001234 * 10 ** (n % 9))) for n in range(count)]
    lines = side_by_side(side(*pairs), width).splitlines()
    rows = lines[: lines.index(next(line for line in lines if line.startswith("Ratio:")))]
    assert sum("0.900 (" in line for line in rows) == count
    assert max(map(width_of, rows)) <= width


def test_operand_without_numbers_shows_status_and_one_reason() -> None:
    gone = pair(
        new=figure(None, None, "", "failed"),
        comparison=None,
        reason=because("operand_failed", name="77zz", why="died by SIGSEGV in load"),
    )
    text = side_by_side(side(pair(), gone, gone))
    assert text.count("died by SIGSEGV") == 1
    assert "77zz: died by SIGSEGV in load (2 of 3 cells)" in text
    row = side_by_side(side(gone)).splitlines()
    assert any(line.split()[-2:] == ["failed", "-"] for line in row)
    assert not any(line.startswith("Ratio") for line in row)


def test_missing_interval_and_differences_are_reported() -> None:
    bare = replace(COMPARISON, verdict=replace(COMPARISON.verdict, low=None, high=None))
    found = pair(old=figure(half=None, grade=""), comparison=bare, reason=because("no_executions_kept", tool="tool"),
                 bars=(because("settings_differ", name="engine", base="a", new="b"),))  # fmt: skip
    text = side_by_side(side(found)).splitlines()
    assert any(" ".join(line.split()).endswith("1.92 ms 1.73 ms ±0.7 % A 0.900") for line in text)
    assert "no interval: tool saves no executions" in text
    assert "Not the same: engine: a against b" in text


def test_unmatched_cells_and_environments_are_named() -> None:
    found = side(
        old_only=("sync, 1 core",),
        new_only=("sync, 8 cores",),
        environment=(because("changed", name="kernel", old="1", new="2"),),
    )
    assert side_by_side(found).splitlines() == [
        "No matching cells: nothing to compare.",
        "Only in k3f9: sync, 1 core",
        "Only in 77zz: sync, 8 cores",
        "Environment: kernel: 1 → 2",
    ]


def test_ascii_output_is_ascii_and_foreign_text_is_escaped() -> None:
    hostile = build.HOSTILE + "\x9b2J" + "x" * 1000
    found = side(
        pair(named(hostile), reason=legacy_text(hostile), bars=(legacy_text(hostile),),
             old=figure(None, None, hostile, hostile)),
        old_id=hostile, new_id=hostile, old_only=(hostile,), new_only=(hostile,), environment=(legacy_text(hostile),),
    )  # fmt: skip
    for line in side_by_side(found).splitlines():
        assert show(line, 10_000) == line
    assert side_by_side(found, ascii_only=True).isascii()
    assert dumps(found).isascii()


def test_json_is_complete_with_finite_numbers_only() -> None:
    loaded = json.loads(dumps(side(pair(), environment=(legacy_text("x"),))))
    assert loaded == document(side(pair(), environment=(legacy_text("x"),)))
    assert (loaded["schema"], loaded["old_id"], loaded["reasons"]) == (1, OLD_ID, {})
    assert loaded["pairs"][0]["comparison"]["ratio"] == 0.9
    broken = document(side(pair(comparison=replace(COMPARISON, verdict=replace(COMPARISON.verdict, ratio=math.nan)))))
    assert broken["pairs"][0]["comparison"]["ratio"] is None
    assert broken["reasons"] == {"pairs[0].comparison.ratio": "not finite: nan"}

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.insight.stock import make_profile
from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.trash import NEWER
from tuibench.runs.profile_result import profile_headline
from tuibench.tui.screens.best import best_of, engine_word, half_of, order_of

ROW = BenchmarkRow(
    id="01", host="", started_utc="", status="finished", models="m.onnx", model_sha256="", engines="onnxruntime",
    scenarios="sync", cores="1,16", batches="1", cells=15, measured=15, headline="", grade="A", foreign="",
)  # fmt: skip
SYNC = "1.92 ms ±0.7 % (sync, 16 cores, batch 1)"
STREAMS = "4310 items/s ±1.4 % (async, 16 cores, batch 8, 4 streams)"


@pytest.mark.parametrize(
    ("headline", "text", "half"),
    [
        (f"{SYNC} · grade A", "1.92 ms @16×1", "0.7"),
        (f"{STREAMS} · grade B", "4310 /s @16×8", "1.4"),
        (f"{SYNC} · {STREAMS} · grade A", "1.92 ms @16×1 · 4310 /s", "0.7"),
        (f"{SYNC} · grade A · outputs differ", "outputs differ · 1.92 ms @16×1", "0.7"),
        ("85.0 µs (sync, 1 core, batch 1) · grade A", "85.0 µs @1×1", ""),
        ("1.02 s (sync, 1 core, batch 1)", "1.02 s @1×1", ""),
        ("85.0 µs (sync, 2 cores, batch 8, seq=128, past=0, int8)", "85.0 µs @2×8 seq=128 past=0", ""),
        ("died by SIGSEGV in load: boom (and 2 more)", "died by SIGSEGV in load: boom", ""),
        (
            f"{SYNC} · openvino is faster than onnxruntime: 15 % less time (−16 to −14 %); ratio 0.85 [0.8, 0.9]",
            "ov faster: 15 % less time", "0.7",
        ),
        (
            f"{SYNC} · openvino and onnxruntime are equivalent within 2 % in time (0 to 1 %); ratio 1 [1, 1]",
            "ov, ort equivalent (±2 %)", "0.7",
        ),
        (f"{SYNC} · undecided: a may differ from b by −1 to 4 % in time", "undecided", "0.7"),
    ],
)  # fmt: skip
def test_the_number_of_a_headline(headline: str, text: str, half: str) -> None:
    best = best_of(replace(ROW, headline=headline))
    assert (best.text, best.plus_minus) == (text, half)
    assert best.differs == ("outputs differ" in headline)


def test_one_cell_needs_no_place() -> None:
    assert best_of(replace(ROW, cores="16", headline=SYNC)).text == "1.92 ms"


def test_what_did_not_go_to_its_end_says_so_first() -> None:
    row = replace(ROW, status="interrupted", measured=3, headline=f"{SYNC} · grade A · interrupted")
    assert best_of(row).text == "interrupted 3/15 · 1.92 ms @16×1"
    lacking = replace(ROW, measured=11, headline=f"{SYNC} · grade A · 1 of 15 cells failed · 3 of 15 cells skipped")
    assert best_of(lacking).text == "1.92 ms @16×1 · 1 of 15 cells failed · 3 of 15 cells skipped"


def test_records_that_cannot_be_read_are_said_to_be() -> None:
    assert "cannot be read" in best_of(replace(ROW, status=DAMAGED)).text
    assert "newer" in best_of(replace(ROW, status=NEWER, headline=SYNC)).text


def test_numbers_are_sorted_by_what_they_mean() -> None:
    said = ("died in load", "500 items/s (async)", "2.00 s (sync)", "900 items/s", "90.0 µs (sync)", "1.1 ms", "x ms")
    wanted = ["90.0 µs (sync)", "1.1 ms", "2.00 s (sync)", "900 items/s", "500 items/s (async)", "died in load", "x ms"]
    assert sorted(said, key=lambda headline: order_of(replace(ROW, headline=headline))) == wanted


def test_intervals_are_sorted_by_their_width() -> None:
    assert half_of(replace(ROW, headline=SYNC)) == 0.7
    for headline in ("1.92 ms (sync)", "", "1.92 ms ±? %"):
        assert half_of(replace(ROW, headline=headline)) == math.inf


def test_engines_in_a_narrow_column() -> None:
    assert engine_word("onnxruntime,openvino,tract") == "ort|ov|tract"


def test_the_time_of_a_profile_is_read_as_it_is_written() -> None:
    row = replace(ROW, headline=profile_headline(make_profile()))
    assert best_of(row).text == "4.76 ms" and best_of(row).plus_minus == "1.0"
    assert order_of(row) == (0, 4.76) and half_of(row) == 1.0

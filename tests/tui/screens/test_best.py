from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.present.profile.sample_data import make_profile
from tuibench.core.headline import Headline, HeadlineNumber, to_facts
from tuibench.core.reason import Failure, Verdict, error_text
from tuibench.core.result_headline import profile_headline
from tuibench.core.scenario import LATENCY, THROUGHPUT
from tuibench.core.stored import DAMAGED, NEWER, BenchmarkRow
from tuibench.tui.screens.benchmark.rows import best_of, half_of, order_of

ROW = BenchmarkRow(
    id="01", host="", started_utc="", status="finished", models="m.onnx", model_sha256="", engines="onnxruntime",
    scenarios="sync", cores="1,16", batches="1", cells=15, measured=15, grade="A", foreign="",
)  # fmt: skip
SYNC = HeadlineNumber(LATENCY, 1.92, 0.007, scenario="sync", cores=16, batch=1)
STREAMS = HeadlineNumber(THROUGHPUT, 4310.0, 0.014, scenario="async", cores=16, batch=8, streams=4)
FASTER = Verdict("faster", 0.85, 0.84, 0.86, 5, "onnxruntime", "openvino")


def row_of(*numbers: HeadlineNumber, **facts: Any) -> BenchmarkRow:
    headline = Headline(numbers, **{"varied": ("cores", "batch"), "cells": 15, **facts})
    return replace(ROW, status=headline.status, facts=to_facts(headline))


@pytest.mark.parametrize(
    ("row", "text", "half"),
    [
        (row_of(SYNC), "1.92 ms @16×1", "0.7"),
        (row_of(STREAMS), "4310 /s @16×8", "1.4"),
        (row_of(STREAMS, varied=()), "4310 /s", "1.4"),
        (row_of(SYNC, STREAMS), "1.92 ms @16×1 · 4310 /s", "0.7"),
        (row_of(SYNC, differs=True), "outputs differ · 1.92 ms @16×1", "0.7"),
        (row_of(replace(SYNC, value=0.085, half_width=None, cores=1)), "85.0 µs @1×1", ""),
        (row_of(replace(SYNC, value=1020.0, half_width=None, cores=1)), "1020 ms @1×1", ""),
        (row_of(replace(SYNC, dims={"seq": 128, "past": 0})), "1.92 ms @16×1 seq=128 past=0", "0.7"),
        (
            row_of(failure=Failure("signal", "load", error_text("boom"), "SIGSEGV"), more_failures=2),
            "died by SIGSEGV in load: boom", "",
        ),
        (row_of(SYNC, verdict=FASTER), "ov faster: 15 % less time", "0.7"),
        (row_of(SYNC, verdict=replace(FASTER, kind="equivalent")), "ov, ort equivalent (±2 %)", "0.7"),
        (row_of(SYNC, verdict=replace(FASTER, kind="undecided")), "undecided", "0.7"),
        (row_of(SYNC, verdict=replace(FASTER, kind=None)), "1.92 ms @16×1", "0.7"),
    ],
)  # fmt: skip
def test_best_shows_headline_number(row: BenchmarkRow, text: str, half: str) -> None:
    best = best_of(row)
    assert (best.text, best.plus_minus) == (text, half)
    assert best.differs == ("differ" in text)


def test_best_incomplete_run_shows_state_first() -> None:
    row = replace(row_of(SYNC, status="interrupted"), measured=3)
    assert best_of(row).text.split(" · ")[0].split() == ["interrupted", "3/15"]
    lacking = replace(row_of(SYNC, missing={"failed": 1, "skipped": 3}), measured=11)
    number, *missing = best_of(lacking).text.split(" · ")
    assert number == best_of(row_of(SYNC)).text and [words.split()[0] for words in missing] == ["1", "3"]


def test_best_unreadable_record_says_so() -> None:
    assert "cannot" in best_of(replace(ROW, status=DAMAGED)).text
    assert "newer" in best_of(replace(row_of(SYNC), status=NEWER)).text


def test_best_older_version_row_shows_sentence_and_sorts_last() -> None:
    told = replace(ROW, headline="0.01 ms ±0.7 % (sync, 16 cores, batch 1) · grade A")
    assert best_of(told).text == told.headline
    assert order_of(told) > order_of(row_of(SYNC)) and half_of(told) == math.inf


def test_best_numbers_sort_by_metric_direction() -> None:
    times = [row_of(replace(SYNC, value=value)) for value in (0.09, 1.1, 2000.0)]
    rates = [row_of(replace(STREAMS, value=value)) for value in (900.0, 500.0)]
    failed = row_of(failure=Failure("exception", "load", error_text("x")))
    wanted = [*times, *rates, failed]
    assert sorted([failed, *reversed(rates), *reversed(times)], key=order_of) == wanted


def test_intervals_sort_by_width() -> None:
    assert half_of(row_of(SYNC)) == 0.007
    for row in (row_of(replace(SYNC, half_width=None)), row_of()):
        assert half_of(row) == math.inf


def test_profile_row_shows_its_time() -> None:
    row = replace(ROW, facts=to_facts(profile_headline(make_profile())))
    assert best_of(row).text == "4.76 ms" and best_of(row).plus_minus == "1.0"
    kind, value = order_of(row)
    assert kind == 0 and round(value, 2) == 4.76 and round(half_of(row), 3) == 0.01

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.present.build import HEADLINE, HOSTILE, default_run
from tuibench.core import text
from tuibench.core import text as width
from tuibench.core.headline import Headline, HeadlineNumber, to_facts
from tuibench.core.ids import make_ulid
from tuibench.core.reason import Failure, error_text
from tuibench.core.result_headline import headline_of
from tuibench.core.scenario import LATENCY
from tuibench.core.stored import BenchmarkRow
from tuibench.core.text import show, width_of
from tuibench.present.listing import headline_words, hidden_words, listing, rows_json

DEFAULT = headline_of(default_run())
FACTS = to_facts(DEFAULT)
SYNC = HeadlineNumber(LATENCY, 4.45, 0.01, scenario="sync", cores=1, batch=1)
DIED = Headline(failure=Failure("signal", "load", error_text("the worker died"), "SIGSEGV"), cells=1)
NOW = 1_767_323_045.0
"""2026-01-02T03:04:05Z."""


def row(number: int = 0, **changes: Any) -> BenchmarkRow:
    base: dict[str, Any] = {
        "id": make_ulid(1_767_000_000_000 + number, number.to_bytes(10, "big")), "host": "ab" * 8,
        "started_utc": "2026-01-02T00:00:00Z", "status": "finished", "models": "resnet50.onnx",
        "model_sha256": "cd" * 32, "engines": "onnxruntime", "scenarios": "async,sync", "cores": "1,2",
        "batches": "1,8", "cells": 4, "measured": 4, "facts": FACTS, "grade": "A", "foreign": "",
    }  # fmt: skip
    return BenchmarkRow(**{**base, **changes})


def test_eighty_columns_show_id_age_name_result_and_grade() -> None:
    assert listing([row(1), row(2, name="mine")], NOW).splitlines() == [
        "id    age  name           result                                grade",
        "0001   3h  resnet50.onnx  1.92 ms ±0.7 % · 1011 items/s ±1.4 %  A",
        "0002   3h  mine           1.92 ms ±0.7 % · 1011 items/s ±1.4 %  A",
    ]


def test_wider_list_shows_more_and_unlimited_shows_everything() -> None:
    wide = listing([row()], NOW, width=120).splitlines()[0].split()
    assert wide == ["id", "age", "name", "engine", "scenario", "cores", "batch", "cells", "result", "grade"]
    between = listing([row()], NOW, width=95).splitlines()[0].split()
    assert between == ["id", "age", "name", "engine", "scenario", "result", "grade"]
    long = row(name="n" * 150)
    assert "n" * 150 in listing([long], NOW, width=None)
    assert "n" * 150 not in listing([long], NOW, width=200)


def test_list_of_failed_results_only_has_a_line_for_each() -> None:
    failed = [row(number, measured=0, facts=to_facts(DIED)) for number in (1, 2)]
    assert len(listing(failed, NOW).splitlines()) == 3


def test_interrupted_run_has_its_status_in_front() -> None:
    assert headline_words(row(status="cancelled", facts=to_facts(replace(DEFAULT, status="cancelled")))) == (
        "cancelled · 1.92 ms ±0.7 % · 1011 items/s ±1.4 %"
    )
    assert headline_words(row(status="damaged", facts={})) == "damaged"
    assert headline_words(row(facts=to_facts(DIED))) == ("died by SIGSEGV in load: the worker died")
    assert " 2/4 " in listing([row(measured=2)], NOW, width=120)


def test_one_wide_row_takes_no_columns_from_the_others() -> None:
    tool = "deepsparse.benchmark 1.8.0"
    other = Headline((replace(SYNC, value=4.03, half_width=None),), tool=tool)
    part = Headline((replace(SYNC, value=0.3, half_width=None),), missing={"partial": 3}, cells=3, status="cancelled")
    rows = [
        row(0, facts=to_facts(Headline((SYNC,), grade="A")), scenarios="sync", cores="1"),
        row(1, facts=to_facts(other), foreign=tool, grade="", models="m"),
        row(2, facts=to_facts(part), status="cancelled", models="m"),
        row(3, facts=to_facts(DIED), measured=0, cells=1, grade="", models="m"),
    ]
    head, *lines = listing(rows, NOW).splitlines()
    assert head.split()[:5] == ["id", "age", "name", "engine", "scenario"] and head.split()[-2:] == ["result", "grade"]
    assert [line.split("  ")[-1].strip() for line in lines] == ["A", "foreign", "A", "-"]
    assert all(width_of(line) <= 80 for line in lines)
    assert " 4.03 ms  " in lines[1] and "deepsparse" not in lines[1]
    assert " cancelled · 0.300 ms  " in lines[2]
    assert " died by SIGSEGV in…  " in lines[3]
    lost = replace(part, missing={"failed": 1, "skipped": 1})
    assert headline_words(row(facts=to_facts(lost))) == "cancelled · 0.300 ms · 1 of 3 cells failed"


def test_row_of_an_older_version_shows_its_sentence() -> None:
    assert headline_words(row(facts={}, headline=HEADLINE)) == HEADLINE


def test_newest_thirty_are_shown_and_the_rest_is_counted() -> None:
    rows = [row(n) for n in range(100)]
    assert len(listing(rows, NOW).splitlines()) == 31
    assert listing(rows, NOW).splitlines()[1].startswith("0000")
    assert hidden_words(100) == "and 70 older benchmarks (-n 100 or --all)"
    assert len(listing(rows, NOW, limit=2).splitlines()) == 3
    assert hidden_words(31) == "and 1 older benchmark (-n 31 or --all)"
    assert (hidden_words(30), hidden_words(100, None)) == ("", "")
    assert len(listing(rows, NOW, limit=None).splitlines()) == 101


def test_empty_store_shows_how_to_begin() -> None:
    assert listing([], NOW) == ""
    assert "tuibench benchmark MODEL" in hidden_words(0)


def test_short_ids_are_unique_among_hidden_rows_too() -> None:
    first, second = row(id="01J0000000000000000000K3F9"), row(id="01J0000000000000000001K3F9")
    assert listing([first, second], NOW, limit=1).splitlines()[1].startswith("0k3f9 ")


@pytest.mark.parametrize("width", [80, 120, None])
def test_hostile_names_stay_in_their_line_and_width(width: int | None) -> None:
    hostile = HOSTILE + "\x9b2J\x85" + "宽" * 1000
    names = ("status", "models", "engines", "scenarios", "cores", "batches", "headline", "grade", "name")
    changes: dict[str, Any] = dict.fromkeys(names, hostile)
    strange = row(**changes, facts={}, started_utc=hostile)
    lines = listing([strange, row(models=hostile, facts={}, headline="x" * 1000), row()], NOW, width=width).splitlines()
    assert len(lines) == 4
    for line in lines:
        assert show(line, 100_000) == line
        assert width is None or width_of(line) <= width
    assert listing([strange], NOW, ascii_only=True).isascii()


def test_json_holds_the_stored_data_with_the_short_id() -> None:
    rows = [row(1), row(2, name=HOSTILE)]
    printed = rows_json(rows)
    loaded = json.loads(printed)
    assert printed.isascii() and "\x1b" not in printed
    assert (loaded["schema"], loaded["total"]) == (1, 2)
    assert loaded["benchmarks"] == [
        {"short": f"000{n}", **asdict(one), "headline": HEADLINE} for n, one in enumerate(rows, 1)
    ]
    assert len(json.loads(rows_json(rows, 1))["benchmarks"]) == 1
    assert json.loads(rows_json([]))["benchmarks"] == []


def test_ten_thousand_rows_are_checked_as_whole_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count calls instead of time: whole strings are checked and measured; only unusual text letter by letter."""
    calls = 0

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def count(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            return original(*arguments)

        return count

    monkeypatch.setattr(text, "_visible", counted(text._visible))
    monkeypatch.setattr(width, "_columns", counted(width._columns))
    rows = [row(n, name="näme ±µ·" if n % 2 else "") for n in range(10_000)]
    assert len(listing(rows, NOW, limit=None, width=None).splitlines()) == 10_001
    assert calls == 0

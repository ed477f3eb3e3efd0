from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present import build
from tuibench.core.result import RunResult
from tuibench.core.text import show
from tuibench.present.csv_export import COLUMNS, dumps, safe_text

FORMULA = set("=+-@\t\r＝＋－＠")


def rows(run: RunResult) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(dumps(run), newline="")))


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_csv_has_a_row_per_cell_including_failed_ones() -> None:
    found = rows(build.sweep_run())
    assert tuple(found[0]) == COLUMNS and COLUMNS[-2:] == ("measured_by", "supported")
    assert len(found) == len(build.sweep_run().cells)
    assert found[0]["items_per_sec"] == "511.9876" and found[0]["mean_ms"] == "1.9500"
    assert (found[0]["p50_ms"], found[0]["engine"], found[0]["num_cores"]) == ("16.2000", "onnxruntime", "1")
    assert (found[3]["status"], found[3]["items_per_sec"]) == ("failed", "")
    assert found[3]["failure"] == "died by SIGSEGV in load: the worker died"
    assert (found[9]["p50_ms"], found[9]["p50_low_ms"], found[9]["p99_9_ms"]) == ("2.0000", "", "")
    lone = "p50, p90, p95, p99, items/s: 1 of at least 3 executions; p99.9: needs 10000 iterations, there are 500"
    assert (found[9]["missing"], found[0]["missing"], found[3]["missing"]) == (lone, "", "")
    assert (found[0]["warmups_not_settled"], found[3]["warmups_not_settled"]) == ("0", "0")


@pytest.mark.parametrize("run", [build.sweep_run(), build.hostile_run()])
def test_no_csv_cell_starts_a_formula(run: RunResult) -> None:
    for row in rows(run):
        for text in row.values():
            assert is_number(text) or not set(text.lstrip()[:1]) & FORMULA
            assert show(text, 100_000) == text


def test_csv_names_keep_their_meaning() -> None:
    hostile = rows(build.hostile_run())[0]
    assert hostile["model"].startswith("'=cmd|")
    assert hostile["dims"].startswith("'=cmd|")
    assert rows(build.hostile_run())[2]["dims"] == "a,b=8"


@given(st.text(max_size=30))
def test_text_never_becomes_a_formula(text: str) -> None:
    safe = safe_text(text)
    assert not set(safe.lstrip()[:1]) & FORMULA
    assert "\n" not in safe and "\x1b" not in safe


def test_negative_numbers_stay_numbers() -> None:
    cell = build.ok_cell(load_ms=-1.5)
    assert rows(build.run(cell))[0]["load_ms"] == "-1.5000"

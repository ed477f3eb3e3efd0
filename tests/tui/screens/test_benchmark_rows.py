from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.store.build import NOW
from tests.tui.sample_data import make_going, make_id
from tests.tui.screens.test_best import ROW, SYNC, row_of
from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.reason import legacy_text
from tuibench.tui.screens.benchmark.rows import SORTS, BenchmarkRows, run_words, sizes_word
from tuibench.tui.widgets.painted import ASCII, UNICODE

INFO = make_going("")[0].info


def test_active_runs_come_first_in_every_order() -> None:
    rows = [replace(ROW, id=make_id(n, 60.0 * n), name=name) for n, name in ((1, "b"), (2, "a"))]
    going = make_going("")
    shown = BenchmarkRows(rows, going)
    runs = tuple(run.info.id for run in going)
    for sort in SORTS:
        for is_reversed in (False, True):
            assert shown.keys(sort, is_reversed, "")[:2] == runs
    assert shown.keys("name", False, "")[2:] == (rows[1].id, rows[0].id)


def test_run_stored_during_update_appears_once() -> None:
    going = make_going("")[0]
    shown = BenchmarkRows([replace(ROW, id=going.info.id)], [going])
    assert shown.keys("age", False, "") == (going.info.id,) and len(shown) == 1


def test_core_counts_sort_numerically() -> None:
    rows = [replace(ROW, id=f"{n}", cores=cores) for n, cores in enumerate(("16", "2", "1,16", "1,2"))]
    assert BenchmarkRows(rows).keys("cores", False, "") == ("3", "2", "1", "0")


def test_filter_words_match_every_row_field() -> None:
    rows = [
        replace(ROW, id="01AAAA", name="Cold Room", note="after the fix"),
        replace(
            ROW, id="01BBBB", engines="openvino", facts=row_of(replace(SYNC, value=2.0)).facts, foreign="deepsparse"
        ),
    ]
    shown = BenchmarkRows(rows)
    for text, wanted in (("cold FIX", ["01AAAA"]), ("openvino", ["01BBBB"]), ("bbbb", ["01BBBB"]), ("m.onnx", None),
                         ("deepsparse 2.00", ["01BBBB"]), ("cold openvino", [])):  # fmt: skip
        assert list(shown.keys("age", False, text)) == (wanted if wanted is not None else ["01AAAA", "01BBBB"]), text


def test_filter_matches_current_run_state_only() -> None:
    going = make_going("")[0]
    shown = BenchmarkRows([], [going])
    assert shown.keys("age", False, "running") == (going.info.id,)
    shown.replace_runs([replace(going, info=replace(going.info, state=activity.INTERRUPTED))])
    assert shown.keys("age", False, "running") == () and shown.keys("age", False, "interrupted")


@pytest.mark.parametrize(
    ("changes", "sign", "style"),
    [
        ({}, " ", ""),
        ({"status": "interrupted"}, "‖", "warn"),
        ({"status": "cancelled"}, "‖", "warn"),
        ({"measured": 0}, "✗", "bad"),
        ({"status": "damaged"}, "✗", "bad"),
        ({"status": "newer"}, "✗", "bad"),
        ({"facts": row_of(SYNC, differs=True).facts}, "!", "warn"),
    ],
)
def test_each_state_has_unique_symbol(changes: dict[str, object], sign: str, style: str) -> None:
    row = replace(row_of(SYNC), **changes)  # type: ignore[arg-type]
    line = BenchmarkRows([row]).line(row.id, NOW, UNICODE)
    assert (line.cells[0] or " ", line.style) == (sign, style)


def test_modified_rerun_row_shows_only_differences() -> None:
    old = replace(ROW, id="01AAAA", engines="onnxruntime", scenarios="sync", cores="1,2", batches="1")
    again = replace(old, id="01BBBB", rerun_of=old.id)
    changed = replace(again, id="01CCCC", batches="16,64")
    lone = replace(changed, id="01DDDD", rerun_of="01GONE")
    shown = BenchmarkRows([old, again, changed, lone])
    asked = {row.id: shown.line(row.id, NOW, UNICODE).cells[3:6] for row in (old, again, changed, lone)}
    assert asked[old.id] == asked[again.id] == ("ort", "sync", "1,2×1")
    assert asked[changed.id] == ("=aaaa", "=", "1,2×16,64") and asked[lone.id] == ("ort", "sync", "1,2×16,64")


def test_every_column_has_cell() -> None:
    run = make_going("")[0]
    shown = BenchmarkRows([ROW], [run])
    for glyphs in (UNICODE, ASCII):
        for key in (ROW.id, run.info.id):
            assert len(shown.line(key, NOW, glyphs).cells) == len(shown.columns)


def test_imported_row_has_no_grade() -> None:
    row = replace(row_of(SYNC), foreign="deepsparse", grade="")
    cells = BenchmarkRows([row]).line(row.id, NOW, UNICODE).cells
    assert cells[3].split() == ["ort", "(deepsparse)"] and cells[8] == "-"


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (INFO, "9/15 cells ~3m10"),
        (replace(INFO, cells=0, eta_s=None), "starting"),
        (make_going("")[1].info, "queued, position 1, in ~3m10"),
        (
            replace(INFO, state=activity.INTERRUPTED, cells_done=3, detail=legacy_text("killed")),
            "interrupted 3/15 killed",
        ),
        (
            replace(INFO, state=activity.UNSAVED, cells_done=15, detail=legacy_text("disk full")),
            "not saved 15/15 disk full",
        ),
        (
            replace(INFO, state=activity.FAILED, executions=0, detail=legacy_text("no such engine")),
            "failed no such engine",
        ),
    ],
)
def test_active_run_row_shows_progress(info: RunInfo, words: str) -> None:
    assert run_words(info) == words


def test_sizes_render_as_one_cell() -> None:
    assert sizes_word("1,2,4,8,16", "1,8,32", UNICODE) == "1-16×1,8,32"
    assert sizes_word("8", "", ASCII) == "8" and sizes_word("8", "1", ASCII) == "8x1"


def test_row_values_are_computed_only_when_visible() -> None:
    made: list[str] = []

    class Counting(BenchmarkRows):
        def best(self, row, glyphs):  # type: ignore[no-untyped-def]
            made.append(row.id)
            return super().best(row, glyphs)

    rows = [replace(row_of(replace(SYNC, value=n + 0.5)), id=make_id(n, 60.0 * n)) for n in range(10_000)]
    shown = Counting(rows)
    for sort in SORTS:
        assert len(shown.keys(sort, True, "onnxruntime")) == 10_000
    assert made == []
    shown.line(rows[5].id, NOW, UNICODE)
    assert made == [rows[5].id]


@pytest.mark.bench
def test_ten_thousand_rows_sort_and_filter_within_key_budget() -> None:
    rows = [replace(row_of(replace(SYNC, value=n + 0.5)), id=make_id(n, 60.0 * n)) for n in range(10_000)]
    shown = BenchmarkRows(rows)
    for sort in SORTS:
        for text in ("", "ort m.onnx"):
            start = time.process_time()
            shown.keys(sort, False, text)
            assert time.process_time() - start < 0.030, (sort, text)


def test_stored_rows_are_sorted_once_while_runs_update() -> None:
    rows = [replace(row_of(replace(SYNC, value=n + 0.5)), id=make_id(n, 60.0 * n)) for n in range(3)]
    going = make_going("")
    shown = BenchmarkRows(rows, going)
    before = shown.keys("best", True, "")
    sorts: list[str] = []
    shown._order = sorts.append  # type: ignore[method-assign, assignment]
    shown.replace_runs(going[:1])
    assert shown.keys("best", True, "") == (going[0].info.id, *before[2:]) and sorts == []
    shown.keys("name", True, "")
    assert sorts == ["name"]

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.present.build import asked, default_run, failed_cell, hostile_run, lone_cell, ok_cell, run
from tests.tui.sample_data import make, make_broken, make_going, sweep, sweep_cell
from tuibench.core.cell import CellResult
from tuibench.core.ids import short_id
from tuibench.core.reason import Failure, error_text, legacy_text
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.present.cells import describe, failure_text
from tuibench.present.headline import conclusions
from tuibench.present.plots.drawing import row_width
from tuibench.present.reason import reason_words
from tuibench.tui.screens.benchmark.preview import preview_of, preview_of_run
from tuibench.tui.widgets.painted import ASCII, UNICODE, LineLike, shown


def texts(lines: list[LineLike]) -> list[str]:
    return ["".join(text for text, _ in shown(line)) for line in lines]


def preview(result: RunResult, metadata: Metadata | None = None, width: int = 78) -> list[str]:
    stored = StoredBenchmark(row=None, metadata=metadata or Metadata(), result=result)  # type: ignore[arg-type]
    return texts(preview_of(stored, width, UNICODE, False))


def test_sweep_preview_shows_min_batch_time_and_max_batch_rate() -> None:
    first, time, rate, state = preview(sweep(), Metadata(name="after the fix"))[:4]
    assert parts(first)[1:] == ["onnxruntime 1.31.1 f32", "sync", "pin core", "3 exec/cell"] and '"after' in first
    # 16.2 ms × (0.056 + 0.944 / 16), and 1000 × 32 / (16.2 × 32 × 0.9322 × 0.115).
    assert values(time) == "1c 16.2  2c 8.55  4c 4.73  8c 2.82  16c 1.86  █▄▂▁▁  eff 54 %"
    assert values(rate) == "1c 66.2  2c 125  4c 227  8c 381  16c 576  ▁▁▃▅█  eff 54 %"
    assert (time.split()[:2], rate.split()[:2]) == (["ms/batch", "b1"], ["items/s", "b32"])
    assert len(parts(state)) == 4 and parts(state)[0].startswith("15 ") and state.endswith(" +0.4 %")


def test_preview_two_engines_have_one_line_each() -> None:
    lines = preview(sweep(engines=("onnxruntime", "openvino")))
    heads = [line.split()[:3] for line in lines[1:3]]
    assert heads == [["ms/batch", "onnxruntime", "b1"], ["ms/batch", "openvino", "b1"]]
    assert values(lines[1]).startswith("1c 16.2")


def test_preview_shows_request_times_and_stream_rates() -> None:
    cells = [sweep_cell(c, 1, scenario=s) for s in ("async", "sync") for c in (1, 2)]
    lines = preview(make(1, 1.0, *cells))
    heads = [line.split()[:3] for line in lines[1:3]]
    assert heads == [["ms/batch", "onnxruntime", "sync"], ["items/s", "onnxruntime", "async"]]


def test_preview_single_cell_shows_percentiles() -> None:
    lines = preview(default_run())
    names = [describe(default_run(), cell) for cell in default_run().cells[:2]]
    assert [line.partition(" │ ")[0] for line in lines[1:3]] == names
    assert values(lines[1]).startswith("p50 3.90") and values(lines[2]).startswith("p50 1.92")
    assert " 512 " in lines[2]


@pytest.mark.parametrize("width", [20, 40, 60, 78, 120])
def test_preview_numbers_fit_available_width(width: int) -> None:
    cells = [sweep_cell(c, 1) for c in range(1, 65)]
    line = preview(make(1, 1.0, *cells), width=width)[1]
    assert row_width([(line, "")]) <= max(width, 70)
    assert "64c" in line and values(line).startswith("1c 16.2")


def test_preview_failure_shows_full_reason() -> None:
    cells = [sweep_cell(1, 1), failed_cell({"cores": 2})]
    lines = preview(make(1, 1.0, *cells), width=50)
    text = " ".join(lines)
    assert "2c ✗" in text and f": {failure_text(cells[1])}" in text
    assert all(len(line) <= 70 for line in lines)


def test_preview_only_cell_failed_shows_wrapped_reason_once() -> None:
    failure = Failure("exception", "load", error_text("no such operator: " + " ".join(f"word{n}" for n in range(12))))
    lines = preview(make(1, 1.0, failed_cell(failure=failure)))[1:]
    assert " ".join(lines).count("operator") == 1 and lines[0].startswith("1 cell ")
    assert "word11" in lines[1] and max(map(len, lines)) <= 78


def test_preview_two_failed_cells_show_each_reason_once() -> None:
    failures = [Failure("exception", "load", error_text(f"reason {n}")) for n in (1, 2)]
    cells = [failed_cell({"engine": e}, failure=f) for e, f in zip(("a", "b"), failures, strict=True)]
    text = " ".join(preview(make(1, 1.0, *cells)))
    assert text.count("reason 1") == text.count("reason 2") == 1


def test_preview_shows_note_origin_conclusions_and_warnings() -> None:
    result = replace(default_run(), warnings=(legacy_text("the governor is powersave"),))
    lines = preview(result, Metadata(note="cold room", rerun_of="01J0000000000000000000ABCD"))[4:]
    assert [line.split(":")[0].split()[0] for line in lines[:2]] == ["note", "re-run"]
    assert "cold" in lines[0] and "abcd" in lines[1] and lines[2] == conclusions(default_run())[0].sentence
    assert lines[3].startswith("warning: ") and reason_words(result.warnings[0]) in lines[3]


def test_preview_sanitizes_foreign_text() -> None:
    assert all(line.isprintable() for line in preview(hostile_run(), Metadata(name="\x1b[31m", note="\u202e")))


def test_preview_accepts_unusual_result() -> None:
    for result in (run(), run(lone_cell()), run(failed_cell()), run(ok_cell(executions=())), run(ok_cell(pooled=None))):
        assert preview(result)
    assert preview(replace(default_run(), foreign="deepsparse.benchmark"))[0].count("deepsparse") == 1
    assert asked().engine in preview(default_run())[0]


def test_preview_of_active_and_queued_runs() -> None:
    going, waiting = make_going("p")
    lines = texts(preview_of_run(going, 78, UNICODE))
    assert lines[1].split()[1::3] == ["1,2,4,8,16", "1,8,32"]
    assert numbers(lines[2]) == ["9", "15", "45", "3", "10"] and keys(lines[3]) == ["enter", "X", "p", "+"]
    queued = texts(preview_of_run(waiting, 78, UNICODE))
    assert keys(queued[-1]) == ["enter", "X"] and short_id(going.info.id) in " ".join(queued)
    assert all(line.isascii() for line in texts(preview_of_run(replace(going, note=""), 78, ASCII)))


def test_preview_of_active_profile_uses_profile_terms() -> None:
    going, _ = make_going("p")
    making = replace(going, info=replace(going.info, kind="performance", cells=6, cells_done=4))
    lines = texts(preview_of_run(making, 78, UNICODE))
    assert lines[0].endswith(" profile") and numbers(lines[2]) == ["4", "6", "3", "10"]
    assert keys(lines[3]) == ["enter", "X", "p"]


def test_preview_of_interrupted_run_lists_next_actions() -> None:
    broken = make_broken("p")
    resumable = replace(broken, info=replace(broken.info, state="interrupted"))
    lost = replace(broken, info=replace(broken.info, state="failed", resumable=False))
    offered = [keys(texts(preview_of_run(one, 78, UNICODE))[-1]) for one in (broken, resumable, lost)]
    assert offered == [["o"], ["o", "p", "d"], ["enter", "d"]]


def test_preview_cancelled_run_unstarted_cells_are_not_failed() -> None:
    done = sweep_cell(1, 1)
    half = replace(
        done, status="partial", executions=done.executions[:1], stopped_by=legacy_text("cancelled after 1 execution")
    )
    ahead = [CellResult(f"{n}", asked(cores=n), "skipped", stopped_by=legacy_text("cancelled")) for n in (2, 4)]
    what, line, _, state = preview(replace(make(1, 1.0, half, *ahead), status="cancelled"))[:4]
    assert what.endswith("1 exec/cell") and "1c 16.2  2c -  4c -" in line
    assert numbers(state)[:3] == ["3", "1", "2"]


def test_preview_shows_only_measured_cell_at_any_position() -> None:
    cells = [sweep_cell(cores, batch) for cores in (1, 2) for batch in (1, 8, 32)]
    done = next(cell for cell in cells if (cell.asked.cores, cell.asked.batch) == (2, 8))
    ahead = [
        CellResult(cell.key, cell.asked, "skipped", stopped_by=legacy_text("finished"))
        for cell in cells
        if cell is not done
    ]
    lines = preview(make(1, 1.0, *ahead[:3], done, *ahead[3:]))
    assert any("batch 8" in line and "p50" in line for line in lines) and not any("1c -" in line for line in lines)


def parts(line: str) -> list[str]:
    return line.split(" · ")


def values(line: str) -> str:
    """Return what follows the head of a line of numbers."""
    return line.partition(" │ ")[2]


def numbers(line: str) -> list[str]:
    return re.findall(r"\d+", line)


def keys(line: str) -> list[str]:
    """Return the keys that a line of advice names."""
    return [word for word in re.split(r"[\s,;]+", line) if len(word) == 1 or word == "enter"]

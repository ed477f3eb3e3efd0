from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.build import asked, default_run, failed_cell, hostile_run, lone_cell, ok_cell, run, sweep_run
from tests.tui.stock import make, make_broken, make_going, sweep, sweep_cell
from tuibench.core.card import Card, StoredBenchmark
from tuibench.core.cell import CellResult
from tuibench.core.failure import Failure
from tuibench.core.run import RunResult
from tuibench.tui.glyph import ASCII, UNICODE
from tuibench.tui.screens.benchmark_preview import preview_of, preview_of_run
from tuibench.tui.widgets.row import LineLike, shown, width_of


def texts(lines: list[LineLike]) -> list[str]:
    return ["".join(text for text, _ in shown(line)) for line in lines]


def preview(result: RunResult, card: Card | None = None, width: int = 78) -> list[str]:
    stored = StoredBenchmark(row=None, card=card or Card(), result=result)  # type: ignore[arg-type]
    return texts(preview_of(stored, width, UNICODE, False))


def test_a_sweep_is_told_by_its_time_at_the_least_batch_and_its_rate_at_the_most() -> None:
    first, time, rate, state = preview(sweep(), Card(name="after the fix"))[:4]
    assert '"after the fix" · onnxruntime 1.31.1 f32 · sync · pin core · 3 runs/cell' in first
    # 16.2 ms × (0.056 + 0.944 / 16), and 1000 × 32 / (16.2 × 32 × 0.9322 × 0.115).
    assert time == "ms/batch b1 │ 1c 16.2  2c 8.55  4c 4.73  8c 2.82  16c 1.86  █▄▂▁▁  eff 54 %"
    assert rate == "items/s b32 │ 1c 66.2  2c 125  4c 227  8c 381  16c 576  ▁▁▃▅█  eff 54 %"
    assert state == "15 cells · none failed · outputs agree · drift over the run +0.4 %"


def test_two_engines_have_a_line_each() -> None:
    lines = preview(sweep(engines=("onnxruntime", "openvino")))
    assert lines[1].startswith("ms/batch onnxruntime b1 │ 1c 16.2") and lines[2].startswith("ms/batch openvino b1 │ 1c")


def test_times_are_of_single_requests_and_rates_of_streams() -> None:
    cells = [sweep_cell(c, 1, scenario=s) for s in ("async", "sync") for c in (1, 2)]
    lines = preview(make(1, 1.0, *cells))
    assert lines[1].startswith("ms/batch onnxruntime sync b1 │") and lines[2].startswith(
        "items/s onnxruntime async b1 │"
    )


def test_a_sweep_over_batches_alone() -> None:
    lines = preview(make(1, 1.0, *(sweep_cell(4, b) for b in (1, 8, 32))))
    assert lines[1].startswith("ms/batch 4c │ 1b 4.73  8b") and "eff" not in lines[1]


def test_a_single_cell_is_told_by_its_percentiles() -> None:
    lines = preview(default_run())
    assert lines[1].startswith("async, 2 cores, batch 1, 2 streams │ p50 3.90 ms p90")
    assert lines[2].startswith("sync, 2 cores, batch 1 │ p50 1.92 ms") and "512 items/s" in lines[2]


@pytest.mark.parametrize("width", [20, 40, 60, 78, 120])
def test_numbers_never_need_more_room_than_there_is(width: int) -> None:
    cells = [sweep_cell(c, 1) for c in range(1, 65)]
    line = preview(make(1, 1.0, *cells), width=width)[1]
    assert width_of([(line, "")]) <= max(width, 70)
    assert "64c" in line and line.startswith("ms/batch b1 │ 1c 16.2")


def test_what_failed_is_said_with_its_reason_however_long() -> None:
    cells = [sweep_cell(1, 1), failed_cell({"cores": 2})]
    lines = preview(make(1, 1.0, *cells), width=50)
    text = " ".join(lines)
    assert "2c ✗" in text and "2 cells · sync, 2 cores, batch 1: died by SIGSEGV" in text
    assert all(len(line) <= 70 for line in lines)


def test_why_the_only_cell_failed_is_said_once_over_as_many_lines_as_it_takes() -> None:
    failure = Failure("exception", "load", "no such operator: " + " ".join(f"word{n}" for n in range(12)))
    lines = preview(make(1, 1.0, failed_cell(failure=failure)))[1:]
    assert " ".join(lines).count("no such operator") == 1 and lines[0].startswith("1 cell · sync")
    assert "word11" in lines[1] and max(map(len, lines)) <= 78


def test_of_two_cells_that_failed_each_says_its_own_reason_once() -> None:
    failures = [Failure("exception", "load", f"reason {n}") for n in (1, 2)]
    cells = [failed_cell({"engine": e}, failure=f) for e, f in zip(("a", "b"), failures, strict=True)]
    text = " ".join(preview(make(1, 1.0, *cells)))
    assert text.count("reason 1") == text.count("reason 2") == 1


def test_outputs_that_differ_are_said() -> None:
    assert any("outputs differ from the reference" in line for line in preview(sweep_run()))


def test_note_origin_conclusions_and_warnings_follow() -> None:
    result = replace(default_run(), warnings=("the governor is powersave",))
    lines = preview(result, Card(note="cold room", rerun_of="01J0000000000000000000ABCD"))[4:]
    assert lines == [
        "note: cold room", "re-run of abcd: c compares", "Least latency: 1.92 ms (sync).",
        "warning: the governor is powersave",
    ]  # fmt: skip


def test_foreign_text_is_made_safe() -> None:
    assert all(line.isprintable() for line in preview(hostile_run(), Card(name="\x1b[31m", note="\u202e")))


def test_an_odd_result_is_no_reason_to_break() -> None:
    for result in (run(), run(lone_cell()), run(failed_cell()), run(ok_cell(executions=())), run(ok_cell(pooled=None))):
        assert preview(result)
    assert preview(replace(default_run(), foreign="deepsparse.benchmark"))[0].count("measured by deepsparse") == 1
    assert asked().engine in preview(default_run())[0]


def test_a_run_that_goes_on_and_one_that_waits() -> None:
    going, waiting = make_going("p")
    lines = texts(preview_of_run(going, 78, UNICODE))
    assert lines[1] == "cores 1,2,4,8,16 · batch 1,8,32"
    assert lines[2] == "running · 9 of 15 cells · 45 executions · about 3m10 left"
    assert lines[3] == "enter follows it; X cancels, p finishes now, + gives more time"
    assert texts(preview_of_run(waiting, 78, UNICODE))[-1] == "enter follows it; X takes it out of the line"
    assert "place 1 · behind run" in " ".join(texts(preview_of_run(waiting, 78, UNICODE)))
    assert all(line.isascii() for line in texts(preview_of_run(replace(going, note=""), 78, ASCII)))


def test_a_profile_that_goes_on_is_told_in_its_own_words() -> None:
    going, _ = make_going("p")
    making = replace(going, info=replace(going.info, kind="performance", cells=6, cells_done=4))
    lines = texts(preview_of_run(making, 78, UNICODE))
    assert lines[0].endswith("performance profile") and lines[2] == "running · 4 of 6 parts · about 3m10 left"
    assert lines[3] == "enter follows it; X cancels, p finishes now"


def test_a_run_that_broke_off_says_what_can_be_done() -> None:
    broken = make_broken("p")
    assert "o saves them" in texts(preview_of_run(broken, 78, UNICODE))[-1]
    resumable = replace(broken, info=replace(broken.info, state="interrupted"))
    assert "o takes it up" in texts(preview_of_run(resumable, 78, UNICODE))[-1]
    lost = replace(broken, info=replace(broken.info, state="failed", resumable=False))
    assert "enter shows why; d removes it" in texts(preview_of_run(lost, 78, UNICODE))[-1]


def test_one_core_count_alone_has_no_efficiency() -> None:
    whole = sweep_cell(1, 1)
    broken = CellResult(key=whole.key, asked=whole.asked, status="failed")
    lines = preview(make(1, 1.0, broken, sweep_cell(2, 1)))
    assert any("2c" in line for line in lines) and not any("eff" in line for line in lines), lines


def test_what_a_cancelled_run_never_began_is_not_said_to_have_failed() -> None:
    done = sweep_cell(1, 1)
    half = replace(done, status="partial", executions=done.executions[:1], stopped_by="cancelled after 1 execution")
    ahead = [CellResult(f"{n}", asked(cores=n), "skipped", stopped_by="cancelled") for n in (2, 4)]
    what, line, _, state = preview(replace(make(1, 1.0, half, *ahead), status="cancelled"))[:4]
    assert what.endswith("1 run/cell") and "1c 16.2  2c -  4c -" in line
    assert state.startswith("3 cells · none failed · 1 cut short · 2 never begun ·")


def test_the_one_cell_that_was_measured_is_told_whichever_it_is() -> None:
    cells = [sweep_cell(cores, batch) for cores in (1, 2) for batch in (1, 8, 32)]
    done = next(cell for cell in cells if (cell.asked.cores, cell.asked.batch) == (2, 8))
    ahead = [CellResult(cell.key, cell.asked, "skipped", stopped_by="finished") for cell in cells if cell is not done]
    lines = preview(make(1, 1.0, *ahead[:3], done, *ahead[3:]))
    assert any("batch 8" in line and "p50" in line for line in lines) and not any("1c -" in line for line in lines)

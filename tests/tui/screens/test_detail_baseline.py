from __future__ import annotations

from dataclasses import replace

from tests.present import build
from tests.tui.screens.detail_stage import Detail, detail
from tests.tui.stock import make, sweep, sweep_cell
from tuibench.core.reason import Reason
from tuibench.core.result import RunResult


def numbers(seen: Detail) -> list[str]:
    """Return the left side from its first line."""
    return [line[1:42].rstrip() for line in seen.rows[5:21]]


def one_cell() -> RunResult:
    return make(21, 60, sweep_cell(8, 8))


async def test_cell_shows_all_numbers_with_intervals() -> None:
    async with detail(one_cell()) as seen:
        assert seen.choices == " cell [sync, 8 cores, batch 8]   figure [histogram] h"
        assert numbers(seen) == [
            "p50        21.2 ms/batch ±1.3 %",
            "per item   2.65 ms ±1.3 %",
            "items/s    377.9 ±1.7 %",
            "mean       21.6 ms ±1.3 %",
            "std        1.06 ms ±1.3 %",
            "floor      20.7 ms ±1.3 %",
            "p90 23.3 ms ±1.3 %  p95 25.4 ms ±1.3 %",
            "p99 27.5 ms ±1.3 %  p99.9 31.8 ms ±1.3 %",
            "grade      A: quiet",
            "outputs    agree with the reference",
            "           (4e-07 of 0.001)",
            "load       35.2 ms, 4.20 ms first call",
            "memory     peak 120 MB, model 45.0 MB",
            "CPU used   1.98 of 8 cores",
            "engine     onnxruntime 1.31.1 f32",
            "per CPU s  189.0 items ±2.0 %",
        ]
        await seen.press("G")
        assert numbers(seen)[-2:] == ["calls      2500 in 3 executions", "stopped by target"]
        await seen.press("g")
        assert numbers(seen)[0].startswith("p50")


async def test_failed_cell_reason_uses_full_width() -> None:
    reason = "Exception during initialization: /engine_src/engine/core/providers/cpu/text/string_normalizer.cc:89"
    failed = build.failed_cell(stopped_by=Reason("failed"))
    assert failed.failure is not None
    failed = replace(failed, failure=replace(failed.failure, log_tail=reason))
    async with detail(make(24, 60, failed), size=(120, 36)) as seen:
        assert reason in seen.text and "no samples stored" not in seen.text and "stopped by" not in seen.text


async def test_key_h_cycles_figures_of_open_result() -> None:
    async with detail(sweep(22)) as seen:
        assert "figure [advice] h" in seen.choices and "Pareto set (latency, items/s)" in seen.text
        await seen.press("h")
        assert "figure [histogram] h" in seen.choices and "% of calls by ms/batch" in seen.text
        assert "p50" in seen.rows[-6] or "p99" in seen.text
        await seen.press("h")
        assert "figure [samples] h" in seen.choices and "ms/batch by execution" in seen.text
    async with detail(one_cell()) as seen:
        assert "figure [histogram] h" in seen.choices


async def test_advice_names_choice_and_pareto_set() -> None:
    async with detail(sweep(23, faster=1.06), size=(120, 36)) as seen:
        said = [line[48:].strip() for line in seen.rows]
        at = said.index("Pareto set (latency, items/s)")
        assert said[at + 1 : at + 5] == [
            "ms/batch  items/s",
            "1.76      569 16 cores, batch 1",
            "13.2      606 16 cores, batch 8",
            "52.4      610 16 cores, batch 32 (no sure gain)",
        ]
        text = " ".join(said[:at])
        assert "Least latency 1.76 ms ±1.5 % (sync, 16 cores, batch 1), grade A." in text
        assert "Most items/s 610 items/s ±1.9 %" in text and "Most items/s per core 70.2 items/s per core" in text


def beside(seen: Detail) -> list[str]:
    """Return the right side from its first line."""
    return [line[43:].strip() for line in seen.rows[5:21]]


async def test_small_terminal_shows_all_advice_and_remaining_lines() -> None:
    async with detail(sweep(25, engines=("onnxruntime", "openvino"))) as seen:
        text = " ".join(beside(seen))
        assert all(f"{what} " in text for what in ("Least latency", "Most items/s", "Most items/s per core"))
        assert "tied with openvino, sync, 1 core, batch 8." in text
        await seen.press("G")
        assert "(no sure gain)" in beside(seen)[-1] and numbers(seen)[-1] == "stopped by target"
        await seen.press("g")
        assert beside(seen)[0] == "Least latency" and numbers(seen)[0].startswith("p50")
        # One side at a time: no key may send a whole page.
        await seen.press("down")
        assert beside(seen)[0] == "Least latency" and numbers(seen)[-1] == "stopped by target"
        await seen.press("down")
        assert beside(seen)[0] != "Least latency"
        await seen.press("up")
        assert beside(seen)[0] == "Least latency" and numbers(seen)[-1] == "stopped by target"
        await seen.press("up")
        assert numbers(seen)[0].startswith("p50")
        await seen.press("h", "G")
        assert numbers(seen)[-1] == "stopped by target"
        await seen.press("h", "h")
        assert "figure [advice]" in seen.choices and beside(seen)[-1] != "(no sure gain)"


async def test_left_and_right_move_between_cells() -> None:
    async with detail(sweep(24)) as seen:
        assert "cell 13 of 15 [sync, 16 cores, batch 1]" in seen.choices
        await seen.press("right")
        assert "cell 14 of 15 [sync, 16 cores, batch 8]" in seen.choices and numbers(seen)[1].startswith("per item")
        await seen.press("right", "right")
        assert "cell 1 of 15 [sync, 1 core, batch 1]" in seen.choices


async def test_headline_cell_is_selected_first() -> None:
    cells = (build.failed_cell({"cores": 1}), sweep_cell(2, 1), sweep_cell(4, 1), sweep_cell(1, 8))
    async with detail(make(26, 60, *cells)) as seen:
        best = numbers(seen)[0].split()[1]
        assert "cell 3 of 4" in seen.choices and seen.rows[2].startswith(f" {best} ms")
        await seen.press("left", "left")
        assert numbers(seen)[:2] == ["died by SIGSEGV in load: the worker died", "last line  fatal: bad kernel"]


async def test_errors_and_missing_values_are_shown() -> None:
    wrong = build.differing_cell(cores=4)
    async with detail(make(27, 60, wrong)) as seen:
        assert "outputs    DIFFER from the reference" in seen.text
    async with detail(make(28, 60, build.lone_cell(cores=1))) as seen:
        await seen.press("G")
        text = " ".join(numbers(seen))
        assert "1 of at least 3 executions" in text and "p99.9: needs 10000 iterations, there are 500" in text
    async with detail(make(29, 60, build.partial_cell(cores=1))) as seen:
        assert "partial after 1 execution: timeout in timing: no answer for 13 s" in " ".join(numbers(seen)[:2])
    async with detail(make(30, 60, build.noisy_cell(cores=1))) as seen:
        assert "grade      D: another process took 40 %" in seen.text

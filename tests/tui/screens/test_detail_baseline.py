from __future__ import annotations

import re
from dataclasses import replace

from tests.present import build
from tests.tui.sample_data import make, sweep, sweep_cell
from tests.tui.screens.detail_stage import Detail, detail
from tuibench.core.reason import Reason
from tuibench.core.result import RunResult
from tuibench.present.cells import failure_text, missing_numbers
from tuibench.present.headline import conclusions
from tuibench.present.summary import tradeoff_rows
from tuibench.tui.screens.detail.baseline import number_facts
from tuibench.tui.screens.detail.facts import Fact
from tuibench.tui.widgets.painted import FigureView


def numbers(seen: Detail) -> list[str]:
    """Return the left side from its first line."""
    return [line[1:42].rstrip() for line in seen.rows[5:21]]


def one_cell() -> RunResult:
    return make(21, 60, sweep_cell(8, 8))


async def test_cell_shows_all_numbers_with_intervals() -> None:
    result = one_cell()
    async with detail(result) as seen:
        assert (seen.cell, seen.chosen["figure"]) == ([8, 8], "histogram")
        found = [fact for fact in number_facts(result.cells[0]) if fact.label]
        assert [fact.label for fact in found] == [
            *("p50", "per item", "items/s", "mean", "std", "floor", "grade", "outputs", "load", "memory", "CPU used"),
            *("engine", "per CPU s", "calls", "stopped by"),
        ]
        assert [fact.text.split()[0] for fact in found[:6]] == ["21.2", "2.65", "377.9", "21.6", "1.06", "20.7"]
        assert all(re.search(r"±[0-9.]+ %", fact.text) for fact in (*found[:6], found[12]))
        # Those above the last two are visible; G scrolls to them.
        text = " ".join(numbers(seen))
        assert all(f"{fact.label} " in text and fact.text.split()[0] in text for fact in found[:-2])
        assert all(f"p{tail} " in text for tail in ("90", "95", "99", "99.9"))
        await seen.press("G")
        assert [line.split()[0] for line in numbers(seen)[-2:]] == ["calls", "stopped"]
        await seen.press("g")
        assert numbers(seen)[0].startswith("p50")


async def test_failed_cell_reason_uses_full_width() -> None:
    reason = "Exception during initialization: /engine_src/engine/core/providers/cpu/text/string_normalizer.cc:89"
    failed = build.failed_cell(stopped_by=Reason("failed"))
    assert failed.failure is not None
    failed = replace(failed, failure=replace(failed.failure, log_tail=reason))
    async with detail(make(24, 60, failed), size=(120, 36)) as seen:
        assert reason in seen.text and not seen.app.page.query_one(FigureView).display
        assert "stopped by" not in {fact.label for fact in number_facts(failed)}


async def test_keys_change_figure_and_cell_of_open_result() -> None:
    async with detail(sweep(22)) as seen:
        # h cycles the figures
        assert seen.chosen["figure"] == "advice" and seen.app.page.query_one("#advice").display
        await seen.press("h")
        assert seen.chosen["figure"] == "histogram" and "ms/batch" in seen.rows[5]
        assert "p50" in seen.rows[-6] or "p99" in seen.text
        await seen.press("h")
        assert seen.chosen["figure"] == "samples" and "ms/batch" in seen.rows[5]
        # left and right move between cells
        assert seen.cell == [13, 15, 16, 1]
        await seen.press("right")
        assert seen.cell == [14, 15, 16, 8] and numbers(seen)[1].startswith("per item")
        await seen.press("right", "right")
        assert seen.cell == [1, 15, 1, 1]


async def test_advice_names_choice_and_pareto_set() -> None:
    result = sweep(23, faster=1.06)
    async with detail(result, size=(120, 36)) as seen:
        text = " ".join(line[48:].strip() for line in seen.rows)
        assert all(f"{choice.title} {choice.text}" in text for choice in conclusions(result))
        rows = [" ".join(f"{figures} {name}".split()) for figures, name in tradeoff_rows(result, brief=True)]
        assert len(rows) == 3 and " ".join(rows) in " ".join(text.split())


def beside(seen: Detail) -> list[str]:
    """Return the right side from its first line."""
    return [line[43:].strip() for line in seen.rows[5:21]]


async def test_small_terminal_shows_all_advice_and_remaining_lines() -> None:
    result = sweep(25, engines=("onnxruntime", "openvino"))
    async with detail(result) as seen:
        text, first = " ".join(beside(seen)), conclusions(result)[0].title
        assert all(f"{choice.title} {choice.text}" in text for choice in conclusions(result))

        def ends() -> tuple[bool, bool]:
            """Return whether the advice shows its first line, and the numbers their last."""
            return beside(seen)[0] == first, numbers(seen)[-1].startswith("stopped")

        await seen.press("G")
        assert ends() == (False, True)
        await seen.press("g")
        assert ends() == (True, False) and numbers(seen)[0].startswith("p50")
        # One side at a time: no key may send a whole page.
        for key, found in (("down", (True, True)), ("down", (False, True)), ("up", (True, True))):
            await seen.press(key)
            assert ends() == found
        await seen.press("up")
        assert numbers(seen)[0].startswith("p50")
        await seen.press("h", "G")
        assert ends()[1]
        await seen.press("h", "h")
        assert seen.chosen["figure"] == "advice" and not ends()[1]


async def test_headline_cell_is_selected_first() -> None:
    cells = (build.failed_cell({"cores": 1}), sweep_cell(2, 1), sweep_cell(4, 1), sweep_cell(1, 8))
    async with detail(make(26, 60, *cells)) as seen:
        best = numbers(seen)[0].split()[1]
        assert seen.cell[:2] == [3, 4] and seen.rows[2].startswith(f" {best} ms")
        await seen.press("left", "left")
        assert [numbers(seen)[0], numbers(seen)[1][11:]] == [fact.text for fact in number_facts(cells[0])][:2]


def test_errors_and_missing_values_are_among_facts() -> None:
    wrong = {fact.label: fact for fact in number_facts(build.differing_cell(cores=4))}
    assert wrong["outputs"].style == "bad"
    lone = build.lone_cell(cores=1)
    said = [fact.text for fact in number_facts(lone)]
    assert all(any(reason in text for text in said) for reason in missing_numbers(lone)) and missing_numbers(lone)
    partial = build.partial_cell(cores=1)
    assert next(number_facts(partial)) == Fact("", failure_text(partial), "bad")
    grade = next(fact for fact in number_facts(build.noisy_cell(cores=1)) if fact.label == "grade")
    assert grade.style == "warn" and grade.text.startswith("D: ")

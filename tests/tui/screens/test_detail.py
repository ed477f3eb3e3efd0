from __future__ import annotations

import pytest

from tests.present import build
from tests.tui.frame import frame
from tests.tui.pilot import look, replace_methods, settle
from tests.tui.sample_data import make, sweep, sweep_cell
from tests.tui.screens.detail_stage import detail
from tests.tui.screens.stage import offered, shown
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.core.stored import StoredBenchmark
from tuibench.tui import route
from tuibench.tui.screens.detail.screen import TABS, refusals
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.screens.project.screen import ProjectScreen

OLD, NEW = sweep(2, 7200), sweep(1, 3600, faster=1.06)


async def test_title_tabs_and_bracket_keys() -> None:
    async with detail(NEW, OLD, name="after AMX fix", note="new kernel", rerun_of=OLD.id) as seen:
        title = f' {short_id(NEW.id)} "after AMX fix" › resnet50.onnx › onnxruntime 1.31.1 f32 sync'
        assert seen.rows[0] == title
        assert seen.rows[1].startswith("[1 Base]") and seen.rows[1].endswith(" A")
        assert seen.rows[2] == " 1.76 ms ±1.5 %"
        # brackets cycle through the tabs with content
        went = []
        for _ in range(6):
            await seen.press("]")
            went.append(seen.tab)
        assert went == ["cores", "batches", "comparison", "environment", "log", "baseline"]
        await seen.press("[", "[")
        assert seen.tab == "environment"
        # the log is a tab of the page
        pages = len(seen.app.screen_stack)
        await seen.press("L")
        assert seen.tab == "log" and len(seen.app.screen_stack) == pages
        assert "kernel" in seen.text and "+0.4 %" in seen.text


async def test_empty_tab_shows_reason_and_first_opens_instead() -> None:
    async with detail(make(5, 60, sweep_cell(4, 1)), tab="cores") as seen:
        assert seen.tab == "baseline" and "p50" in seen.text
        reasons = refusals(seen.page.stored)
        for number in ("2", "3", "4", "5"):
            await seen.press(number)
            why = reasons[TABS[int(number) - 1]]
            assert seen.tab == "baseline" and why and (seen.status.said, seen.status.kind) == (why, "warn")
        assert len({*reasons.values()}) > 4
        # The key line names only keys that do something.
        assert "h" in offered(seen.app) and "←→" not in offered(seen.app)
    async with detail(NEW, tab="batches") as seen:
        assert seen.tab == "batches"


async def test_page_closes_by_keys_and_by_removal() -> None:
    async with shown() as seen:
        # escape and q go back
        for leave in ("escape", "q"):
            await seen.press("enter")
            assert type(seen.app.page).__name__ == "DetailScreen"
            await seen.press(leave)
            assert type(seen.app.page).__name__ == "ProjectScreen"
        # removal closes page and undo restores
        await seen.press("enter", "d", "y")
        assert isinstance(seen.app.page, ProjectScreen)
        assert seen.ids[0] not in seen.keys and short_id(seen.ids[0]) in seen.status.said
        await seen.press("u")
        await look(seen.app, seen.pilot)
        assert seen.ids[0] in seen.keys


async def test_benchmark_keys_act_on_open_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "form", "comparison")
    async with detail(NEW, OLD, rerun_of=OLD.id) as seen:
        await seen.press("r")
        assert "resnet50.onnx" in seen.said and seen.status.kind == "bad"
        await seen.press("escape", "R")
        assert opened_page(seen.app) == ("form", (), {"benchmark": NEW.id})
        await seen.press("q", "c")
        assert opened_page(seen.app) == ("comparison", (OLD.id, NEW.id), {})
        await seen.press("q", "y")
        assert seen.status.said.endswith(seen.app.clipboard) and "benchmark" in seen.app.clipboard
        await seen.press("x")
        assert short_id(NEW.id) in frame(seen.app) and "Export" in frame(seen.app)


async def test_removal_by_other_session_keeps_page_and_says_so() -> None:
    async with detail(NEW, OLD, tab="cores") as seen:
        before = seen.text
        seen.services.library.remove([NEW.id])
        await look(seen.app, seen.pilot)
        assert "!" in seen.rows[2] and " 569 " in seen.text
        await seen.press("2", "1")
        assert "!" in seen.rows[2]
        await seen.press("u", "2")
        await look(seen.app, seen.pilot)
        assert "!" not in seen.rows[2] and before.splitlines()[3:-3] == seen.rows[3:-3]


async def test_damaged_record_shows_cause_and_hint() -> None:
    async with detail(NEW, OLD) as seen:
        path = next(p for p in seen.services.settings.places.data.rglob("*") if p.is_file() and NEW.id in p.name)
        path.write_bytes(path.read_bytes()[:200])
        seen.app.go_back()
        await settle(seen.pilot)
        seen.app.go(route.detail(NEW.id))
        await settle(seen.pilot)
        assert " ! " in seen.rows[2] and seen.rows[0] == f" benchmark {short_id(NEW.id)}"
        await seen.press("2")
        assert seen.status.said == refusals(None)["cores"]
        await seen.press("]", "h", "m", "enter")
        assert "d" in offered(seen.app)
        await seen.press("d", "y")
        assert isinstance(seen.app.page, HomeScreen)


async def test_unchanged_poll_reads_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    # A file written 0.1 s ago counts as fresh at every poll, and this test is that fast.
    monkeypatch.setattr("tuibench.store.index._YOUNG_NS", 0)
    async with detail(NEW, OLD, rerun_of=OLD.id, tab="cores") as seen:
        opened: list[str] = []
        real = seen.app.services.library.get

        def count(benchmark: str) -> StoredBenchmark:
            opened.append(benchmark)
            return real(benchmark)

        replace_methods(seen.app.services, library__get=count)
        await look(seen.app, seen.pilot)
        opened.clear()
        await look(seen.app, seen.pilot)
        assert opened == []


@pytest.mark.parametrize("status", ["cancelled", "interrupted"])
async def test_incomplete_run_says_so(status: str) -> None:
    async with detail(make(6, 60, sweep_cell(1, 1), build.skipped_cell(cores=4), status=status)) as seen:
        assert seen.rows[2].startswith(f" {status} · ")
        await seen.press("2")
        assert "--max-time" in seen.text

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.pilot import look, settle
from tests.tui.sample_data import make_going
from tests.tui.screens.profile_stage import Profiled, profiled
from tests.tui.screens.stage import with_runs
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.screens.benchmark.list import BenchmarkList
from tuibench.tui.screens.project.screen import ProjectScreen


def keys_of(seen: Profiled) -> list[str]:
    page = seen.app.page
    assert isinstance(page, ProjectScreen)
    shown = page.shown_list
    assert isinstance(shown, BenchmarkList)
    return list(shown.table.keys)


async def test_profile_list_ends_with_theory_that_refuses_actions() -> None:
    async with profiled() as seen:
        # each kind has list and theory is last
        await seen.go(route.project(seen.project))
        assert keys_of(seen) == [] and "Benchmarks (0)" in seen.rows[0]
        await seen.press("2")
        assert keys_of(seen) == [seen.ids[0], seen.ids[1], FLOPS] and "(2)" in seen.rows[0]
        assert "4.76 ms" in seen.rows[4] and "theoretical" in seen.rows[6] and seen.rows[4].startswith(">")
        await seen.press("3")
        assert keys_of(seen) == [seen.ids[2], APPROXIMATED] and "stage0.block7.matmul.weight" in seen.rows[4]
        await seen.press("4")
        assert "[4 Settings]" in seen.rows[1]
        # theory refuses removal rename and comparison
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("G")
        for pressed in ("d", "e", "r", "R", "c"):
            await seen.press(pressed)
            assert "FLOPS" in seen.news and seen.status.kind == "warn", pressed
        await seen.press("a", "d")
        assert "Remove" in seen.news
        await seen.press("y")
        assert keys_of(seen) == [FLOPS]
        # wide list keeps key columns and offers scrolling
        await seen.press("escape")
        await seen.press("enter", "2", "w")
        head = next(row for row in seen.rows if " NAME " in row)
        assert all(f" {word}" in head for word in ("TIME", "±%", "G")), head
        assert "←→ scroll" in seen.text
        await seen.press("right", "right")
        assert " NAME " in next(row for row in seen.rows if " NOTE" in row)
        # Wide mode applies to one tab only.
        await seen.press("1")
        assert "←→ scroll" not in seen.text


async def test_enter_opens_profile_or_theory(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile", "theory", "profile_form")
    async with profiled() as seen:
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("enter")
        assert opened_page(seen.app)[:2] == ("profile", (seen.ids[0],))
        await seen.press("q", "G", "enter")
        assert opened_page(seen.app)[:2] == ("theory", (seen.project, FLOPS))
        await seen.press("q", "3", "n")
        assert opened_page(seen.app)[:2] == ("profile_form", (seen.project, "loss"))


async def test_two_profiles_compare_by_marks_or_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile_comparison")
    async with profiled() as seen:
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("space", "c")
        assert opened_page(seen.app)[:2] == ("profile_comparison", (seen.ids[1], seen.ids[0]))
        await seen.press("q", "space", "c")
        assert opened_page(seen.app)[:2] == ("profile_comparison", (seen.ids[1], seen.ids[0]))


async def test_profile_edit_sort_removal_and_cursor() -> None:
    async with profiled() as seen:
        # profile rename filter sort removal and undo
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("e", "end", "2", "enter", "enter")
        await look(seen.app, seen.pilot)
        assert "baseline2" in seen.rows[4]
        await seen.press("slash")
        await seen.type("older")
        assert keys_of(seen) == [seen.ids[1]]
        await seen.press("enter", "escape", "s")
        assert " name" in seen.rows[1]
        await seen.press("g", "d", "y")
        await look(seen.app, seen.pilot)
        assert seen.ids[0] not in keys_of(seen)
        await seen.press("u")
        await look(seen.app, seen.pilot)
        assert seen.ids[0] in keys_of(seen)
        # cursor follows its record through removal and undo
        await seen.press("escape")
        await seen.press("enter", "2", "down")
        page = seen.app.page
        assert isinstance(page, ProjectScreen) and page.shown_list is not None
        table = page.shown_list.table
        assert table.cursor_key == seen.ids[1]
        await seen.press("d", "y")
        assert table.cursor_key == seen.ids[0]
        await seen.press("d", "y")
        assert list(table.keys) == [FLOPS]
        await seen.press("u")
        assert table.cursor_key == seen.ids[0]
        await seen.press("u")
        assert (len(table.keys), table.cursor_key) == (3, seen.ids[0])


async def test_run_is_listed_under_its_kind_only(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "run")
    async with profiled() as seen:
        going = make_going(seen.project)
        making = replace(going[0], info=replace(going[0].info, kind="performance"))
        with_runs(seen.app.services, making, going[1])
        await look(seen.app, seen.pilot)
        await seen.go(route.project(seen.project))
        assert keys_of(seen) == [going[1].info.id]
        await seen.press("2")
        assert keys_of(seen)[0] == making.info.id and "9/15 parts" in seen.rows[4]
        await seen.press("g", "enter")
        assert opened_page(seen.app)[:2] == ("run", (making.info.id,))


async def test_profiles_of_missing_project_are_listed_as_unassigned(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile")
    async with profiled() as seen:
        seen.services.store.benchmarks.edit(seen.ids[2], project="")
        await seen.go(route.unassigned())
        assert "Settings" not in seen.text
        await seen.press("3")
        assert keys_of(seen) == [seen.ids[2]] and short_id(seen.ids[2]) in seen.text
        await seen.press("enter")
        assert opened_page(seen.app)[:2] == ("profile", (seen.ids[2],))
        await seen.press("q")
        await settle(seen.pilot)


async def test_theory_exports_from_list_and_page(tmp_path: Path) -> None:
    async with profiled((120, 36)) as seen:
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("G", "x")
        assert "Export FLOPS" in seen.text and "private" not in seen.text and "flops.json" in seen.text
        await seen.type(f"{tmp_path}/costs.csv")
        await seen.press("enter")
        assert seen.answers.exported == [(seen.project, FLOPS, f"{tmp_path}/costs.csv")]
        assert "resnet50.onnx" in seen.news and seen.status.kind == "info"
        (tmp_path / "there.json").write_text("mine")
        await seen.go(route.theory(seen.project, APPROXIMATED))
        await seen.press("x")
        await seen.type(f"{tmp_path}/there.json")
        await seen.press("enter")
        assert "exists" in seen.news and len(seen.answers.exported) == 1
        await seen.press("y")
        assert seen.answers.exported[1:] == [(seen.project, APPROXIMATED, f"{tmp_path}/there.json")]

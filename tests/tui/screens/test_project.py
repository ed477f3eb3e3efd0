from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.frame import check_frame, frame, rows
from tests.tui.pilot import look, open_app, press, replace_methods, settle, status_of, type_text
from tests.tui.sample_data import add, add_project, make_id, rich_project, sweep
from tests.tui.screens.stage import offered, shown, with_runs
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.errors import StoreBusy
from tuibench.core.ids import short_id
from tuibench.core.model import ModelState
from tuibench.core.reason import LEGACY_TEXT
from tuibench.present.error.words import error_line, message_words
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.screens.project.screen import ProjectScreen
from tuibench.tui.terminal import Display


async def test_project_frame_filter_and_run_order() -> None:
    async with shown(going=True) as seen:
        # project matches kept frame
        await seen.press("down", "down")
        check_frame(seen.app, "project-80x24")
        # filter keeps lines with all words
        await seen.press("slash")
        await type_text(seen.pilot, "openvino")
        going = [make_id(9, 120)]
        assert seen.keys == [*going, seen.ids[1], seen.ids[5]]
        await type_text(seen.pilot, " inter")
        assert seen.keys == [seen.ids[5]]
        await seen.press("enter")
        assert "1 of 9" in rows(seen.app)[1]
        await seen.press("slash")
        await type_text(seen.pilot, "zzz")
        assert seen.keys == [] and "zzz" in seen.page.benchmarks.table.empty[0]
        # runs come first until saved
        await seen.press("escape")
        assert seen.keys[:2] == [make_id(9, 120), make_id(10, 60)]
        await seen.press("G", "g")
        assert "9 of 15" in frame(seen.app)
        with_runs(seen.app.services)
        await look(seen.app, seen.pilot)
        assert seen.keys == list(seen.ids)


async def test_project_in_ascii_matches_golden_frame() -> None:
    async with shown(going=True, display=Display(ascii_only=True)) as seen:
        await seen.press("down", "down")
        check_frame(seen.app, "project-ascii")
        assert frame(seen.app).isascii()


async def test_list_previews_sorts_and_leaves_in_steps() -> None:
    async with shown() as seen:
        # preview follows cursor and adds missing columns
        assert '"after AMX' in frame(seen.app).split("─" * 80)[2] and "eff 54 %" in frame(seen.app)
        await seen.press("down", "down", "down", "down")
        assert seen.cursor == seen.ids[4]
        assert "batch 512" in frame(seen.app) and "eff" not in frame(seen.app)
        # sort keys cycle and reverse orders
        assert seen.keys == list(seen.ids)
        newest = rows(seen.app)[1]
        await seen.press("S")
        assert seen.keys == list(reversed(seen.ids)) and seen.page.benchmarks.words() in rows(seen.app)[1] != newest
        await seen.press("S", "s", "s", "s", "s")
        assert seen.page.benchmarks.sort == "best" and seen.page.benchmarks.words() in rows(seen.app)[1]
        # The shortest time first, then items/s, then records without a number.
        numbered = [seen.ids[n] for n in (3, 0, 2, 1, 5, 6, 4)]
        assert seen.keys == numbered
        for order in ("±", "grade", "name"):
            await seen.press("s")
            assert seen.page.benchmarks.sort == order
        assert seen.keys[:2] == [seen.ids[0], seen.ids[2]]
        await seen.press("s")
        assert rows(seen.app)[1] == newest
        # escape closes filter clears it then marks then leaves
        await seen.press("space", "slash")
        await type_text(seen.pilot, "ort")
        await seen.press("enter")
        assert seen.page.benchmarks.text == "ort"
        await seen.press("escape")
        assert (seen.page.benchmarks.text, len(seen.page.marked())) == ("", 1)
        await seen.press("escape")
        assert seen.page.marked() == ()
        await seen.press("escape")
        assert not isinstance(seen.app.page, ProjectScreen)


async def test_enter_opens_benchmark_or_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "detail", "run", "form")
    async with shown(going=True) as seen:
        await seen.press("g", "enter")
        assert opened_page(seen.app) == ("run", (make_id(9, 120),), {})
        await seen.press("q", "down", "down", "enter")
        assert opened_page(seen.app) == ("detail", (seen.ids[0],), {})
        await seen.press("q", "n")
        assert opened_page(seen.app) == ("form", (), {"project_id": seen.project})


async def test_list_marks_news_and_settings_field() -> None:
    async with shown() as seen:
        # space marks row and a marks all visible
        await seen.press("space", "space")
        assert seen.page.marked() == seen.ids[:2] and seen.cursor == seen.ids[2]
        assert "2 marked" in rows(seen.app)[1]
        await seen.press("k", "space")
        assert seen.page.marked() == seen.ids[:1]
        await seen.press("a")
        assert seen.page.marked() == seen.ids
        await seen.press("a")
        assert seen.page.marked() == ()
        # result of other session appears
        one = add(Services(), sweep(30, 5.0), seen.project)
        await look(seen.app, seen.pilot)
        assert seen.keys[0] == one and "Benchmarks (8)" in rows(seen.app)[0]
        # settings field takes keys until escape
        await seen.press("4", "e", "1")
        assert "[4 Settings]" in rows(seen.app)[1]
        await seen.press("escape")
        assert "[4 Settings]" in rows(seen.app)[1]
        await seen.press("1")
        assert "[1 Benchmarks]" in rows(seen.app)[1] and seen.page.benchmarks.table.has_focus
        # tabs open by number and bracket
        before = seen.cursor
        await seen.press("4")
        assert "[4 Settings]" in rows(seen.app)[1] and seen.page.target() is None
        await seen.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert "[1 Benchmarks]" in rows(seen.app)[1] and seen.cursor == before
        await seen.press("right_square_bracket", "1", "9")
        assert "[1 Benchmarks]" in rows(seen.app)[1]


async def test_damaged_record_is_listed_with_cause() -> None:
    services = Services()
    project, ids = rich_project(services)
    record = next(services.settings.places.data.rglob(f"*{ids[0]}*.json"))
    record.write_bytes(record.read_bytes()[:-50])
    async with open_app(services=Services()) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        assert "damaged" in "".join(rows(app)[-8:])
        await press(pilot, "down")
        assert "damaged" not in "".join(rows(app)[-8:-3])
        line = next(line for line in rows(app) if short_id(ids[0]) in line)
        assert line.split()[0] == "✗" and "damaged" in line and "1.76" not in line


async def test_damaged_record_refuses_rename_until_repaired() -> None:
    services = Services()
    project, ids = rich_project(services)
    one = short_id(ids[0])
    record = next(services.settings.places.data.rglob(f"*{ids[0]}*.json"))
    whole = record.read_bytes()
    record.write_bytes(whole[:700])
    services.library.remove([ids[0]])
    services.library.undo()
    async with open_app(services=services) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)

        def said() -> str:
            return next(line for line in rows(app) if one in line)

        assert "damaged" in said() and ".json" not in frame(app)
        await press(pilot, "e")
        await settle(pilot)
        assert isinstance(app.screen, ProjectScreen) and status_of(app).kind == "bad"
        record.write_bytes(whole)
        assert services.store.check(repair=True).exit_code == 0
        await look(app, pilot)
        assert "damaged" not in said() and "1.76 ms" in said()
        await press(pilot, "e")
        await settle(pilot)
        assert app.screen is not app.page and one in frame(app) and "AMX" in frame(app)


async def test_damaged_record_is_reread_and_unreadable_store_keeps_rows() -> None:
    async with shown() as seen:
        # damaged record is reread when selected
        record = next(seen.services.settings.places.data.rglob(f"*{seen.ids[1]}*.json"))
        whole = record.read_bytes()
        record.write_bytes(whole[:-50])
        await seen.press("down")
        line = next(line for line in rows(seen.app) if short_id(seen.ids[1]) in line)
        assert "damaged" in line
        record.write_bytes(whole)
        await seen.press("down", "up")
        line = next(line for line in rows(seen.app) if short_id(seen.ids[1]) in line)
        assert "damaged" not in line and "15 %" in line

        # unreadable store shows hint and keeps rows
        held = StoreBusy(LEGACY_TEXT, text="the store is held by pid 7", hint="try again in a moment")

        def refuse(*_: object) -> None:
            raise held

        replace_methods(seen.app.services, library__list=refuse)
        seen.page.load()
        await settle(seen.pilot)
        assert seen.status.kind == "bad" and error_line(held) in seen.status.said
        assert seen.keys == list(seen.ids)
        seen.app.go(route.project(seen.project))
        await settle(seen.pilot)
        assert message_words(held) in "".join(rows(seen.app)[3:6])


async def test_empty_project_offers_only_working_keys() -> None:
    services = Services()
    project = add_project(services)
    async with open_app(services=services) as (app, pilot):
        # empty project names useful key
        app.go(route.project(project))
        await settle(pilot)
        assert frame(app).count(" n ") == 2, "in the empty list and among the keys"
        # Keys of a benchmark have no target and say so.
        for key in ("r", "R", "c", "d", "e", "x", "y", "L"):
            await press(pilot, key)
            assert status_of(app).kind == "warn" and rows(app)[-3], key
        # empty list offers only working keys
        assert offered(app) == ["n", "u", "]", "f2", "f3", ":", "?"]
        await press(pilot, "2")
        assert offered(app) == ["enter", "n", "u", "x", "y", "]", "f2", "f3", ":", "?"]
        await press(pilot, "4")
        assert offered(app)[0] == "e"
        one = add(services, sweep(), project)
        await look(app, pilot)
        await press(pilot, "1")
        assert {"r", "c"} <= {*offered(app)}
        # A record hidden by the filter still exists.
        await press(pilot, "slash")
        await type_text(pilot, "zzz")
        await press(pilot, "enter")
        assert "c" in offered(app)
        await press(pilot, "escape")
        services.library.remove((one,))
        await look(app, pilot)
        assert "c" not in offered(app) and "n" in offered(app)


async def test_unassigned_list_offers_no_new_run() -> None:
    async with open_app() as (app, pilot):
        app.go(route.unassigned())
        await settle(pilot)
        assert offered(app)[0] == "u" and " n " not in frame(app)
        await press(pilot, "2")
        assert offered(app)[0] == "u"
        add(Services(), sweep())
        await press(pilot, "1")
        await look(app, pilot)
        assert "r" in offered(app) and "n" not in offered(app)


async def test_missing_model_says_so() -> None:
    services = Services()
    project, _ = rich_project(services)
    for file in (services.settings.places.data.parent / "models").iterdir():
        file.unlink()
    async with open_app((120, 36), services=services) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        assert status_of(app).kind == "warn" and "resnet50.onnx" in rows(app)[-3]


async def test_model_is_reread_after_run_adds_version() -> None:
    async with shown((120, 36)) as seen:
        looked: list[str] = []
        state = seen.app.services.projects.newest_state

        def look_at(project: str) -> ModelState:
            looked.append(project)
            return state(project)

        replace_methods(seen.app.services, projects__newest_state=look_at)
        seen.page.load()
        await settle(seen.pilot)
        assert looked == []
        project = seen.app.services.projects.get(seen.project)
        newer = replace(project.project, versions=(*project.project.versions, project.project.versions[0]))
        replace_methods(seen.app.services, projects__get=lambda _: replace(project, project=newer))
        seen.page.load()
        await settle(seen.pilot)
        assert looked == [seen.project]


async def test_low_terminal_prefers_list_over_preview() -> None:
    async with shown((40, 12)) as seen:
        shown_ids = [one for one in seen.ids if any(short_id(one) in line for line in rows(seen.app)[3:])]
        assert len(shown_ids) >= 4 and "eff" not in frame(seen.app)
        await seen.pilot.resize_terminal(40, 24)
        await settle(seen.pilot)
        assert '"after AMX' in frame(seen.app), "what has no column here is told below, the name first"

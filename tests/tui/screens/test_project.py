from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.frame import check_frame, frame, rows
from tests.tui.landing import land, landed
from tests.tui.pilot import look, open_app, press, replace_methods, settle, type_text
from tests.tui.screens.stage import shown, with_runs
from tests.tui.stock import add, add_project, make_id, rich_project, sweep
from tuibench.core.errors import StoreBusy
from tuibench.core.ids import short_id
from tuibench.core.model import ModelState
from tuibench.services.api import Services
from tuibench.tui import route
from tuibench.tui.app import Dashboard
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
        assert "1 of 9 with" in rows(seen.app)[1]
        await seen.press("slash")
        await type_text(seen.pilot, "zzz")
        assert seen.keys == [] and "No match for" in frame(seen.app)
        # runs come first until saved
        await seen.press("escape")
        assert seen.keys[:2] == [make_id(9, 120), make_id(10, 60)]
        assert "9/15 cells ~3m10" in frame(seen.app) and "queued, position 1, in ~3m10" in frame(seen.app)
        await seen.press("G", "g")
        assert "running · 9 of 15 cells" in frame(seen.app)
        with_runs(seen.app.services)
        await look(seen.app, seen.pilot)
        assert seen.keys == list(seen.ids)


async def test_project_in_ascii_matches_kept_frame() -> None:
    async with shown(going=True, display=Display(ascii_only=True)) as seen:
        await seen.press("down", "down")
        check_frame(seen.app, "project-ascii")
        assert frame(seen.app).isascii()


async def test_list_shows_states_previews_sorts_and_leaves_in_steps() -> None:
    async with shown() as seen:
        # each record shows state and number
        lines = {short_id(one): next(line for line in rows(seen.app) if short_id(one) in line) for one in seen.ids}
        said = [lines[short_id(one)] for one in seen.ids]
        assert "1.76 ms @16×1" in said[0] and "ov faster: 15 % less p50 latency" in said[1]
        assert "! " in said[3] and "outputs differ" in said[3]
        assert "✗ " in said[4] and "died by SIGSEGV" in said[4]
        assert "‖ " in said[5] and "interrupted 3/5" in said[5]
        assert "743 /s" in said[6]
        # preview follows cursor and adds missing columns
        assert '"after AMX fix"' in frame(seen.app) and "eff 54 %" in frame(seen.app)
        await seen.press("down", "down", "down", "down")
        assert seen.cursor == seen.ids[4]
        assert "first line" not in frame(seen.app)
        assert "1 cell · sync, 16 cores, batch 512: died by SIGSEGV" in frame(seen.app)
        # sort keys cycle and reverse orders
        assert seen.keys == list(seen.ids)
        await seen.press("S")
        assert seen.keys == list(reversed(seen.ids)) and "oldest first" in rows(seen.app)[1]
        await seen.press("S", "s", "s", "s", "s")
        assert "by best" in rows(seen.app)[1]
        # The shortest time first, then items/s, then records without a number.
        numbered = [seen.ids[n] for n in (3, 0, 2, 1, 5, 6, 4)]
        assert seen.keys == numbered
        for order in ("±", "grade", "name"):
            await seen.press("s")
            assert f"by {order}" in rows(seen.app)[1]
        assert seen.keys[:2] == [seen.ids[0], seen.ids[2]]
        await seen.press("s")
        assert "newest first" in rows(seen.app)[1]
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
    land(monkeypatch, "detail", "run", "form")
    async with shown(going=True) as seen:
        await seen.press("g", "enter")
        assert landed(seen.app) == ("run", (make_id(9, 120),), {})
        await seen.press("q", "down", "down", "enter")
        assert landed(seen.app) == ("detail", (seen.ids[0],), {})
        await seen.press("q", "n")
        assert landed(seen.app) == ("form", (), {"project_id": seen.project})


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


async def test_damaged_record_is_listed_with_cause() -> None:
    services = Services()
    project, ids = rich_project(services)
    record = next(services.settings.places.data.rglob(f"*{ids[0]}*.json"))
    record.write_bytes(record.read_bytes()[:-50])
    async with open_app(services=Services()) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        assert "is damaged" in "".join(rows(app)[-8:])
        await press(pilot, "down")
        assert "is damaged" not in "".join(rows(app)[-8:-3])
        line = next(line for line in rows(app) if short_id(ids[0]) in line)
        assert line.split()[0] == "✗" and "its record is damaged" in line and "1.76" not in line


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

        assert "its record is damaged" in said() and f"the record of {one} is damaged" in frame(app)
        assert ".json" not in frame(app)
        await press(pilot, "e")
        await settle(pilot)
        assert isinstance(app.screen, ProjectScreen) and "is damaged: its name cannot be changed" in frame(app)
        record.write_bytes(whole)
        assert services.store.check(repair=True).exit_code == 0
        await look(app, pilot)
        assert "its record is damaged" not in said() and "1.76 ms" in said()
        await press(pilot, "e")
        await settle(pilot)
        assert f"Name and note of {one}" in frame(app) and "after AMX fix" in frame(app)


async def test_damaged_record_is_reread_and_unreadable_store_keeps_rows() -> None:
    async with shown() as seen:
        # damaged record is reread when selected
        record = next(seen.services.settings.places.data.rglob(f"*{seen.ids[1]}*.json"))
        whole = record.read_bytes()
        record.write_bytes(whole[:-50])
        await seen.press("down")
        line = next(line for line in rows(seen.app) if short_id(seen.ids[1]) in line)
        assert "its record is damaged" in line
        record.write_bytes(whole)
        await seen.press("down", "up")
        line = next(line for line in rows(seen.app) if short_id(seen.ids[1]) in line)
        assert "its record is damaged" not in line and "ov faster: 15 % less p50 latency" in line

        # unreadable store shows hint and keeps rows
        def refuse(*_: object) -> None:
            raise StoreBusy("the store is held by pid 7", "try again in a moment")

        replace_methods(seen.app.services, library__list=refuse)
        seen.page.load()
        await settle(seen.pilot)
        assert "! the store is held by pid 7: try again in a moment" in rows(seen.app)[-3]
        assert seen.keys == list(seen.ids)
        seen.app.go(route.project(seen.project))
        await settle(seen.pilot)
        assert "the store is held by pid 7" in "".join(rows(seen.app)[3:6])


async def test_tabs_open_by_number_and_bracket() -> None:
    async with shown() as seen:
        await seen.press("4")
        assert "[4 Settings]" in rows(seen.app)[1] and seen.page.target() is None
        await seen.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert "[1 Benchmarks]" in rows(seen.app)[1] and seen.cursor == seen.ids[0]
        await seen.press("right_square_bracket", "1", "9")
        assert "[1 Benchmarks]" in rows(seen.app)[1]


async def test_empty_project_offers_only_working_keys() -> None:
    services = Services()
    project = add_project(services)
    async with open_app(services=services) as (app, pilot):
        # empty project names useful key
        app.go(route.project(project))
        await settle(pilot)
        assert "No benchmark yet." in frame(app) and "n   new benchmark" in frame(app)
        # Keys of a benchmark have no target and say so.
        for key in ("r", "R", "c", "d", "e", "x", "y", "L"):
            await press(pilot, key)
            assert "no benchmark under the cursor" in rows(app)[-3], key
        # empty list offers only working keys
        app.go(route.project(project))
        await settle(pilot)
        assert offered(app) == "n new  u undo  ] tab  f2 system  f3 trash  : palette  ? help"
        await press(pilot, "2")
        theory = "enter open  n new  u undo  x export  y copy command  ] tab  f2 system  f3 trash  : palette  ? help"
        assert offered(app) == theory
        await press(pilot, "4")
        assert offered(app).startswith("e edit")
        one = add(services, sweep(), project)
        await look(app, pilot)
        await press(pilot, "1")
        assert "r re-run" in offered(app) and "c compare" in offered(app)
        # A record hidden by the filter still exists.
        await press(pilot, "slash")
        await type_text(pilot, "zzz")
        await press(pilot, "enter")
        assert "c compare" in offered(app)
        await press(pilot, "escape")
        services.library.remove((one,))
        await look(app, pilot)
        assert "c compare" not in offered(app) and "n new" in offered(app)


async def test_unassigned_list_offers_no_new_run() -> None:
    async with open_app() as (app, pilot):
        app.go(route.unassigned())
        await settle(pilot)
        assert offered(app).startswith("u undo") and "n   new benchmark" not in frame(app)
        await press(pilot, "2")
        assert offered(app).startswith("u undo")
        add(Services(), sweep())
        await press(pilot, "1")
        await look(app, pilot)
        assert "r re-run" in offered(app) and "n new" not in offered(app)


def offered(app: Dashboard) -> str:
    """Return the two lines of keys."""
    return "  ".join(line.strip() for line in rows(app)[-2:] if line.strip())


async def test_missing_model_says_so() -> None:
    services = Services()
    project, _ = rich_project(services)
    for file in (services.settings.places.data.parent / "models").iterdir():
        file.unlink()
    async with open_app((120, 36), services=services) as (app, pilot):
        app.go(route.project(project))
        await settle(pilot)
        assert "is gone" in rows(app)[-3]


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
        assert '"after AMX fix"' in frame(seen.app), "what has no column here is told below, the name first"

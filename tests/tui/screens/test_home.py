from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import PATIENCE_S
from tests.present.build import HOSTILE
from tests.tui.frame import check_frame, frame, rows
from tests.tui.idle import all_handled
from tests.tui.pilot import look, open_app, press, replace_methods, send_key, settle, status_of, type_text
from tests.tui.sample_data import add, add_project, make_going, rich_project, sweep
from tests.tui.screens.stage import answers_of, with_runs
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.errors import StoreBusy
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.present.error.words import message_words
from tuibench.services.api import Services
from tuibench.services.state_file import StateFile
from tuibench.tui import route
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.field import TextQuestion
from tuibench.tui.widgets.record_table import RecordTable
from tuibench.tui.widgets.text_block import TextBlock


def three_projects() -> tuple[Services, dict[str, str]]:
    """Create three projects one after the other; the first is measured."""
    services = Services()
    project, _ = rich_project(services)
    names = {"resnet50": project}
    for n, name in enumerate(("bert", "yolo")):
        names[name] = add_project(services, name, f"{n:064x}")
    return services, names


@pytest.fixture
def one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the size of project files: they contain paths, and test paths vary in length."""
    monkeypatch.setattr("tuibench.core.stored.size", lambda _: "812 B")
    monkeypatch.setattr("tuibench.tui.screens.project.home.size", lambda _: "812 B")


@pytest.mark.usefixtures("one_size")
async def test_home_matches_golden_frame() -> None:
    three_projects()
    async with open_app() as (app, _):
        check_frame(app, "home-80x24")


@pytest.mark.usefixtures("one_size")
async def test_home_in_ascii_matches_golden_frame() -> None:
    three_projects()
    async with open_app(display=Display(ascii_only=True)) as (app, _):
        check_frame(app, "home-ascii")
        assert frame(app).isascii()


async def test_enter_opens_project_and_next_session_starts_there(monkeypatch: pytest.MonkeyPatch) -> None:
    _, names = three_projects()
    stub_routes(monkeypatch, "project")
    async with open_app() as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        home.table.move_to(names["bert"])
        await press(pilot, "enter")
        assert opened_page(app) == ("project", (names["bert"],), {})
    async with open_app() as (app, _):
        assert isinstance(app.page, HomeScreen)
        assert app.page.table.cursor_key == names["bert"]


async def test_sort_order_cycles_reverses_and_persists(monkeypatch: pytest.MonkeyPatch) -> None:
    _, names = three_projects()
    wrote: list[threading.Thread] = []
    write = StateFile._write

    def watched(state: StateFile, new: Mapping[str, Any]) -> bool:
        wrote.append(threading.current_thread())
        return write(state, new)

    monkeypatch.setattr(StateFile, "_write", watched)
    async with open_app() as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        await press(pilot, "s")
        assert list(home.table.keys) == [names[each] for each in ("bert", "resnet50", "yolo")]
        await press(pilot, "S")
        assert list(home.table.keys) == [names[each] for each in ("yolo", "resnet50", "bert")]
        assert " name " in rows(app)[0]
    assert wrote and threading.main_thread() not in wrote, "no key waits for the disk"
    async with open_app((200, 36)) as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        assert list(home.table.keys) == [names[each] for each in ("yolo", "resnet50", "bert")]
        for word in ("made", "changed"):
            await press(pilot, "s")
            assert f" {word} " in rows(app)[0] and word.upper() in frame(app), "as its column is called"


async def test_home_filter_applies_and_polls_show_changes() -> None:
    _, names = three_projects()
    async with open_app() as (app, pilot):
        # filter applies while typing and escape clears it
        home = app.page
        assert isinstance(home, HomeScreen)
        await press(pilot, "slash")
        await type_text(pilot, "ber")
        assert list(home.table.keys) == [names["bert"]]
        await press(pilot, "enter")
        assert "'ber'" in rows(app)[0] and app.focused is home.table
        await press(pilot, "escape")
        assert len(home.table.keys) == 3
        # filter without matches differs from empty home
        await press(pilot, "slash")
        await type_text(pilot, "zzz")
        assert not home.table.keys and "zzz" in home.table.empty[0]
        await press(pilot, "enter")
        for key in ("d", "r", "D"):
            await press(pilot, key)
            assert " esc " in rows(app)[-3] and status_of(app).kind == "warn", key
        # filter reopened from palette returns keys to list
        await press(pilot, "slash", "y", "ctrl+p")
        await type_text(pilot, "list: filter")
        await press(pilot, "enter", "enter")
        assert isinstance(app.focused, RecordTable)
        # next poll shows changes by others
        await press(pilot, "escape")
        home.table.move_to(names["bert"])
        add(Services(), sweep(40, 10.0), names["bert"])
        app.poll()
        await settle(pilot)
        line = next(row for row in rows(app) if "bert" in row)
        assert line.split()[3] == "1", line
        assert home.table.cursor_key == names["bert"]


async def test_project_removal_rename_and_copy() -> None:
    services, names = three_projects()
    async with open_app() as (app, pilot):
        # removal asks and can be undone
        home = app.page
        assert isinstance(home, HomeScreen)
        home.table.move_to(names["resnet50"])
        await press(pilot, "d")
        assert {"resnet50", "7"} <= {*rows(app)[-3].split()} and answers_of(status_of(app)) == ("y",)
        await press(pilot, "escape")
        assert len(services.projects.list()) == 3
        await press(pilot, "d", "y")
        assert len(services.projects.list()) == 2 and services.library.list() == ()
        await press(pilot, "u")
        assert len(services.projects.list()) == 3 and len(services.library.list()) == 7
        assert home.table.cursor_key == names["resnet50"]
        # rename requires a name
        home.table.move_to(names["yolo"])
        await press(pilot, "e", "backspace", "enter", "enter")
        assert isinstance(app.screen, TextQuestion) and "! " in frame(app)
        await type_text(pilot, "cars")
        await press(pilot, "tab")
        await type_text(pilot, "driving")
        await press(pilot, "enter")
        found = services.store.projects.get(names["yolo"])
        assert (found.name, found.description) == ("cars", "driving")
        assert "cars" in frame(app)
        # a copy has the model without the benchmarks
        home.table.move_to(names["resnet50"])
        await press(pilot, "D", "enter")
        copy = next(row for row in services.projects.list() if row.project.name == "resnet50 copy")
        assert copy.benchmarks == 0
        assert copy.project.versions[0].model == services.store.projects.get(names["resnet50"]).versions[0].model


async def test_benchmark_keys_act_on_newest_of_project(monkeypatch: pytest.MonkeyPatch) -> None:
    _, names = three_projects()
    stub_routes(monkeypatch, "form", "comparison")
    async with open_app() as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        home.table.move_to(names["resnet50"])
        newest = Services().library.list(names["resnet50"])[0]
        await press(pilot, "R")
        assert opened_page(app) == ("form", (), {"benchmark": newest.id})
        await press(pilot, "q", "c")
        assert opened_page(app) == ("comparison", (newest.rerun_of, newest.id), {})
        await press(pilot, "q")
        home.table.move_to(names["bert"])
        await press(pilot, "R")
        assert " bert" in rows(app)[-3] and status_of(app).kind == "warn"


async def test_busy_store_refusal_keeps_input_for_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    services, names = three_projects()
    error = StoreBusy(LEGACY_TEXT, text="the store is busy")

    def busy(*_: object, **__: object) -> None:
        raise error

    async with open_app((120, 24)) as (app, pilot):
        home = app.page
        assert isinstance(home, HomeScreen)
        for key, work, typed, fields in (
            ("e", "edit", "named", ("enter",) * 2),
            ("D", "duplicate", "copied", ("enter",)),
        ):
            home.table.move_to(names["bert"])
            with monkeypatch.context() as meanwhile:
                meanwhile.setattr(app.services.projects, work, busy)
                await press(pilot, key)
                await type_text(pilot, typed)
                await press(pilot, *fields)
            assert message_words(error) in frame(app) and typed in frame(app)
            await press(pilot, *fields)
            assert typed in {project.name for project in services.store.projects.all()}


async def test_hostile_names_are_plain_text_on_home_and_in_project(home: Path) -> None:
    services = Services()
    model = home / "models" / "\x1b[31mred\udcff.onnx"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"-")
    project = add_project(services, "odd", "f" * 64, model)
    stored = HOSTILE.replace("\udcff", "")
    add(services, sweep(40, 1.0), project, name=stored, note=stored)
    found = services.projects.get(project)
    (version,) = found.project.versions
    version = replace(version, model=replace(version.model, asked=HOSTILE))
    odd = replace(found, project=replace(found.project, description=HOSTILE, versions=(version,)))
    replace_methods(services, projects__list=lambda *_, **__: (odd,))
    async with open_app((160, 40), services=services) as (app, pilot):
        seen = frame(app).replace("\n", "")
        assert seen.isprintable() and "\\e" in seen and "calc" in seen
        app.go(route.project(project))
        await settle(pilot)
        seen = frame(app).replace("\n", "")
        assert seen.isprintable() and "\\e" in seen and "calc" in seen


async def test_runs_follow_their_project_and_unassigned_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    services, names = three_projects()
    stub_routes(monkeypatch, "run")
    mine, lost = make_going(names["bert"])
    services = with_runs(services, mine, replace(lost, project=""))
    async with open_app((120, 36), services=services) as (app, pilot):
        await look(app, pilot)
        home = app.page
        assert isinstance(home, HomeScreen)
        line = next(row for row in rows(app) if " bert " in row)
        assert "▶ 9/15 ~3m10" in line
        assert home.table.keys[0] == lost.info.id
        assert "… waiting" in next(row for row in rows(app) if "(no project yet)" in row)
        home.table.move_to(lost.info.id)
        await press(pilot, "D")
        assert {short_id(lost.info.id), "enter"} <= {*rows(app)[-3].split()}
        await press(pilot, "enter")
        assert opened_page(app) == ("run", (lost.info.id,), {})


async def test_panel_is_empty_on_non_project_line() -> None:
    services = Services()
    project, _ = rich_project(services)
    services = with_runs(services, *(replace(one, project="") for one in make_going(project)))
    async with open_app((120, 36), services=services) as (app, pilot):
        page = app.page
        assert isinstance(page, HomeScreen)
        go_on, real = threading.Event(), app.services.library.list

        def benchmarks(*given: Any, **more: Any) -> Any:
            go_on.wait(PATIENCE_S)
            return real(*given, **more)

        replace_methods(app.services, library__list=benchmarks)
        for key in ("g", "G", "up"):
            send_key(app, key)
            await all_handled()
        assert page.chosen() is None
        go_on.set()
        await settle(pilot)
        assert page.query_one("#panel", TextBlock).get_content_height() == 0

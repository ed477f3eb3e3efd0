from __future__ import annotations

from tests.tui.frame import frame, rows
from tests.tui.pilot import open_app, press, status_of, type_text
from tests.tui.sample_data import pass_millisecond, rich_project
from tests.tui.screens.stage import offered
from tuibench.services.api import Services
from tuibench.tui.screens.trash import TrashScreen
from tuibench.tui.widgets.field import TextQuestion


def removed() -> tuple[Services, tuple[str, ...]]:
    services = Services()
    _, ids = rich_project(services)
    services.library.remove(ids[:2])
    pass_millisecond()
    services.library.remove(ids[2:3])
    return services, ids


async def test_latest_removal_is_first_and_enter_restores_it() -> None:
    services, ids = removed()
    async with open_app() as (app, pilot):
        await press(pilot, "f3")
        assert isinstance(app.page, TrashScreen)
        assert "Trash (2, " in rows(app)[0]
        await press(pilot, "down", "enter")
        assert len(services.library.trash()) == 1
        assert {row.id for row in services.library.list()} >= set(ids[:2])
        assert "restored" in frame(app) and "Trash (1, " in rows(app)[0]


async def test_delete_requires_typed_word() -> None:
    services, _ = removed()
    async with open_app() as (app, pilot):
        await press(pilot, "f3", "E")
        await type_text(pilot, "yes")
        await press(pilot, "enter")
        assert isinstance(app.screen, TextQuestion) and len(services.library.trash()) == 2
        await press(pilot, "escape")
        assert len(services.library.trash()) == 2
        await press(pilot, "E")
        await type_text(pilot, "empty")
        await press(pilot, "enter")
        assert services.library.trash() == ()
        assert offered(app) == ["esc", ":", "?"]
        await press(pilot, "E")
        assert isinstance(app.screen, TrashScreen) and status_of(app).said


async def test_same_key_closes_trash() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "f3", "f3")
        assert not isinstance(app.screen, TrashScreen)


async def test_removal_during_confirmation_is_not_deleted() -> None:
    services, ids = removed()
    async with open_app() as (app, pilot):
        await press(pilot, "f3", "E")
        pass_millisecond()
        services.library.remove(ids[3:4])
        await type_text(pilot, "empty")
        await press(pilot, "enter")
        assert [entry.benchmarks for entry in services.library.trash()] == [(ids[3],)]
        assert " 2 " in status_of(app).said

"""What a form must bear: hostile names, tiny terminals, slow lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.counting import CountingDriver, bytes_of, counter_of
from tests.tui.frame import frame
from tests.tui.pilot import look, press, settle, type_text
from tests.tui.screens.form_desk import VALUES, FormDesk, running
from tests.tui.screens.form_stage import Timers, focused, form_of, neighbours, open_form, timers
from tuibench.tui.desk import EngineChoice, Machine

__all__ = ["neighbours", "timers"]

HOSTILE = "\x1b[2J\x1b]0;pwn\x07[red]@click=app.quit\u202e\u200b\r\n" + "\U0001f4a3" + "é" * 1000


async def test_hostile_names_drive_nothing() -> None:
    values = replace(VALUES, model=HOSTILE, dims=((HOSTILE, HOSTILE),), name=HOSTILE, note=HOSTILE, compare_to=HOSTILE)
    desk = FormDesk(values, origin=HOSTILE, error=HOSTILE)
    desk.machine_now = Machine(1, 1, 1, (HOSTILE,), (EngineChoice(HOSTILE, False, "", HOSTILE),))
    desk.warnings = (HOSTILE,)
    async with open_form(desk, project="p1", headless=False, driver=CountingDriver) as (app, pilot):
        assert all(line.isprintable() for line in frame(app).split("\n"))
        for _ in range(20):
            await press(pilot, "enter")
            assert all(line.isprintable() for line in frame(app).split("\n"))
        assert "\x1b]0;pwn" not in counter_of(app).take()
        assert form_of(app).column.values() == values


async def test_a_terminal_of_twenty_by_five_and_back() -> None:
    async with open_form(FormDesk(), benchmark="01ARZ3NDEKTSV4RRFFQ69G5FAV") as (app, pilot):
        before = frame(app)
        await pilot.resize_terminal(20, 5)
        await settle(pilot)
        small = frame(app)
        assert "RUN" in small and all(len(line) <= 20 for line in small.splitlines())
        await type_text(pilot, "12")
        assert "12" in frame(app)
        await press(pilot, "enter")
        assert ">Batches" in frame(app)
        await press(pilot, "up")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert form_of(app).column.values().cores == "12"
        assert [line[:11] for line in frame(app).splitlines()] == [line[:11] for line in before.splitlines()]


async def test_more_dims_than_rows_are_scrolled_to() -> None:
    many = replace(VALUES, dims=tuple((f"dim{n}", str(n)) for n in range(30)))
    async with open_form(FormDesk(many), benchmark="01ARZ3NDEKTSV4RRFFQ69G5FAV") as (app, pilot):
        assert "dim29" not in frame(app)
        form_of(app).column.go_to("dim:dim29")
        await settle(pilot)
        assert focused(app) == "dim:dim29"
        assert ">dim29" in frame(app)


@pytest.mark.parametrize(("what", "keys", "most"), [("a letter", ("7",), 300), ("the next field", ("enter",), 700)])
async def test_a_key_sends_little(timers: Timers, what: str, keys: tuple[str, ...], most: int) -> None:
    desk = FormDesk()
    async with open_form(
        desk, benchmark="01ARZ3NDEKTSV4RRFFQ69G5FAV", headless=False, driver=CountingDriver
    ) as (_, pilot):  # fmt: skip
        await press(pilot, "1", "2")
        sent = await bytes_of(pilot, lambda: pilot.press(*keys))
        assert 0 < sent <= most, f"{what} sent {sent} bytes"


async def test_a_check_that_finds_the_same_sends_nothing_and_one_that_fails_little(timers: Timers) -> None:
    desk = FormDesk()
    async with open_form(
        desk, benchmark="01ARZ3NDEKTSV4RRFFQ69G5FAV", headless=False, driver=CountingDriver
    ) as (app, pilot):  # fmt: skip
        form = form_of(app)

        async def check() -> None:
            form.check()
            await settle(pilot)

        assert await bytes_of(pilot, check) == 0
        await press(pilot, "x")
        assert 0 < await bytes_of(pilot, check) <= 1500


async def test_a_second_of_others_running_sends_one_line() -> None:
    desk = FormDesk()
    desk.runs = (running(190.0),)
    async with open_form(desk, project="p1", headless=False, driver=CountingDriver) as (app, pilot):
        await look(app, pilot)

        async def one_second() -> None:
            desk.runs = (running(189.0),)
            await look(app, pilot)

        assert await bytes_of(pilot, one_second) <= 400

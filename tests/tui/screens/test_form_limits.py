"""Limits of the form: hostile names, tiny terminals, slow connections."""

from __future__ import annotations

from dataclasses import replace

from textual import events

from tests.tui.counting import CountingDriver, bytes_of, counter_of
from tests.tui.frame import frame
from tests.tui.idle import all_handled, until
from tests.tui.pilot import look, open_app, press, settle, status_of, type_text, until_seen
from tests.tui.screens.form_services import VALUES, FormServices, running
from tests.tui.screens.form_stage import BENCHMARK, Timers, form_of, neighbours, open_form, timers
from tests.tui.stub_page import StubPage
from tuibench.core.machine import EngineChoice, Machine
from tuibench.tui import route
from tuibench.tui.app import Dashboard

__all__ = ["neighbours", "timers"]

HOSTILE = "\x1b[2J\x1b]0;pwn\x07[red]@click=app.quit\u202e\u200b\r\n" + "\U0001f4a3" + "é" * 300


async def test_hostile_names_are_plain_text() -> None:
    values = replace(VALUES, model=HOSTILE, dims=((HOSTILE, HOSTILE),), name=HOSTILE, note=HOSTILE, compare_to=HOSTILE)
    services = FormServices(values, origin=HOSTILE, error=HOSTILE)
    services.machine_now = Machine(1, 1, 1, (HOSTILE,), (EngineChoice(HOSTILE, False, "", HOSTILE),))
    services.warnings = (HOSTILE,)
    async with open_form(services, project="p1", headless=False, driver=CountingDriver) as (app, pilot):
        assert all(line.isprintable() for line in frame(app).split("\n"))
        for _ in range(20):
            await press(pilot, "enter")
            assert all(line.isprintable() for line in frame(app).split("\n"))
        assert "\x1b]0;pwn" not in counter_of(app).take()
        assert form_of(app).column.values() == values


async def test_form_survives_20x5_terminal_and_back() -> None:
    async with open_form(FormServices(), benchmark=BENCHMARK) as (app, pilot):
        before = frame(app)
        await pilot.resize_terminal(20, 5)
        await settle(pilot)
        small = frame(app)
        assert "RUN" in small and all(len(line) <= 20 for line in small.splitlines())
        await type_text(pilot, "12")
        assert "12" in frame(app)
        await press(pilot, "enter")
        await until_seen(pilot, lambda: ">Batches" in frame(app))
        await press(pilot, "up")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert form_of(app).column.values().cores == "12"
        assert [line[1:11] for line in frame(app).splitlines()[1:16]] == [
            line[1:11] for line in before.splitlines()[1:16]
        ]


async def test_keys_and_checks_of_form_send_little(timers: Timers) -> None:
    async with open_form(FormServices(), benchmark=BENCHMARK, headless=False, driver=CountingDriver) as (app, pilot):
        form = form_of(app)

        async def check() -> None:
            form.check()
            await settle(pilot)

        # an unchanged check sends nothing, a failed one little
        assert await bytes_of(pilot, check) == 0
        await press(pilot, "x")
        assert 0 < await bytes_of(pilot, check) <= 1500
        # a letter and the next field send little
        await press(pilot, "ctrl+u", "1", "2")
        await check()
        for key, most in (("7", 300), ("enter", 700)):
            sent = await bytes_of(pilot, lambda key=key: pilot.press(key))  # type: ignore[misc]
            assert 0 < sent <= most, f"{key} sent {sent} bytes"


async def test_poll_with_other_runs_sends_one_line() -> None:
    services = FormServices()
    services.active = (running(190.0),)
    async with open_form(services, project="p1", headless=False, driver=CountingDriver) as (app, pilot):
        await look(app, pilot)

        async def one_second() -> None:
            services.active = (running(189.0),)
            await look(app, pilot)

        assert await bytes_of(pilot, one_second) <= 400


def burst(app: Dashboard, *keys: str) -> None:
    """Send keys in one packet, as from a slow connection."""
    for one in keys:
        app.post_message(events.Key(one, one if len(one) == 1 else None))


async def test_keys_in_one_packet_reach_their_fields() -> None:
    services = FormServices()
    async with open_form(services, benchmark=BENCHMARK) as (app, pilot):
        burst(app, "8", "enter", "2", "4", "tab", "5", "up", "6", "ctrl+r")
        await settle(pilot)
        ((values, _, _),) = services.started
        assert (values.cores, values.batches, values.dims) == ("8", "6", (("seq", "5"),))


async def test_form_ignores_keys_but_escape_while_model_loads() -> None:
    services = FormServices()
    services.reading.clear()
    async with open_app(services=services) as (app, pilot):
        # keys pressed while model loads are ignored
        app.go(route.form(benchmark=BENCHMARK))
        await until(lambda: bool(services.opened))
        assert status_of(app).said and not form_of(app).ready
        burst(app, "enter", "9", "ctrl+r")
        await all_handled()
        assert services.started == []
        services.reading.set()
        await settle(pilot)
        assert services.started == [] and form_of(app).column.values().batches == services.begins.values.batches
        # form can be left while model loads
        await press(pilot, "escape")
        app.go(route.form(path="hf:somebody/something"))
        await until(lambda: bool(services.opened))
        await pilot.press("escape")
        await until(lambda: isinstance(app.page, StubPage))
        services.reading.set()
        await settle(pilot)
        assert isinstance(app.page, StubPage)

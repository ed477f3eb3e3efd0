from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.present.test_doctor import facts_of, write_intel
from tests.tui.frame import check_frame, frame, rows
from tests.tui.pilot import look, open_app, press, status_of
from tests.tui.screens.system_services import MACHINE, RUN, SystemServices
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.reason import LEGACY_TEXT
from tuibench.present.doctor import paragraphs
from tuibench.present.error.words import hint_words, message_words
from tuibench.tui.screens.system import describe
from tuibench.tui.terminal import Display

SHOWN = Display(environ=(("TEXTUAL_FPS", "15"),), remote=True)


@pytest.fixture
def facts(tmp_path: Path) -> dict[str, Any]:
    """Return the facts of a machine made of files, with two sources of measurement noise."""
    write_intel(tmp_path)
    return facts_of(tmp_path)


@pytest.mark.parametrize(("display", "name"), [(SHOWN, "system-80x24"), (Display(ascii_only=True), "system-ascii")])
async def test_system_matches_golden_frame(facts: dict[str, Any], display: Display, name: str) -> None:
    async with open_app(services=SystemServices(facts), display=display) as (app, pilot):
        await press(pilot, "f2")
        check_frame(app, name)
        assert not display.ascii_only or frame(app).isascii()


async def test_system_screen_examines_once_and_again_on_request(facts: dict[str, Any]) -> None:
    services = SystemServices(facts)
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2")
        assert services.looks == 1
        await look(app, pilot)
        await press(pilot, "question_mark", "escape", "pagedown")
        assert services.looks == 1
        facts["noise"]["load1"] = 7.5
        await press(pilot, "r")
        assert services.looks == 2 and "refreshed" in frame(app)
        await press(pilot, "home")
        assert "load 7.50" in frame(app)
        await press(pilot, "f5")
        assert services.looks == 3


async def test_same_key_closes_system_screen(facts: dict[str, Any]) -> None:
    async with open_app(services=SystemServices(facts)) as (app, pilot):
        home = app.screen
        await press(pilot, "f2", "f2")
        assert app.screen is home
        await press(pilot, "f2", "q")
        assert app.screen is home


async def test_examination_during_measurement_asks_first(facts: dict[str, Any]) -> None:
    services = SystemServices(facts, (RUN,))
    async with open_app(services=services) as (app, pilot):
        await look(app, pilot)
        await press(pilot, "f2")
        assert services.looks == 0
        assert short_id(RUN.info.id) in rows(app)[2] and rows(app)[3].startswith("r ")
        await press(pilot, "r")
        assert services.looks == 1 and "Intel(R)" in frame(app)


async def test_failed_examination_shows_reason_and_allows_retry(facts: dict[str, Any]) -> None:
    error = TuibenchError(LEGACY_TEXT, text="no process could be started", hint="close some")
    services = SystemServices(error)
    async with open_app(services=services) as (app, pilot):
        await press(pilot, "f2")
        assert rows(app)[2:4] == [message_words(error), hint_words(error)] and rows(app)[4].startswith("r ")
        services.facts = facts
        await press(pilot, "r")
        assert "Intel(R)" in frame(app)
        services.facts = error
        await press(pilot, "r")
        assert "Intel(R)" in frame(app) and message_words(error) in status_of(app).said


def test_facts_have_all_paragraphs_of_doctor(facts: dict[str, Any]) -> None:
    found = list(paragraphs(facts))
    made = list(describe(MACHINE, found, SHOWN))
    assert {each.text for each in found} <= {fact.text for fact in made}
    labels = [fact.label for fact in made if fact.indent == 11 and fact.label]
    assert labels == [*(each.label for each in found if each.label), "Dashboard"]
    assert [fact.label for fact in made if fact.indent == 2] == ["!", "!", "-", "-"]
    at = next(n for n, fact in enumerate(made) if fact.label == "Engines")
    assert "tuibench[openvino]" in made[at + 1].text

from __future__ import annotations

import pytest

from tests.tui.frame import check_frame, frame
from tests.tui.pilot import open_app, press
from tuibench.tui import key
from tuibench.tui.app import Dashboard
from tuibench.tui.config import Config
from tuibench.tui.palette import live_keys
from tuibench.tui.screens.help import HelpScreen, describe
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.terminal import Display


def said(screen: HelpScreen) -> dict[str, str]:
    """Return the help as a map from keys to their description."""
    return {fact.label.strip(): fact.text for fact in screen.facts if fact.label}


def shown(app: Dashboard) -> HelpScreen:
    """Return the help screen, which must be on top."""
    assert isinstance(app.screen, HelpScreen)
    return app.screen


def headings(screen: HelpScreen) -> list[str]:
    return [fact.text for fact in screen.facts if fact.style == "title"]


@pytest.mark.parametrize(
    ("display", "name"), [(Display(), "help-home-80x24"), (Display(ascii_only=True), "help-home-ascii")]
)
async def test_help_matches_golden_frame(display: Display, name: str) -> None:
    async with open_app(display=display) as (app, pilot):
        await press(pilot, "question_mark")
        check_frame(app, name)
        assert not display.ascii_only or frame(app).isascii()


async def test_help_lists_focus_then_screen_then_global_keys() -> None:
    async with open_app() as (app, pilot):
        page = app.page
        active = {one for _, one, _ in live_keys(page)}
        await press(pilot, "question_mark")
        screen = shown(app)
        assert [heading.rpartition(" ")[2] for heading in headings(screen)] == ["list", "screen", "Everywhere"]
        assert screen.facts[0].text == HomeScreen.about
        texts = list(said(screen).values())
        assert {key.KEYS[one].text for one in active} <= set(texts)
        assert len(texts) == len(set(texts)), "each once"


async def test_help_scrolls_to_end_and_same_key_closes_it() -> None:
    async with open_app((80, 10)) as (app, pilot):
        await press(pilot, "f1")
        first = frame(app)
        await press(pilot, "pagedown")
        assert frame(app) != first
        await press(pilot, "G")
        assert "ctrl+c" in frame(app)
        await press(pilot, "g")
        assert frame(app) == first
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HomeScreen) and len(app.screen_stack) == 1
        await press(pilot, "question_mark", "escape")
        assert isinstance(app.screen, HomeScreen)
        await press(pilot, "question_mark", "q")
        assert isinstance(app.screen, HomeScreen)


async def test_help_marks_user_bound_keys() -> None:
    keys = {"remove": "ctrl+x,delete", "help": "f1"}
    async with open_app(config=Config(keys=keys)) as (app, pilot):
        home = app.screen
        await press(pilot, "question_mark")
        assert app.screen is home, "that key is no longer bound"
        await press(pilot, "f1")
        found = said(shown(app))
        assert found["ctrl+x delete"].startswith(f"{key.KEYS['remove'].text} (")
        assert "d" not in found and "?" not in found
        await press(pilot, "f1")
        assert app.screen is home


def bound(*ids: str) -> dict[str, list[str]]:
    return {one: key.KEYS[one].keys.split(",") for one in ids}


def test_help_shows_tab_keys_on_one_line() -> None:
    made = list(describe("", [("Keys", bound("tab-1", "tab-2", "tab-7", "open"))]))
    (tabs, _), opened = [(one.label.strip(), one.text) for one in made if one.label]
    assert tabs == "1-7" and opened == ("enter", key.KEYS["open"].text)
    own = list(describe("", [("Keys", bound("tab-1", "tab-2"))], changed=["tab-2"]))
    assert [one.label.strip() for one in own if one.label] == ["1", "2"]
    single = list(describe("", [("Keys", bound("tab-1"))]))
    assert [one.text for one in single if one.label] == ["Tab 1."]


def test_help_omits_section_without_keys() -> None:
    made = list(describe("About.", [("Keys of the list", {}), ("Everywhere", bound("quit-now"))]))
    assert [one.text for one in made if one.style == "title"] == ["Everywhere"]

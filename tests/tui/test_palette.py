from __future__ import annotations

import pytest
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from tests.store.data import make_small
from tests.tui.frame import frame
from tests.tui.pilot import open_app, press, send_key, settle, status_of, type_text
from tuibench.core.stored import Metadata
from tuibench.services.api import Services
from tuibench.tui import key
from tuibench.tui.app import Dashboard
from tuibench.tui.config import Config
from tuibench.tui.palette import GROUP_WORDS, Palette, list_actions, live_keys
from tuibench.tui.screens.help import HelpScreen
from tuibench.tui.screens.project.home import HomeScreen
from tuibench.tui.terminal import Display

MOVING = {"move", "focus"}
MARKUP = "[]"


def acts(app: Dashboard) -> list[str]:
    """Return the actions that the open palette lists, without their groups."""
    found = app.screen.query_one(CommandList)
    return [str(option.hit.text).partition(": ")[2] for option in found.options if hasattr(option, "hit")]


async def search(pilot: Pilot[int], text: str) -> None:
    await press(pilot, "colon")
    await type_text(pilot, text)


def test_palette_contains_every_group_except_movement() -> None:
    assert set(GROUP_WORDS) | MOVING == set(key.GROUPS)
    # Textual parses the description of an action as markup.
    assert not any(sign in each.text for each in key.KEYS.values() for sign in MARKUP)


async def test_palette_lists_finds_and_runs_actions() -> None:
    async with open_app() as (app, pilot):
        # palette lists exactly keys of screen
        active = {one for _, one, _ in live_keys(app.page)}
        listed = list(list_actions(app.page))
        wanted = {each.text for each in key.KEYS.values() if each.id in active}
        assert {action.text for action in listed} <= wanted
        said = {action.name for action in listed}
        assert key.KEYS["quit-now"].text in {action.text for action in listed}
        assert not {key.KEYS[one].text for one in ("palette", "scroll-left")} & {action.text for action in listed}
        assert len(said) == len(listed), "each name means one action"
        assert not any(action.name.startswith(("Form", "Figure", "Machine")) for action in listed)
        groups = [action.name.partition(":")[0] for action in listed]
        assert groups == sorted(groups, key=list(dict.fromkeys(GROUP_WORDS.values())).index)
        await press(pilot, "f2", "colon")
        assert any(action.name == "Machine: refresh" for action in list_actions(app.page))
        # palette partial name and enter run action
        await search(pilot, "help")
        assert acts(app)[0] == "help"
        await press(pilot, "enter")
        assert isinstance(app.screen, HelpScreen)
        # palette matches descriptions after names
        await press(pilot, "escape")
        await search(pilot, "engines noise")
        assert acts(app) == ["system"]
        await press(pilot, "escape", "escape")
        await search(pilot, "trash")
        assert acts(app) == ["trash", "remove"]
        prompts = [str(option.prompt).splitlines()[0] for option in app.screen.query_one(CommandList).options]
        assert [prompt.split()[-1] for prompt in prompts] == ["(f3)", "(d)"]
        # enter typed before the matches of the whole text: no action of an earlier text runs
        palette = app.screen
        assert isinstance(palette, Palette)
        palette.query_one(Input).value = "xyzzy"
        palette._action_command_list("select")
        await settle(pilot)
        assert app.screen is palette
        await press(pilot, "escape", "escape")
        await search(pilot, "xyzzy")
        assert acts(app) == []


async def test_palette_action_applies_to_previous_focus() -> None:
    store = Services().store
    for number in (1, 2):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
    async with open_app() as (app, pilot):
        await search(pilot, "reverse")
        assert acts(app) == ["reverse"]
        await press(pilot, "enter")
        assert isinstance(app.screen, HomeScreen) and "reversed" in frame(app)


async def test_palette_shows_user_bound_keys() -> None:
    async with open_app(config=Config(keys={"help": "f9"})) as (app, pilot):
        await press(pilot, "colon")
        prompts = [str(option.prompt) for option in app.screen.query_one(CommandList).options]
        assert any(prompt.startswith("Dashboard: help (f9)") for prompt in prompts)


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_palette_in_ascii_mode_is_ascii(ascii_only: bool) -> None:
    async with open_app(display=Display(ascii_only=ascii_only)) as (app, pilot):
        await search(pilot, "project")
        assert "project" in frame(app)
        assert not ascii_only or frame(app).isascii(), frame(app)


async def test_palette_survives_too_narrow_terminal() -> None:
    async with open_app() as (app, pilot):
        for size in ((4, 24), (1, 1), (20, 5)):
            await search(pilot, "he")
            await pilot.resize_terminal(*size)
            await press(pilot, "down", "escape", "escape", "colon", "l", "enter")
            await pilot.resize_terminal(80, 24)
            await press(pilot, "escape")
            while len(app.screen_stack) > 1:
                await press(pilot, "escape")
            assert app.is_running and "tuibench" in frame(app), size


async def test_ctrl_c_shows_quit_key() -> None:
    async with open_app() as (app, pilot):
        await press(pilot, "ctrl+c")
        assert status_of(app).said.split()[0] == "ctrl+q"
        assert isinstance(app.screen, HomeScreen)
    async with open_app(config=Config(keys={"quit-now": "ctrl+x"})) as (app, pilot):
        await press(pilot, "ctrl+c")
        assert status_of(app).said.split()[0] == "ctrl+x"


async def test_config_errors_are_shown_at_start() -> None:
    problems = ("fps takes a number from 1 to 60, not 99", "another", "a third")
    async with open_app(config=Config(problems=problems)) as (app, _):
        assert status_of(app).said.startswith("3 ") and status_of(app).said.endswith(problems[0])
    async with open_app(config=Config(problems=problems[:1])) as (app, _):
        assert problems[0] in frame(app) and "3 " not in status_of(app).said


async def test_palette_key_sent_with_opening_key_is_handled() -> None:
    async with open_app() as (app, pilot):
        for sent in ("pagedown", "pageup", "down", "ctrl+end"):
            for one in ("colon", sent):
                send_key(app, one)
            await settle(pilot)
            assert isinstance(app.screen, CommandPalette), sent
            await press(pilot, sent, "escape")
            assert isinstance(app.screen, HomeScreen), sent

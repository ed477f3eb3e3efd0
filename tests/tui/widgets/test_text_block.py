from __future__ import annotations

from tests.tui.counting import bytes_of, sent_by
from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged
from tuibench.tui.widgets.text_block import ScrollBlock, TextBlock


async def test_text_block_height_matches_lines_and_lines_are_cut() -> None:
    one, two = TextBlock(["a", ("b" * 30, "bad")]), TextBlock([[("c", ""), ("d", "ok")]])
    async with staged(one, two, size=(10, 8)) as (stage, pilot):
        assert seen(stage) == ["a", "bbbbbbbbb…", "cd"]
        one.show_lines(["x"])
        await settle(pilot)
        assert seen(stage) == ["x", "cd"]
        one.show_lines([])
        await settle(pilot)
        assert seen(stage) == ["cd"]
        one.show_lines(["1", "2"])
        await settle(pilot)
        assert seen(stage) == ["1", "2", "cd"]


async def test_text_block_unchanged_lines_send_nothing() -> None:
    block, scroll = TextBlock(["a", "b"]), ScrollBlock(["c"], classes="rest")
    async with staged(block, scroll) as (_, pilot):
        assert await bytes_of(pilot, lambda: block.show_lines(["a", "b"])) == 0
        assert await bytes_of(pilot, lambda: scroll.show_lines(["c"])) == 0
        sent = await sent_by(pilot, lambda: block.show_lines(["a", "x"]))
        assert "x" in sent
        assert "a" not in sent


async def test_text_block_keys_scroll_to_ends() -> None:
    block = ScrollBlock([f"line {n}" for n in range(30)], classes="rest")
    async with staged(block, size=(20, 10)) as (stage, pilot):
        block.focus()
        firsts = []
        for key in ("up", "down", "pagedown", "ctrl+d", "end", "down", "pageup", "home"):
            await press(pilot, key)
            firsts.append(seen(stage)[0])
        assert firsts == [f"line {n}" for n in (0, 1, 10, 15, 20, 20, 11, 0)]
        assert block.position == "1-10 of 30"


async def test_fitting_text_block_shows_no_position_and_stays() -> None:
    block = ScrollBlock(["a", "b"], classes="rest")
    async with staged(block) as (stage, pilot):
        block.focus()
        await press(pilot, "down", "end")
        assert seen(stage) == ["a", "b"]
        assert block.position == ""


async def test_followed_end_stays_visible_until_user_scrolls_up() -> None:
    lines = [f"line {n}" for n in range(30)]
    block = ScrollBlock(lines, follow=True, classes="rest")
    async with staged(block, size=(20, 5)) as (stage, pilot):
        assert seen(stage)[-1] == "line 29"
        block.show_lines([*lines, "line 30"])
        await settle(pilot)
        assert seen(stage)[-1] == "line 30"
        block.focus()
        await press(pilot, "up")
        block.show_lines([*lines, "line 30", "line 31"])
        await settle(pilot)
        assert seen(stage)[-1] == "line 29"
        await resize(pilot, 20, 8)
        assert seen(stage)[0] == "line 24"


async def test_long_lines_wrap_on_request() -> None:
    block = ScrollBlock(["one two three four", ("  set in text", "dim")], wrap=True, classes="rest")
    async with staged(block, size=(10, 8)) as (stage, pilot):
        assert seen(stage) == ["one two", "three four", "  set in", "  text"]
        await resize(pilot, 40, 8)
        assert seen(stage) == ["one two three four", "  set in text"]

from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of, sent_by
from tests.tui.rest import settle
from tests.tui.widgets.stage import press, resize, seen, staged, told
from tuibench.tui.widgets.record_table import Column, Line, RecordTable

COLUMNS = (
    Column("id", "ID", 5),
    Column("name", "NAME", 10, grow=True, wide=40),
    Column("age", "AGE", 4, right=True, rank=1),
    Column("size", "SIZE", 60, right=True, rank=2),
)


def line(key: str) -> Line:
    return Line(key, (key, f"name of {key}", "1h", "large"))


def table_of(count: int) -> RecordTable:
    table = RecordTable(COLUMNS, classes="rest")
    table.show_rows(COLUMNS, keys(count), line)
    return table


def keys(count: int) -> list[str]:
    return [f"k{n}" for n in range(count)]


def reversed_row(sent: str, text: str) -> bool:
    """Whether the text was sent with foreground and background exchanged."""
    codes, _, _ = sent.partition(text)[0].rpartition("\x1b[")[2].partition("m")
    return "7" in codes.split(";")


async def test_titles_records_cursor_and_marks() -> None:
    table = table_of(3)
    async with staged(table, size=(40, 6)) as (stage, pilot):
        assert seen(stage) == [
            "  ID    NAME                         AGE",
            "> k0    name of k0                    1h",
            "  k1    name of k1                    1h",
            "  k2    name of k2                    1h",
        ]
        table.show_marks({"k0", "k2"})
        table.focus()
        await press(pilot, "down")
        assert [row[:4] for row in seen(stage)] == ["  ID", " *k0", "> k1", " *k2"]
        assert table.dropped == ("SIZE",)


async def test_ten_thousand_records_cost_only_those_in_sight() -> None:
    made: list[str] = []

    def make(key: str) -> Line:
        made.append(key)
        return line(key)

    table = RecordTable(classes="rest")
    async with staged(table) as (stage, pilot):
        table.show_rows(COLUMNS, keys(10_000), make)
        table.focus()
        await settle(pilot)
        assert made == keys(23)
        await press(pilot, "G")
        assert table.cursor_key == "k9999"
        assert seen(stage)[-1].startswith("> k9999")
        assert len(made) == 46
        await press(pilot, "g", "pagedown")
        assert table.cursor_key == "k22"
        assert len(made) == 46 + 22


async def test_keys_move_and_stop_at_the_ends() -> None:
    table = table_of(100)
    async with staged(table, size=(80, 11)) as (_, pilot):
        table.focus()
        places = []
        for key in ("up", "down", "j", "k", "ctrl+d", "ctrl+u", "pagedown", "pageup", "end", "down", "home"):
            await press(pilot, key)
            places.append(table.cursor_key)
        assert places == ["k0", "k1", "k2", "k1", "k6", "k1", "k10", "k1", "k99", "k99", "k0"]


async def test_it_tells_where_the_cursor_is_and_what_was_opened() -> None:
    table = table_of(3)
    async with staged(table) as (stage, pilot):
        table.focus()
        await press(pilot, "down", "enter", "up", "up")
        assert [message.key for message in told(stage, RecordTable.CursorMoved)] == ["k0", "k1", "k0"]
        assert [message.key for message in told(stage, RecordTable.Opened)] == ["k1"]
        table.show_lines(COLUMNS, [])
        await settle(pilot)
        assert told(stage, RecordTable.CursorMoved)[-1].key is None


def test_of_many_moves_that_nobody_has_read_the_last_one_counts() -> None:
    one, other = RecordTable(), RecordTable()
    moved = RecordTable.CursorMoved(one, "a")
    assert moved.can_replace(RecordTable.CursorMoved(one, "b"))
    assert not moved.can_replace(RecordTable.CursorMoved(other, "b"))
    assert not moved.can_replace(RecordTable.Opened(one, "b"))


async def test_nothing_is_said_in_words_and_its_keys_are_left_to_the_screen() -> None:
    table = RecordTable(COLUMNS, empty="Nothing yet.\nn  something new", classes="rest")
    async with staged(table) as (stage, pilot):
        assert seen(stage) == [" Nothing yet.", " n  something new"]
        table.focus()
        await press(pilot, "down", "pagedown", "G", "enter", "left")
        assert stage.floor.passed == ["enter", "left"]
        assert told(stage, RecordTable.Opened) == []
        table.empty = "No match."
        await settle(pilot)
        assert seen(stage) == [" No match."]


async def test_one_record() -> None:
    table = table_of(1)
    async with staged(table) as (stage, pilot):
        table.focus()
        await press(pilot, "down", "up", "G", "pagedown", "ctrl+u")
        assert table.cursor_key == "k0"
        assert len(seen(stage)) == 2


async def test_wide_shows_all_columns_and_scrolls_them() -> None:
    table = table_of(3)
    async with staged(table, size=(60, 6)) as (stage, pilot):
        table.focus()
        await press(pilot, "right")
        assert stage.floor.passed == ["right"]
        assert "SIZE" not in seen(stage)[0]
        await press(pilot, "w", *["right"] * 8)
        assert seen(stage)[1].startswith("> ")
        assert "large" in seen(stage)[1]
        assert "name" not in seen(stage)[1]
        assert list(table.dropped) == []
        await press(pilot, *["left"] * 8)
        assert "name of k0" in seen(stage)[1]
        await press(pilot, "w")
        assert list(table.dropped) == ["SIZE"]
        await press(pilot, "left")
        assert stage.floor.passed[1:] == ["left"]


async def test_the_cursor_stays_with_its_record_and_in_sight_in_any_size() -> None:
    table = table_of(100)
    async with staged(table) as (stage, pilot):
        table.focus()
        table.move_to("k40")
        await settle(pilot)
        for width, height in ((20, 5), (20, 1), (80, 24), (200, 60)):
            await resize(pilot, width, height)
            assert table.cursor_key == "k40"
            if height > 1:
                assert any(row.startswith("> k40") for row in seen(stage))
        assert stage.focused is table


async def test_a_record_can_be_found_before_there_is_a_size() -> None:
    table = table_of(100)
    assert table.move_to("k5")
    assert not table.move_to("gone")
    async with staged(table) as (stage, _):
        assert seen(stage)[1].startswith("  k0")
        assert seen(stage)[6].startswith("> k5")


async def test_the_same_lines_send_nothing_and_a_changed_one_only_itself() -> None:
    table = table_of(100)
    async with staged(table) as (_, pilot):
        assert await bytes_of(pilot, lambda: table.show_rows(COLUMNS, keys(100), line)) == 0

        def other(key: str) -> Line:
            return Line(key, (key, "changed", "1h", "")) if key in ("k3", "k50") else line(key)

        sent = await sent_by(pilot, lambda: table.show_rows(COLUMNS, keys(100), other))
        assert "k3" in sent
        assert "k2" not in sent
        assert len(sent) < 120


async def test_without_the_focus_the_cursor_is_a_sign_only() -> None:
    table = table_of(3)
    async with staged(table) as (_, pilot):
        focused = await sent_by(pilot, table.focus)
        assert reversed_row(focused, "> k0")
        blurred = await sent_by(pilot, lambda: table.screen.set_focus(None))
        assert "> k0" in blurred
        assert not reversed_row(blurred, "> k0")


@pytest.mark.parametrize("style", ["", "ok", "warn", "bad", "dim"])
async def test_each_style_of_a_line_can_be_under_the_cursor(style: str) -> None:
    table = RecordTable(classes="rest")
    async with staged(table) as (stage, pilot):
        table.show_lines(COLUMNS, [Line("a", ("a", "b"), style)])
        table.focus()
        await settle(pilot)
        assert seen(stage)[1].startswith("> a")


async def test_a_line_may_have_too_few_cells_or_too_many() -> None:
    table = RecordTable(classes="rest")
    table.show_lines(COLUMNS, [Line("a", ("a",)), Line("b", ("b",) * 9)])
    async with staged(table, size=(40, 5)) as (stage, _):
        assert [row[:3] for row in seen(stage)[1:]] == ["> a", "  b"]


async def test_ascii_cuts_with_ascii() -> None:
    table = RecordTable(classes="rest")
    table.show_lines([Column("a", "A", 6)], [Line("a", ("long text",))])
    async with staged(table, ascii_only=True) as (stage, _):
        assert seen(stage)[1] == "> long~"


async def test_a_click_moves_the_cursor_and_a_second_one_opens() -> None:
    table = table_of(30)
    async with staged(table, size=(80, 11)) as (stage, pilot):
        await pilot.click(table, offset=(5, 3))
        assert table.cursor_key == "k2"
        assert told(stage, RecordTable.Opened) == []
        await pilot.click(table, offset=(5, 3))
        assert [message.key for message in told(stage, RecordTable.Opened)] == ["k2"]
        await pilot.click(table, offset=(5, 0))
        assert table.cursor_key == "k2"
        assert len(told(stage, RecordTable.Opened)) == 1

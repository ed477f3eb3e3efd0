from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of, sent_by
from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged, told
from tuibench.present.table import Column
from tuibench.tui.widgets.record_table import Line, RecordTable

COLUMNS: tuple[Column[str], ...] = (
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


async def test_table_shows_titles_records_cursor_and_marks() -> None:
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


async def test_table_of_ten_thousand_records_builds_only_visible_rows() -> None:
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


async def test_table_keys_move_cursor_and_stop_at_ends() -> None:
    table = table_of(100)
    async with staged(table, size=(80, 11)) as (_, pilot):
        table.focus()
        places = []
        for key in ("up", "down", "j", "k", "ctrl+d", "ctrl+u", "pagedown", "pageup", "end", "down", "home"):
            await press(pilot, key)
            places.append(table.cursor_key)
        assert places == ["k0", "k1", "k2", "k1", "k6", "k1", "k10", "k1", "k99", "k99", "k0"]


async def test_table_posts_cursor_moves_and_opened_records() -> None:
    table = table_of(3)
    async with staged(table) as (stage, pilot):
        table.focus()
        await press(pilot, "down", "enter", "up", "up")
        assert [message.key for message in told(stage, RecordTable.CursorMoved)] == ["k0", "k1", "k0"]
        assert [message.key for message in told(stage, RecordTable.Opened)] == ["k1"]
        table.show_lines(COLUMNS, [])
        await settle(pilot)
        assert told(stage, RecordTable.CursorMoved)[-1].key is None


def test_table_unread_cursor_moves_collapse_to_last() -> None:
    one, other = RecordTable(), RecordTable()
    moved = RecordTable.CursorMoved(one, "a")
    assert moved.can_replace(RecordTable.CursorMoved(one, "b"))
    assert not moved.can_replace(RecordTable.CursorMoved(other, "b"))
    assert not moved.can_replace(RecordTable.Opened(one, "b"))


async def test_empty_table_says_so_and_leaves_keys_to_screen() -> None:
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


async def test_wide_table_shows_all_columns_and_scrolls() -> None:
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


async def test_table_cursor_keeps_record_visible_at_any_size() -> None:
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


async def test_table_sends_only_changed_lines() -> None:
    table = table_of(100)
    async with staged(table) as (_, pilot):
        assert await bytes_of(pilot, lambda: table.show_rows(COLUMNS, keys(100), line)) == 0

        def other(key: str) -> Line:
            return Line(key, (key, "changed", "1h", "")) if key in ("k3", "k50") else line(key)

        sent = await sent_by(pilot, lambda: table.show_rows(COLUMNS, keys(100), other))
        assert "k3" in sent
        assert "k2" not in sent
        assert len(sent) < 120


@pytest.mark.parametrize("style", ["", "ok", "warn", "bad", "dim"])
async def test_table_cursor_works_on_every_line_style(style: str) -> None:
    table = RecordTable(classes="rest")
    async with staged(table) as (stage, pilot):
        table.show_lines(COLUMNS, [Line("a", ("a", "b"), style)])
        table.focus()
        await settle(pilot)
        assert seen(stage)[1].startswith("> a")


async def test_table_accepts_lines_with_missing_or_extra_cells() -> None:
    table = RecordTable(classes="rest")
    table.show_lines(COLUMNS, [Line("a", ("a",)), Line("b", ("b",) * 9)])
    async with staged(table, size=(40, 5)) as (stage, _):
        assert [row[:3] for row in seen(stage)[1:]] == ["> a", "  b"]


async def test_table_click_moves_cursor_and_second_click_opens() -> None:
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

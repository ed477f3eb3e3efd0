from __future__ import annotations

from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged, told
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField
from tuibench.tui.widgets.field import FieldColumn, FieldPair, TextField


def column() -> FieldColumn:
    return FieldColumn(
        TextField("a", "A"),
        FieldPair(TextField("b", "B", width=10), TextField("c", "C", width=10)),
        ChoiceField("d", "D", (Choice("x", "x"), Choice("y", "y"))),
        ButtonField("run", "RUN"),
        TextField("e", "E"),
    )


def focused(fields: FieldColumn) -> str:
    return next(key for key, field in fields.fields.items() if field.has_focus or field.has_focus_within)


async def test_enter_and_arrows_move_between_fields_and_stop_at_ends() -> None:
    fields = column()
    async with staged(fields) as (stage, pilot):
        assert fields.focus_field("a")
        await settle(pilot)
        places = []
        for key in ("up", "enter", "down", "tab", "enter", "down", "down", "up", "up"):
            await press(pilot, key)
            places.append(focused(fields))
        assert places == ["a", "b", "c", "d", "run", "e", "e", "run", "d"]
        assert stage.floor.passed == []
        assert not told(stage, FieldColumn.Finished)
        fields.focus_field("e")
        await press(pilot, "enter")
        assert len(told(stage, FieldColumn.Finished)) == 1
        assert not fields.focus_field("gone")


async def test_all_errors_appear_at_once_and_fixed_ones_clear() -> None:
    fields = column()
    async with staged(fields) as (stage, pilot):
        fields.show_errors({"a": "wrong a", "c": "wrong c", "d": "wrong d"})
        await settle(pilot)
        assert [row.strip() for row in seen(stage) if "!" in row] == ["! wrong a", "! wrong c", "! wrong d"]
        fields.show_errors({"d": "wrong d"})
        await settle(pilot)
        assert [row.strip() for row in seen(stage) if "!" in row] == ["! wrong d"]


async def test_two_fields_share_line_when_wide_enough() -> None:
    fields = column()
    async with staged(fields) as (stage, pilot):
        assert "B" in seen(stage)[1]
        assert "C" in seen(stage)[1]
        await resize(pilot, 40, 24)
        assert "C" not in seen(stage)[1]
        assert "C" in seen(stage)[2]


async def test_focused_field_stays_visible_in_small_terminal() -> None:
    fields = column()
    async with staged(fields) as (stage, pilot):
        fields.focus_field("e")
        await settle(pilot)
        await resize(pilot, 20, 5)
        assert seen(stage)[-1].startswith(">E")
        for _ in range(5):
            await press(pilot, "up")
        assert focused(fields) == "a"
        assert seen(stage)[0].startswith(">A")

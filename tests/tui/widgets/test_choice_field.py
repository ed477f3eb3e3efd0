from __future__ import annotations

from tests.tui.idle import settle
from tests.tui.widgets.stage import press, resize, seen, staged, told
from tuibench.tui.widgets.choice_field import ButtonField, Choice, ChoiceField, ManyField
from tuibench.tui.widgets.field import Field

EFFORTS = (
    Choice("quick", "quick"),
    Choice("no", "no", "not here"),
    Choice("default", "±2 %"),
    Choice("fixed", "fixed"),
)


async def test_choice_keys_skip_disabled_choices() -> None:
    field = ChoiceField("effort", "Effort", EFFORTS, "quick")
    async with staged(field) as (stage, pilot):
        assert seen(stage) == [" Effort     (•) quick  ( ) no (not here)  ( ) ±2 %  ( ) fixed"]
        field.focus()
        answers = []
        for key in ("right", "right", "right", "space", "space", "left", "left"):
            await press(pilot, key)
            answers.append(field.answer)
        assert answers == ["default", "fixed", "fixed", "quick", "default", "quick", "quick"]
        assert len(told(stage, Field.Changed)) == 5
        field.put("fixed")
        await settle(pilot)
        assert seen(stage)[0].endswith("(•) fixed")


async def test_multiple_choices_can_be_selected() -> None:
    field = ManyField("engines", "Engine", (Choice("ort", "ORT"), Choice("ds", "DS", "install"), Choice("ov", "OV")))
    async with staged(field) as (stage, pilot):
        assert list(field.answer) == []
        field.focus()
        await press(pilot, "right", "space", "left", "space")
        assert list(field.answer) == ["ort", "ov"]
        assert seen(stage) == [">Engine     [x] ORT  [ ] DS (install)  [x] OV"]
        await press(pilot, "space")
        assert list(field.answer) == ["ov"]
        field.put(("ort",))
        assert list(field.answer) == ["ort"]


async def test_choices_around_cursor_are_visible_when_narrow() -> None:
    field = ManyField("n", "N", [Choice(str(n), f"choice {n}") for n in range(10)])
    async with staged(field) as (stage, pilot):
        field.focus()
        await resize(pilot, 40, 5)
        for n in range(10):
            assert f"[ ] choice {n}" in seen(stage)[0]
            await press(pilot, "right")
        assert seen(stage)[0].startswith(">N          ‹")
        await resize(pilot, 20, 5)
        assert len(seen(stage)[0]) <= 20


async def test_choice_field_without_enabled_choices() -> None:
    none = ChoiceField("a", "A", ())
    refused = ManyField("b", "B", (Choice("x", "X", "gone"),))
    async with staged(none, refused) as (_, pilot):
        for field in (none, refused):
            field.focus()
            await press(pilot, "right", "left", "space")
        assert none.answer == ""
        assert refused.answer == ()


async def test_button_is_pressed_by_enter_and_space() -> None:
    button = ButtonField("run", "RUN")
    async with staged(ButtonField("long", "Longer than a label")) as (stage, _):
        assert seen(stage) == ["            [ Longer than a label ]"]
    async with staged(button) as (stage, pilot):
        assert seen(stage) == ["            [ RUN ]"]
        button.focus()
        await settle(pilot)
        assert seen(stage) == [">           [ RUN ]"], "where one is shows without colour"
        await press(pilot, "enter", "space", "x")
        assert len(told(stage, ButtonField.Pressed)) == 2

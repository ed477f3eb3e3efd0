from __future__ import annotations

import pytest

from tests.tui.counting import bytes_of
from tests.tui.idle import settle
from tests.tui.widgets.stage import HOSTILE, press, seen, staged, told
from tuibench.tui.widgets.field import Field, TextField


async def test_text_field_is_one_line_and_typing_replaces_text() -> None:
    field = TextField("cores", "Cores", "1,2", hint="of 16", width=10)
    async with staged(field) as (stage, pilot):
        assert seen(stage) == [" Cores      [1,2       ]  of 16"]
        field.input.focus()
        await press(pilot, "4")
        assert seen(stage) == [">Cores      [4         ]  of 16"]
        assert field.answer == "4"
        assert [message.field.key for message in told(stage, Field.Changed)][-1] == "cores"
        field.put("8")
        await press(pilot, "6")
        assert field.answer == "86"
        field.show_hint("of 32")
        await settle(pilot)
        assert seen(stage)[0].endswith("]  of 32")


async def test_labels_with_common_prefix_differ_and_hints_show_them_whole() -> None:
    names = [f"p2o.DynamicDimension.{n}" for n in range(2)]
    fields = [TextField(name, name, "1", hint="a size", width=6) for name in names]
    async with staged(*fields, size=(60, 4)) as (stage, _):
        lines = seen(stage)
        assert lines[0].startswith(" p2o.…ion.0 [1     ]") and lines[1].startswith(" p2o.…ion.1 [1     ]")
        assert [line.split("]")[1].strip() for line in lines] == [f"{name}: a size" for name in names]


async def test_text_field_error_wraps_below_and_clears() -> None:
    field = TextField("cores", "Cores", "x")
    after = TextField("note", "Note")
    async with staged(field, after, size=(50, 10)) as (stage, pilot):
        field.show_error("x is no number; give a list such as 1,2,4 or 1-16")
        await settle(pilot)
        assert seen(stage)[1] == "            ! x is no number; give a list such as"
        assert seen(stage)[2] == "            1,2,4 or 1-16"
        assert seen(stage)[3].startswith(" Note")
        assert field.error.startswith("x is no number")
        field.show_error("")
        await settle(pilot)
        assert seen(stage)[1].startswith(" Note")


async def test_typing_sends_hundreds_of_bytes_and_idle_field_none() -> None:
    field = TextField("cores", "Cores", "1,2", width=0)
    async with staged(field) as (_, pilot):
        field.input.focus()
        await settle(pilot)
        await press(pilot, "a")
        assert await bytes_of(pilot, lambda: press(pilot, "b")) < 300
        assert not field.input.cursor_blink
        assert await bytes_of(pilot, lambda: field.put("ab")) < 300


@pytest.mark.parametrize("text", HOSTILE)
async def test_untouched_text_is_returned_unchanged(text: str) -> None:
    field = TextField("name", "Name", text)
    async with staged(field) as (stage, pilot):
        assert field.answer == text
        assert all(char.isprintable() or char in "\n\u200d" for char in "".join(seen(stage)))
        field.put("a" + text)
        await settle(pilot)
        assert field.answer == "a" + text


async def test_pasted_control_characters_become_visible() -> None:
    field = TextField("name", "Name")
    async with staged(field) as (stage, pilot):
        field.input.focus()
        await settle(pilot)
        field.input.insert_text_at_cursor("a\x1b]0;b\x07\u202e")
        await settle(pilot)
        assert seen(stage)[0].startswith(">Name       [a\\e]0;b\\x07\\u202e")

"""Opens the new-project page and fills in its fields."""

from __future__ import annotations

from typing import Any

from tests.tui.pilot import settle
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.project.new import NewProjectScreen
from tuibench.tui.widgets.field import TextField


def page_of(app: Dashboard) -> NewProjectScreen:
    page = app.page
    assert isinstance(page, NewProjectScreen)
    return page


async def put(app: Dashboard, pilot: Any, text: str, name: str = "model") -> None:
    """Fill in a field as if typed, with the pause after typing over."""
    page = page_of(app)
    field = page.column.fields[name]
    assert isinstance(field, TextField)
    field.input.value = text
    await settle(pilot)
    if name == "model":
        page._look_when_typed()
        await settle(pilot)

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tests.tui.pilot import open_app, settle
from tuibench.tui import key
from tuibench.tui.palette import live_keys
from tuibench.tui.screens.base import Page


class _Half(Page):
    """A page that binds a whole group and has two of its actions, one of them disabled."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("run")

    def action_cancel(self) -> None:
        """Provide an enabled action."""

    def action_resume(self) -> None:
        """Provide a disabled action."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action is enabled."""
        return None if action == "resume" else True


async def test_key_use_lists_only_enabled_keys() -> None:
    async with open_app() as (app, pilot):
        page = _Half()
        app.go(page)
        await settle(pilot)
        found = {name: (one, active.node) for name, one, active in live_keys(page)}
        assert found["X"] == ("cancel", page)
        assert found["question_mark"] == ("help", app) and found["f1"] == ("help", app)
        assert not {"finish", "extend", "resume"} & {one for one, _ in found.values()}
        assert {one for one, node in found.values() if node is page} == {"cancel"}

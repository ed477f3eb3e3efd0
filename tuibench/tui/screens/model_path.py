"""Field for a model's path: lists completions below it, and tab completes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tuibench.core.remote import is_remote
from tuibench.tui import key
from tuibench.tui.widgets.field import LABEL, Field
from tuibench.tui.widgets.row import LineLike
from tuibench.tui.widgets.text_block import TextBlock
from tuibench.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from tuibench.tui.screens.base import Page

_SHOWN = 5
_WHAT = "path, sample, hf:ORG/REPO, https://..."


class ModelPath(Vertical):
    """A text field of its screen's column; its messages also reach the screen."""

    DEFAULT_CSS = "ModelPath { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = key.bindings(only=("complete",))

    def __init__(self, name: str, label: str, path: str = "") -> None:
        super().__init__()
        self._field = TextField(name, label, path, width=0, placeholder=_WHAT)

    def compose(self) -> ComposeResult:
        """Yield the field and its completions."""
        yield self._field
        yield TextBlock()

    def on_field_changed(self, message: Field.Changed) -> None:
        """Update the completions; the message also goes on to the screen."""
        text = self._field.answer
        if not text or is_remote(text):
            self.hide_candidates()
        else:
            page = cast("Page", self.screen)
            page.ask(lambda: page.desk.complete(text), lambda found: self._show(text, found), group="complete")

    def hide_candidates(self) -> None:
        """Hide the completions."""
        self.query_one(TextBlock).show_lines(())

    def _show(self, text: str, found: tuple[str, ...]) -> None:
        if text != self._field.answer or not self._field.has_focus_within:
            return
        names = [name for name in found if name != text]
        # List only the differing last parts; the shared part is in the field.
        lines: list[LineLike] = [(f"{' ' * LABEL}{_last_part(name)}", "dim") for name in names[:_SHOWN]]
        more = len(names) - _SHOWN
        lines += [(f"{' ' * LABEL}and {more} more", "dim")] if more > 0 else []
        self.query_one(TextBlock).show_lines(lines)

    def action_complete(self) -> None:
        """Complete up to the first difference and list the candidates; with at most one, move to the next field."""
        text, page = self._field.answer, cast("Page", self.screen)
        page.ask(lambda: page.desk.complete(text), lambda found: self._complete(text, found), group="complete")

    def _complete(self, text: str, found: tuple[str, ...]) -> None:
        common = common_beginning(found)
        if self._field.answer == text and len(common) > len(text):
            self._field.put(common)
        elif len(found) <= 1:
            self.screen.focus_next()
        self._show(self._field.answer, found)


def _last_part(path: str) -> str:
    folder = path.endswith("/")
    return path.rstrip("/").rpartition("/")[2] + ("/" if folder else "")


def common_beginning(names: tuple[str, ...]) -> str:
    """Return the longest common prefix."""
    if not names:
        return ""
    low, high = min(names), max(names)
    same = next((n for n, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    return low[:same]

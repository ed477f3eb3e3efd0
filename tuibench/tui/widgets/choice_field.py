"""Form fields with one choice or several, and buttons."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tuibench.present.plots.drawing import Row, Span, row_width
from tuibench.tui.widgets.field import Field
from tuibench.tui.widgets.painted import safe


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a field; the field makes its text safe to print."""

    key: str
    text: str
    refusal: str = ""
    """Why it cannot be chosen, in a word or two; '' if it can."""
    is_reachable: bool = False
    """True if the cursor stops on it although it cannot be chosen, because a key acts on it."""


class _Choices(Field, can_focus=True):
    """A cursor over choices in one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("space", "pick", show=False),
    ]

    def __init__(
        self,
        key: str,
        label: str,
        choices: Sequence[Choice],
        **attributes: Any,
    ) -> None:
        super().__init__(key, label, **attributes)
        self.choices = tuple(choices)
        self._at = next((n for n, choice in enumerate(self.choices) if not choice.refusal), 0)

    def _holds(self, n: int) -> bool:
        raise NotImplementedError

    def _signs(self) -> tuple[str, str]:
        """Return the signs of a selected and of an unselected choice."""
        raise NotImplementedError

    def control_row(self) -> Row:
        """Return all choices, or those around the cursor if not all fit."""
        first, last = 0, len(self.choices)
        room = self.size.width - self.label_width
        while last - first > 1 and row_width(self._window(first, last)) > room:
            if self._at - first > last - 1 - self._at:
                first += 1
            else:
                last -= 1
        return self._window(first, last)

    def _window(self, first: int, last: int) -> Row:
        held, free = self._signs()
        spans: list[Span] = []
        for n in range(first, last):
            choice = self.choices[n]
            refusal = f" ({safe(choice.refusal)})" if choice.refusal else ""
            here = n == self._at and self.has_focus and (choice.is_reachable or not refusal)
            style = "cursor" if here else "dim" if refusal else ""
            spans += [
                ("  " if spans else "", ""),
                (f"{held if self._holds(n) else free} {self.legible(safe(choice.text))}", style),
            ]
            spans.append((refusal, "dim"))
        glyphs = self.glyphs
        before = [(f"{glyphs.before} ", "dim")] if first else []
        after = [(f" {glyphs.after}", "dim")] if last < len(self.choices) else []
        return (*before, *spans, *after)

    def action_step(self, by: int) -> None:
        """Move the cursor to the next selectable choice."""
        open_ones = [n for n, choice in enumerate(self.choices) if choice.is_reachable or not choice.refusal]
        further = [n for n in open_ones if (n - self._at) * by > 0]
        if further:
            self._at = min(further) if by > 0 else max(further)
            self._stepped()
            self.repaint()

    @property
    def missing_key(self) -> str:
        """The key of the choice under the cursor if it cannot be chosen; '' if it can."""
        choice = self.choices[self._at] if self.choices else None
        return choice.key if choice is not None and choice.is_reachable else ""

    def put_choices(self, choices: Sequence[Choice]) -> None:
        """Replace the choices, and stay on the same one."""
        before = self.choices[self._at].key if self.choices else ""
        self.choices = tuple(choices)
        self._at = next((n for n, choice in enumerate(self.choices) if choice.key == before), 0)
        self.repaint()

    def _stepped(self) -> None:
        """Handle a cursor move; does nothing by default."""

    def action_pick(self) -> None:
        """Handle the space key."""
        raise NotImplementedError


class ChoiceField(_Choices):
    """A field with one selected choice: the one under the cursor."""

    def __init__(
        self,
        key: str,
        label: str,
        choices: Sequence[Choice],
        value: str = "",
        **attributes: Any,
    ) -> None:
        super().__init__(key, label, choices, **attributes)
        self._put(value)

    def _put(self, value: str) -> None:
        self._at = next((n for n, choice in enumerate(self.choices) if choice.key == value), self._at)

    @property
    def answer(self) -> str:
        """The key of the selected choice; '' if there are no choices."""
        return self.choices[self._at].key if self.choices else ""

    def put(self, value: str) -> None:
        """Select another choice."""
        self._put(value)
        self.repaint()

    def _holds(self, n: int) -> bool:
        return n == self._at

    def _signs(self) -> tuple[str, str]:
        return self.glyphs.chosen, self.glyphs.open_choice

    def _stepped(self) -> None:
        self.changed()

    def action_pick(self) -> None:
        """Select the next choice; after the last, the first."""
        open_ones = [n for n, choice in enumerate(self.choices) if not choice.refusal]
        if len(open_ones) > 1:
            self._at = next((n for n in open_ones if n > self._at), open_ones[0])
            self.changed()
            self.repaint()


class ManyField(_Choices):
    """A field with any number of selected choices: left and right move the cursor, space toggles."""

    def __init__(
        self,
        key: str,
        label: str,
        choices: Sequence[Choice],
        values: Collection[str] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(key, label, choices, **attributes)
        self._taken = frozenset(values)

    @property
    def answer(self) -> tuple[str, ...]:
        """Keys of the selected choices, in the order of the choices."""
        return tuple(choice.key for choice in self.choices if choice.key in self._taken)

    def put(self, values: Collection[str]) -> None:
        """Select exactly these choices."""
        self._taken = frozenset(values)
        self.repaint()

    @property
    def missing_answers(self) -> tuple[str, ...]:
        """Keys of the selected choices that a key acts on because they cannot be chosen any more."""
        return tuple(choice.key for choice in self.choices if choice.is_reachable and choice.key in self._taken)

    def _holds(self, n: int) -> bool:
        return self.choices[n].key in self._taken

    def _signs(self) -> tuple[str, str]:
        return self.glyphs.ticked, self.glyphs.open_tick

    def action_pick(self) -> None:
        """Toggle the choice under the cursor; one that cannot be chosen can be deselected only."""
        choice = self.choices[self._at] if self.choices else None
        if choice is not None and (not choice.refusal or choice.key in self._taken):
            self._taken ^= {choice.key}
            self.changed()
            self.repaint()


class ButtonField(Field, can_focus=True):
    """A button in a form's line; enter or space presses it."""

    is_labelled = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", show=False)]

    class Pressed(Message):
        """The button was pressed."""

        def __init__(self, field: ButtonField) -> None:
            super().__init__()
            self.field = field

    @property
    def answer(self) -> str:
        """Always ''; a button has no value."""
        return ""

    def _label_row(self) -> Row:
        return ((f"{self.glyphs.cursor if self.has_focus else ' '}{' ' * (self.label_width - 1)}", "title"),)

    def control_row(self) -> Row:
        """Return the label in brackets."""
        return ((f"[ {safe(self.label)} ]", "cursor" if self.has_focus else "title"),)

    def action_press(self) -> None:
        """Post Pressed."""
        self.post_message(self.Pressed(self))

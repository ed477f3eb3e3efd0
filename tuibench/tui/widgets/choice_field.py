"""Fields of which one choice holds, or any number of them; and buttons."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tuibench.tui.widgets.field import LABEL, Field
from tuibench.tui.widgets.row import Row, Span, safe, width_of


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; foreign text is made safe by the field."""

    key: str
    text: str
    refusal: str = ""
    """Why it cannot be chosen, in a word or two; '' where it can."""


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
        *,
        hint: str = "",
        label_width: int = LABEL,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(key, label, hint=hint, label_width=label_width, id=id, classes=classes)
        self.choices = tuple(choices)
        self._at = next((n for n, choice in enumerate(self.choices) if not choice.refusal), 0)

    def _holds(self, n: int) -> bool:
        raise NotImplementedError

    def _signs(self) -> tuple[str, str]:
        """For a choice that holds, and one that does not."""
        raise NotImplementedError

    def control_row(self) -> Row:
        """All choices, or those around the cursor where there is no room for all."""
        first, last = 0, len(self.choices)
        room = self.size.width - self.label_width
        while last - first > 1 and width_of(self._window(first, last)) > room:
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
            style = "dim" if refusal else "cursor" if n == self._at and self.has_focus else ""
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
        """To the next choice that can be chosen."""
        open_ones = [n for n, choice in enumerate(self.choices) if not choice.refusal]
        further = [n for n in open_ones if (n - self._at) * by > 0]
        if further:
            self._at = min(further) if by > 0 else max(further)
            self._stepped()
            self.repaint()

    def _stepped(self) -> None:
        """The cursor went to another choice."""

    def action_pick(self) -> None:
        """Space."""
        raise NotImplementedError


class ChoiceField(_Choices):
    """One holds: the one that the cursor went to."""

    def __init__(
        self,
        key: str,
        label: str,
        choices: Sequence[Choice],
        value: str = "",
        *,
        hint: str = "",
        label_width: int = LABEL,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(key, label, choices, hint=hint, label_width=label_width, id=id, classes=classes)
        self._put(value)

    def _put(self, value: str) -> None:
        self._at = next((n for n, choice in enumerate(self.choices) if choice.key == value), self._at)

    @property
    def answer(self) -> str:
        """The key of the one that holds; '' where there are none."""
        return self.choices[self._at].key if self.choices else ""

    def put(self, value: str) -> None:
        """Let another one hold."""
        self._put(value)
        self.repaint()

    def _holds(self, n: int) -> bool:
        return n == self._at

    def _signs(self) -> tuple[str, str]:
        return self.glyphs.chosen, self.glyphs.open_choice

    def _stepped(self) -> None:
        self.changed()

    def action_pick(self) -> None:
        """The next one, after the last the first."""
        open_ones = [n for n, choice in enumerate(self.choices) if not choice.refusal]
        if len(open_ones) > 1:
            self._at = next((n for n in open_ones if n > self._at), open_ones[0])
            self.changed()
            self.repaint()


class ManyField(_Choices):
    """Any number of them: left and right go from one to the next, space takes it or leaves it."""

    def __init__(
        self,
        key: str,
        label: str,
        choices: Sequence[Choice],
        values: Collection[str] = (),
        *,
        hint: str = "",
        label_width: int = LABEL,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(key, label, choices, hint=hint, label_width=label_width, id=id, classes=classes)
        self._taken = frozenset(values)

    @property
    def answer(self) -> tuple[str, ...]:
        """Keys of those that are taken, in the order of the choices."""
        return tuple(choice.key for choice in self.choices if choice.key in self._taken)

    def put(self, values: Collection[str]) -> None:
        """Take these and no others."""
        self._taken = frozenset(values)
        self.repaint()

    def _holds(self, n: int) -> bool:
        return self.choices[n].key in self._taken

    def _signs(self) -> tuple[str, str]:
        return self.glyphs.ticked, self.glyphs.open_tick

    def action_pick(self) -> None:
        """Take it or leave it."""
        if self.choices and not self.choices[self._at].refusal:
            self._taken ^= {self.choices[self._at].key}
            self.changed()
            self.repaint()


class ButtonField(Field, can_focus=True):
    """Something to be done, in a form's line: enter or space does it."""

    is_labelled = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", show=False)]

    class Pressed(Message):
        """Do it."""

        def __init__(self, field: ButtonField) -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> ButtonField:
            """The button, for `@on` with a selector."""
            return self.field

    @property
    def answer(self) -> str:
        """A button has none."""
        return ""

    def _label_row(self) -> Row:
        return ((f"{self.glyphs.cursor if self.has_focus else ' '}{' ' * (self.label_width - 1)}", "title"),)

    def control_row(self) -> Row:
        """Its label in brackets."""
        return ((f"[ {safe(self.label)} ]", "cursor" if self.has_focus else "title"),)

    def action_press(self) -> None:
        """Do it."""
        self.post_message(self.Pressed(self))

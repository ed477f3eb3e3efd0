"""The System page: facts, noise and engines of this machine; examined only on request, as that takes a second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tuibench.core import activity
from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.machine import Machine
from tuibench.present.doctor import render_doctor
from tuibench.present.table import to_ascii
from tuibench.services.monitor import Snapshot
from tuibench.tui import key
from tuibench.tui.screens.base import Page
from tuibench.tui.screens.paragraph import Paragraph, lay_out
from tuibench.tui.terminal import Display
from tuibench.tui.widgets.text_block import ScrollBlock
from tuibench.tui.widgets.title_line import RuleLine

_LABEL = 11
"""Width of the labels that `tuibench doctor` prints."""
_MARKS = ("! ", "- ")
_REMEDY = "→ "


@dataclass(frozen=True, slots=True)
class _Looked:
    machine: Machine
    lines: tuple[str, ...]


class SystemScreen(Page):
    """The output of `tuibench doctor`, with the install commands of missing engines."""

    BINDINGS: ClassVar[list[BindingType]] = key.bindings("machine", only=("system",))
    hints: tuple[str, ...] = ("look-again", "page-down", "page-up", "trash", "palette", "help", "back")
    about = (
        "What a measurement here depends on: the processor, the cores that may be used, clock, memory, and how busy "
        "the machine was during one second. Below it stands what was found that harms a measurement (!), what is "
        "worth knowing (-), and how to mend it. Engines that are missing are listed with the command that installs "
        "them. Nothing here changes by itself: looking takes a second and disturbs what is being measured."
    )

    def __init__(self) -> None:
        super().__init__()
        self._looked: _Looked | None = None
        self._going = False

    def body(self) -> Iterable[Widget]:
        """Yield one scrollable text."""
        yield RuleLine()
        yield ScrollBlock(id="facts", classes="body")

    def title_parts(self) -> tuple[str, ...]:
        """Return the page's title."""
        return ("System",)

    def load(self) -> None:
        """Examine once; while a run is measured, only on request."""
        if self._looked is not None or self._going:
            return
        if (run := self._measuring()) is None:
            self.action_look_again()
        else:
            self._tell((f"{run} is being measured, and a look would disturb it.", f"{self._key()} looks all the same."))

    def snapshot_changed(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """Do nothing: the page shows nothing of the store."""

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._show()

    def action_look_again(self) -> None:
        """Examine the machine again, one examination at a time."""
        if self._going:
            return
        self._going = True
        self._tell(("Looking at this machine, its noise and its engines: that takes a second.",))
        self.ask(
            lambda: self._look(),
            self._have,
            group="system",
            otherwise=self._refuse,
        )

    def _look(self) -> _Looked:
        machine = self.services.machine
        return _Looked(machine.read(), tuple(render_doctor(machine.examine()).splitlines()))

    def action_system(self) -> None:
        """Go back: the key that opened the page also closes it."""
        self.action_back()

    def _measuring(self) -> str | None:
        runs = self.dashboard.snapshot.runs if self.dashboard.snapshot is not None else ()
        return next((short_id(row.info.id) for row in runs if row.info.state == activity.RUNNING), None)

    def _key(self) -> str:
        return key.shown("look-again", self.dashboard.keymap, self.dashboard.ascii_only)

    def _tell(self, sentences: Sequence[str]) -> None:
        """Show a status message if facts are shown, else replace the empty text."""
        if self._looked is not None:
            self.say(" ".join(sentences))
        else:
            self.query_one("#facts", ScrollBlock).show_lines(sentences)

    def _have(self, looked: _Looked) -> None:
        again = self._looked is not None
        self._looked, self._going = looked, False
        self._show()
        if again:
            self.say("looked again")

    def _refuse(self, error: TuibenchError) -> None:
        self._going = False
        if self._looked is not None:
            self.explain(error)
        else:
            self._tell((error.message, error.hint, f"{self._key()} tries again."))

    def _show(self) -> None:
        block = self.query_one("#facts", ScrollBlock)
        if self._looked is None:
            return
        made = list(describe(self._looked.machine, self._looked.lines, self.dashboard.shown_on))
        if self.dashboard.ascii_only:
            made = [_plain(paragraph) for paragraph in made]
        block.show_lines(lay_out(made, block.size.width or self.app.size.width))


def describe(machine: Machine, lines: Iterable[str], display: Display) -> Iterator[Paragraph]:
    """Yield doctor's paragraphs, with install commands of missing engines and the dashboard's display."""
    for paragraph in _joined(lines):
        yield paragraph
        if paragraph.label == "Engines":
            yield from _missing(machine)
        elif paragraph.label == "Terminal":
            yield Paragraph(_shown_on(display), "Dashboard", _LABEL)


def _joined(lines: Iterable[str]) -> Iterator[Paragraph]:
    """Yield paragraphs, rejoining lines that doctor wrapped."""
    current: list[str] = []
    for line in lines:
        rest = line.lstrip(" ")
        if current and rest and rest != line and not rest.startswith(_REMEDY):
            current.append(rest)
            continue
        if current:
            yield _paragraph(current[0], current[1:])
        current = [line] if rest else []
        if not rest:
            yield Paragraph()
    if current:
        yield _paragraph(current[0], current[1:])


def _paragraph(first: str, others: Sequence[str]) -> Paragraph:
    if first.startswith(_MARKS):
        style = "warn" if first.startswith("!") else ""
        return Paragraph(" ".join([first[2:], *others]), first[:1], 2, style, style or "dim")
    if first.lstrip().startswith(_REMEDY):
        return Paragraph(" ".join([first.lstrip()[2:], *others]), "  →", 4)
    if first[_LABEL - 2 : _LABEL] == "  ":
        return Paragraph(" ".join([first[_LABEL:], *others]), first[:_LABEL].rstrip(), _LABEL)
    return Paragraph(" ".join([first, *others]), style="title")


def _missing(machine: Machine) -> Iterator[Paragraph]:
    for engine in machine.engines:
        if not engine.available:
            yield Paragraph(f"{engine.name} is not installed: {engine.hint}", indent=_LABEL, style="accent")


def _shown_on(display: Display) -> str:
    fps = dict(display.environ).get("TEXTUAL_FPS", "")
    parts = (
        "over SSH" if display.remote else "not over SSH",
        "mouse" if display.mouse else "no mouse",
        "colours" if display.colour else "no colours",
        "ASCII" if display.ascii_only else "Unicode",
        f"at most {fps} frames a second" if fps else "",
        "tuibench config says who decided",
    )
    return " · ".join(part for part in parts if part)


def _plain(paragraph: Paragraph) -> Paragraph:
    return Paragraph(
        to_ascii(paragraph.text), to_ascii(paragraph.label), paragraph.indent, paragraph.style, paragraph.label_style
    )

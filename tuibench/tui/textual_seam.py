"""Where the dashboard reaches below Textual's public surface, each place with the reason it waits for."""

from __future__ import annotations

import select
import sys
import traceback

from textual.app import App

from tuibench.core.text import show


class CalmApp(App[int]):
    """An app that says nothing by itself and dies in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.last_words = ""
        """A traceback for --debug, safe to print; '' where nothing broke."""

    def set_terminal_title(self, title: str) -> None:
        """The title of the terminal's window: there is no public way to write it."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(f"\x1b]0;{show(title, 80)}\x07")

    def terminal_is_gone(self) -> bool:
        """Whether nobody has the other end any more; where no signal tells it, Textual reads on without end."""
        number = getattr(self._driver, "fileno", None)
        if not isinstance(number, int):
            return False
        poll = select.poll()
        poll.register(number, 0)
        return bool(poll.poll(0))

    def _fatal_error(self) -> None:
        """Textual prints a traceback with the values of all variables, which are foreign text."""
        lines = traceback.format_exception(sys.exception() or self._exception)
        self.last_words = "\n".join(show(line, 1000) for text in lines for line in text.splitlines())
        self._close_messages_no_wait()

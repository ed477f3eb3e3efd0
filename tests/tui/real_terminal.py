"""Runs the dashboard in a real terminal: an emulator keeps the screen, and keys are sent as bytes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from tests.cli.shell import PATIENCE_S, Shell, until
from tests.cli.terminal import Terminal

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "ctrl+r": "\x12",
    "ctrl+q": "\x11",
    "backspace": "\x7f",
}


class RealTerminal(Terminal):
    """A Terminal that converts the bytes it receives into rows of text."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str | None] = {},
        wrap: Sequence[str] = (),
    ) -> None:
        self.screen = pyte.Screen(*size)
        self._stream = pyte.Stream(self.screen)
        self._fed = 0
        place = {"COLUMNS": str(size[0]), "LINES": str(size[1]), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        super().__init__(shell, *arguments, env={**place, **env}, wrap=wrap, size=size if wrap else None)

    @property
    def rows(self) -> list[str]:
        """Return the rows now on the screen."""
        self._stream.feed(self.shown[self._fed :])
        self._fed = len(self.shown)
        return [row.rstrip() for row in self.screen.display]

    @property
    def text(self) -> str:
        """Return the screen as one text."""
        return "\n".join(self.rows)

    def press(self, *keys: str) -> None:
        """Press keys given by name or as single characters."""
        for key in keys:
            self.type(KEYS.get(key, key))

    def until(self, condition: Callable[[str], bool], what: str, patience_s: float = PATIENCE_S) -> str:
        """Read until the screen satisfies the condition."""
        deadline = time.monotonic() + patience_s
        while not condition(self.text):
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"never seen: {what}\n{self.text}")
        return self.text

    def see(self, *words: str, patience_s: float = PATIENCE_S) -> str:
        """Read until all the words are on the screen."""
        return self.until(lambda text: all(word in text for word in words), ", ".join(words), patience_s)


_KEPT = 'trap : HUP; "$@"; code=$?; echo "$code" > "$0"; printf "ended with %s\\n" "$code"; read -r _'
"""For the shell in a pane: it outlives what it started, whose exit code goes to a file and to the screen."""


class TmuxTerminal(RealTerminal):
    """A real terminal with tmux between it and the dashboard."""

    def __init__(self, shell: Shell, where: Path) -> None:
        settings = where / "tmux.conf"
        settings.write_text("set -g status off\nset -s escape-time 0\n")
        self._code = where / "code"
        self._code.unlink(missing_ok=True)
        self._tmux = ("tmux", "-u", "-L", "tuibench", "-f", str(settings))
        self._place = {"TMUX_TMPDIR": str(where), "TMUX": None}
        super().__init__(shell, env=self._place, wrap=(*self._tmux, "new-session", "sh", "-c", _KEPT, str(self._code)))
        self._environment = shell.environment(self._place)

    def cut(self) -> None:
        """Kill the tmux server: the dashboard loses its terminal only together with tmux."""
        subprocess.run([*self._tmux, "kill-server"], env=self._environment, capture_output=True, check=False)
        super().cut()

    def end(self) -> int:
        """Close the pane, which stays open until its exit message is read."""
        self.see("ended with")
        self.press("enter")
        return super().end()

    def wait(self) -> int:
        """Return the exit code of the process in the pane; tmux has a separate one."""
        super().wait()
        return int(until(lambda: self._code.read_text().strip() if self._code.exists() else "", "an exit code"))

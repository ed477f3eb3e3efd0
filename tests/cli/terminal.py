"""Runs a command at a real terminal: reads its screen, types keys and cuts the line."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.cli.shell import PATIENCE_S, Shell, as_shell

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Terminal:
    """One command as session leader; the test holds the other end of its terminal."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        env: Mapping[str, str | None],
        size: tuple[int, int] | None = None,
        wrap: Sequence[str] = (),
    ) -> None:
        """`size` is columns and rows; without it the terminal reports none; `wrap` is a command that starts ours."""
        self._main, side = pty.openpty()
        if size is not None:
            fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

        def take_the_terminal() -> None:
            os.setsid()
            fcntl.ioctl(side, termios.TIOCSCTTY, 0)
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)

        command = [*wrap, sys.executable, "-m", "tuibench", *arguments]
        environment = shell.environment({"TERM": "xterm", **env})
        # The child runs nothing else between fork and exec, so no lock of another thread can block it.
        places: dict[str, Any] = {"stdin": side, "stdout": side, "stderr": side}
        self.process = subprocess.Popen(command, env=environment, preexec_fn=take_the_terminal, **places)  # noqa: PLW1509
        os.close(side)
        self.shown = ""
        # A multi-byte character may arrive in two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def type(self, keys: str) -> None:
        """Send text as from a keyboard."""
        os.write(self._main, keys.encode())

    def send(self, data: bytes) -> None:
        """Send bytes that are not a known key."""
        os.write(self._main, data)

    def wait_for(self, words: str) -> None:
        """Read until the text is shown."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.shown:
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"never shown: {words}\n{self.shown}")

    def take(self, count: int, done: Callable[[], object]) -> None:
        """Read until that many more characters are shown, or until `done` is true."""
        wanted = len(self.shown) + count
        deadline = time.monotonic() + PATIENCE_S
        while len(self.shown) < wanted and not done() and time.monotonic() < deadline and self._read():
            continue

    def forget(self) -> None:
        """Discard the output so far."""
        self.shown = ""

    def cut(self) -> None:
        """Close the terminal, as on a lost connection."""
        os.close(self._main)

    def end(self) -> int:
        """Read to the end; return the exit code as `$?` shows it."""
        while self._read():
            continue
        self.cut()
        return self.wait()

    def wait(self) -> int:
        """Wait for the command's end."""
        return as_shell(self.process.wait(PATIENCE_S))

    def read(self, patience_s: float) -> bool:
        """Read the output that arrives in this time; return whether more may follow."""
        return self._read(patience_s)

    def allowance(self) -> int:
        """Return the number of bytes to read now: unlimited on a fast line."""
        return 1 << 16

    def _read(self, patience_s: float = 1.0) -> bool:
        ready, _, _ = select.select([self._main], [], [], patience_s)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._main, self.allowance())
        except OSError:
            return False  # the other end is closed
        self.shown += self._decoder.decode(data)
        return bool(data)


def on_terminal(shell: Shell, typed: str | signal.Signals, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the terminal output of a command; enter `typed` when it waits for a line."""
    master, slave = pty.openpty()
    process = shell.start(*arguments, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    sent = False
    while select.select([master], [], [], 30)[0]:
        try:
            data = os.read(master, 4096)
        except OSError:
            break  # the other end has no owner any more
        if not data:
            break
        seen += data
        if not sent and seen.rstrip().endswith((b"[y/N]", b"confirm:")):
            if isinstance(typed, str):
                os.write(master, typed.encode())
            else:
                process.send_signal(typed)
            sent = True
    os.close(master)
    return as_shell(process.wait(30)), seen.decode()

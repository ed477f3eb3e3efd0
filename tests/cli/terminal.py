"""A command at a real terminal of its own: what it shows is read, keys are typed, and the line can be cut."""

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
    """One command, as the leader of a session whose terminal is the other end of ours."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        env: Mapping[str, str | None],
        size: tuple[int, int] | None = None,
        wrap: Sequence[str] = (),
    ) -> None:
        """`size` in columns and rows, without it the terminal has none; `wrap` is a command that starts ours."""
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
        # Nothing else runs between fork and exec in a test, so the function cannot meet a lock that a thread holds.
        places: dict[str, Any] = {"stdin": side, "stdout": side, "stderr": side}
        self.process = subprocess.Popen(command, env=environment, preexec_fn=take_the_terminal, **places)  # noqa: PLW1509
        os.close(side)
        self.shown = ""
        # A letter of several bytes may come in two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def type(self, keys: str) -> None:
        """As from a keyboard."""
        os.write(self._main, keys.encode())

    def send(self, data: bytes) -> None:
        """Send bytes that are not a known key."""
        os.write(self._main, data)

    def wait_for(self, words: str) -> None:
        """Read on until the words have been shown."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.shown:
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"never shown: {words}\n{self.shown}")

    def take(self, count: int, done: Callable[[], object]) -> None:
        """Read on until so many more characters have been shown, or that is done."""
        wanted = len(self.shown) + count
        deadline = time.monotonic() + PATIENCE_S
        while len(self.shown) < wanted and not done() and time.monotonic() < deadline and self._read():
            continue

    def forget(self) -> None:
        """Only what comes from now on counts."""
        self.shown = ""

    def cut(self) -> None:
        """The line is gone, as when a connection is lost."""
        os.close(self._main)

    def end(self) -> int:
        """Read to the end; the exit code as a shell would print it."""
        while self._read():
            continue
        self.cut()
        return self.wait()

    def wait(self) -> int:
        """For the command's end."""
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
    """Exit code and all that a terminal shows of a command, with `typed` entered or sent once it waits for a line."""
    master, slave = pty.openpty()
    process = shell.start(*arguments, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    sent = False
    while select.select([master], [], [], 30)[0]:
        try:
            data = os.read(master, 4096)
        except OSError:
            break  # nobody has the other end any more
        if not data:
            break
        seen += data
        if not sent and seen.rstrip().endswith((b"[y/N]", b"go on:")):
            if isinstance(typed, str):
                os.write(master, typed.encode())
            else:
                process.send_signal(typed)
            sent = True
    os.close(master)
    return as_shell(process.wait(30)), seen.decode()

"""Runs commands inside the test's process, which saves the start of an interpreter per command."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, Any
from unittest.mock import patch

from tests.cli.shell import Done, Environment, Shell
from tuibench.cli.main import main
from tuibench.cli.terminal import CODES


class QuickShell(Shell):
    """A shell whose commands are calls; `start` and process options still start a process."""

    def run(self, *arguments: str, env: Environment | None = None, seconds: float = 60, **options: Any) -> Done:
        """Run one command to its end; write its output to files, as in a pipe, and restore the signal handlers."""
        if options:
            return super().run(*arguments, env=env, seconds=seconds, **options)
        return self.call(*arguments, env=env)

    def call(self, *arguments: str, env: Environment | None = None) -> Done:
        """Run any command that must be refused before it starts a process."""
        begin = time.monotonic()
        with _stream() as out, _stream() as err:
            environment = patch.dict(os.environ, self.environment(env), clear=True)
            with environment, _own_handlers(), redirect_stdout(out), redirect_stderr(err):
                code = main(list(self.typed(arguments)))
            return Done(code, _content(out), _content(err), time.monotonic() - begin)


def _stream() -> IO[str]:
    # A real file, because the command looks for the descriptor behind it.
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _content(stream: IO[str]) -> str:
    stream.flush()
    data = os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0)
    return data.decode("utf-8", "surrogateescape")


@contextmanager
def _own_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in CODES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

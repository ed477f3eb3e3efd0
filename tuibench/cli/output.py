"""Functions that every command shares: output on stdout and stderr, the services, a question to the user."""

from __future__ import annotations

import codecs
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.text import to_ascii

if TYPE_CHECKING:
    from tuibench.core.reason import Reason
    from tuibench.present.progress import ProgressPainter
    from tuibench.services.api import Services

AS_ASCII = "tuibench-ascii"
"""Codec error handler that replaces missing characters as `--ascii` does."""


def emit(text: str) -> None:
    """Write the whole text to stdout; raise BrokenPipeError as soon as the reader is gone."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        # No descriptor: a test or a program replaced stdout.
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    view = memoryview(text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or AS_ASCII))
    while view:
        view = view[os.write(number, view) :]


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return to_ascii(error.object[error.start : error.end]), error.end


codecs.register_error(AS_ASCII, _replace_unencodable)


def can_draw() -> bool:
    """Return whether stdout can encode the characters of figures; an 8-bit encoding would print escapes."""
    try:
        "●⣿┤".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


_MAX_CHARS = 1000


@contextmanager
def open_services() -> Iterator[Services]:
    """Provide the services of this user."""
    from tuibench.services.api import Services  # 30 ms that --help does not need

    services = Services()
    try:
        yield services
    finally:
        services.close()
        _tell_notices(services.notices())


def _tell_notices(notices: tuple[Reason, ...]) -> None:
    if notices:
        from tuibench.present.reason import reason_words  # lazy: most commands have none

        for notice in notices:
            tell(f"tuibench: {reason_words(notice, _MAX_CHARS)}")


def tell(text: str) -> None:
    """Print a message on stderr, broken between words on a terminal; ignore a closed stderr."""
    columns = width(sys.stderr)
    if columns is not None:
        from tuibench.present.table import wrap_lines  # lazy: needed on a terminal only

        text = "\n".join(wrap_lines(text.split("\n"), columns))
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def tell_error(error: TuibenchError) -> None:
    """Print an error on stderr, with its hint on a second line."""
    from tuibench.present.error.words import hint_words, message_words  # lazy: only errors need them

    hint = hint_words(error)
    tell(f"tuibench: {message_words(error, limit=_MAX_CHARS)}" + (f"\n  {hint}" if hint else ""))


def width(stream: TextIO | None = None) -> int | None:
    """Return the columns of the terminal at `stream`, by default stdout; None without a terminal: nothing is cut."""
    try:
        number = (stream or sys.stdout).fileno()
        # A pseudo-terminal may have no size.
        return (os.get_terminal_size(number).columns or None) if os.isatty(number) else None
    except (OSError, ValueError):
        return None


def progress_painter(ascii_only: bool) -> ProgressPainter:
    """Return the painter of progress on stderr: in place, and broken between words, on a terminal."""
    from tuibench.present.progress import ProgressPainter, can_repaint  # lazy: most commands show no progress

    in_place = can_repaint(sys.stderr, os.environ.get("TERM", ""))
    return ProgressPainter(sys.stderr, time.monotonic, in_place, ascii_only, lambda: width(sys.stderr))


def ask_confirmation(question: str, answer: str, command: str, lost: str = "") -> bool:
    """Return whether the user typed `answer`; without a terminal raise UsageError, which names what `-y` deletes."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("confirmation_needs_terminal", command=command, lost=lost)
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().lower() == answer
    except OSError:
        return False  # the terminal went away: not confirmed

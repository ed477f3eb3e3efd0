"""Where a command meets the store: what the store has to say is said once, whatever becomes of the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tuibench.core.text import show
from tuibench.workbench.hall import Workbench

_LONGEST = 1000


@contextmanager
def opened() -> Iterator[Workbench]:
    """The workbench of this user."""
    bench = Workbench()
    try:
        yield bench
    finally:
        bench.close()
        for notice in bench.notices():
            tell(f"tuibench: {show(notice, _LONGEST)}")


def tell(text: str) -> None:
    """Words for the user, on stderr; nobody may be there to read them."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def width() -> int | None:
    """Columns of the terminal that stdout is; None where it is none, and nothing should be cut."""
    try:
        number = sys.stdout.fileno()
        # A pseudo-terminal may have no size.
        return (os.get_terminal_size(number).columns or None) if os.isatty(number) else None
    except (OSError, ValueError):
        return None

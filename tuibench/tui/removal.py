"""Removals and their undoing, one after the other: whoever types d, y and u at once means what d removed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tuibench.tui.desk import Desk, Removed

T = TypeVar("T")


class Removals:
    """What this session removed; another one on the same store may have removed something else since."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._own: list[str] = []
        """Entries of the trash, the latest last; only whoever has the turn looks at them."""
        self._last = threading.Event()
        self._last.set()

    def in_turn(self, work: Callable[[], T]) -> Callable[[], T]:
        """The same for a thread of its own, once everything that was given here before is done."""
        before, self._last = self._last, (done := threading.Event())

        def carry_out() -> T:
            before.wait()
            try:
                return work()
            finally:
                done.set()

        return carry_out

    def removing(self, work: Callable[[], Removed]) -> Callable[[], Removed]:
        """Likewise for what removes something, which is remembered."""

        def carry_out() -> Removed:
            removed = work()
            if removed.entry is not None:
                self._own.append(removed.entry.id)
            return removed

        return self.in_turn(carry_out)

    def undoing(self) -> Callable[[], str]:
        """Likewise: bring back what this session removed last, or where nothing of that is left, anybody."""
        return self.in_turn(self._undo)

    def _undo(self) -> str:
        if not self._own:
            return self._desk.undo()
        there = {entry.id for entry in self._desk.trash()}
        self._own = [one for one in self._own if one in there]
        return self._desk.restore(self._own[-1]) if self._own else self._desk.undo()

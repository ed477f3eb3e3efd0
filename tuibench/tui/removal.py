"""Runs removals and undos in the order of their keys, so that d, y and u typed at once undo what d removed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tuibench.tui.desk import Desk, Removed

T = TypeVar("T")


class Removals:
    """Removals of this session; other sessions may remove from the same store meanwhile."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._own: list[str] = []
        """Trash entries, the latest last; only accessed by the work whose turn it is."""
        self._last = threading.Event()
        self._last.set()

    def in_turn(self, work: Callable[[], T]) -> Callable[[], T]:
        """Wrap `work`, to be run in a thread, so that it waits for all work passed in before."""
        before, self._last = self._last, (done := threading.Event())

        def carry_out() -> T:
            before.wait()
            try:
                return work()
            finally:
                done.set()

        return carry_out

    def removing(self, work: Callable[[], Removed]) -> Callable[[], Removed]:
        """Wrap a removal likewise, and remember its trash entry."""

        def carry_out() -> Removed:
            removed = work()
            if removed.entry is not None:
                self._own.append(removed.entry.id)
            return removed

        return self.in_turn(carry_out)

    def undoing(self) -> Callable[[], str]:
        """Return work that restores this session's last removal, or anyone's if none of its own is left."""
        return self.in_turn(self._undo)

    def _undo(self) -> str:
        if not self._own:
            return self._desk.undo()
        there = {entry.id for entry in self._desk.trash()}
        self._own = [one for one in self._own if one in there]
        return self._desk.restore(self._own[-1]) if self._own else self._desk.undo()

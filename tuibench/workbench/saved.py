"""Knows the runs that the store contains, to distinguish saved runs from runs that exist only as journals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tuibench.core.errors import StoreError

if TYPE_CHECKING:
    from tuibench.store.store import Store


def remember_saved(find_store: Callable[[], Store]) -> Callable[[str], bool | None]:
    """Return a function that tests whether a run is in the store or its trash; None if the store cannot be read.

    The store is read once, at the first call: a list of runs asks for each of them.
    """
    saved: set[str] = set()

    def is_saved(run: str) -> bool | None:
        if not saved:
            try:
                store = find_store()
                saved.update(row.id for row in store.benchmarks.rows())
                saved.update(store.trash.ids())
            except StoreError:
                saved.clear()
                return None
            saved.add("")
        return run in saved

    return is_saved

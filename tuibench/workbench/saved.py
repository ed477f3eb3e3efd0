"""Which runs are saved: the store's word, which holds against what a journal says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tuibench.core.errors import StoreError
from tuibench.runs.directory import RunDirectory

if TYPE_CHECKING:  # whoever has a store has imported it
    from tuibench.store.store import Store


class Saved:
    """For runs of any store: each store is read once, and only where it is asked for."""

    def __init__(self) -> None:
        self._ids: dict[str, frozenset[str] | None] = {}

    def has(self, run: RunDirectory) -> bool | None:
        """Whether its store, or the trash of that, has its result; None where that cannot be told."""
        try:
            root = str(run.request()["store"])
        except (StoreError, KeyError):
            return None
        if root not in self._ids:
            self._ids[root] = _read(Path(root))
        ids = self._ids[root]
        return None if ids is None else run.id in ids


def saved_ids(store: Store) -> frozenset[str]:
    """Every benchmark that a store has, also what can come back from its trash."""
    return frozenset((*(row.id for row in store.benchmarks.rows()), *store.trash.ids()))


def _read(root: Path) -> frozenset[str] | None:
    from tuibench.workbench.opening import open_store  # tinydb: 10 ms

    try:
        return saved_ids(open_store(root))
    except StoreError:
        return None

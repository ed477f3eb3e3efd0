"""Resolves a token to a benchmark, else to an unsaved run or a removed benchmark."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.errors import UnknownId
from tuibench.core.ids import LENGTH, resolve, short_id, short_ids
from tuibench.core.stored import BenchmarkRow
from tuibench.core.text import show
from tuibench.store.store import Store

if TYPE_CHECKING:
    from tuibench.services.runs import RunFinder, Runs


_SHOWN = 8


def find_row(token: str, rows: Sequence[BenchmarkRow]) -> BenchmarkRow:
    """Return the row of `rows`, newest first, that the token names; raise UnknownId with the candidates."""
    typed = unicodedata.normalize("NFC", token.strip())
    if not _is_id(typed, rows):
        named = [row for row in rows if row.name and unicodedata.normalize("NFC", row.name) == typed]
        if named and _are_one_line(named, rows):
            return named[0]
        if named:
            raise _several(typed, named, rows)
    wanted = resolve(typed, [row.id for row in rows], {row.id: row.rerun_of for row in rows if row.rerun_of})
    found = next((row for row in rows if row.id == wanted), None)
    if found is None:
        raise UnknownId(f"what {show(typed, 40)} repeats was removed", "`tuibench trash` shows what can come back.")
    return found


def _is_id(typed: str, rows: Sequence[BenchmarkRow]) -> bool:
    """Return whether the token is an id; an id shown on screen wins over a benchmark's name."""
    lowered = typed.lower()
    if lowered == "last" or lowered.startswith("last~") or lowered.endswith("~"):
        return True
    return len(typed) >= LENGTH and sum(row.id.endswith(typed.upper()) for row in rows) == 1


def _are_one_line(named: Sequence[BenchmarkRow], rows: Sequence[BenchmarkRow]) -> bool:
    """Return whether all are re-runs of the same benchmark: re-runs inherit its name, which then means the newest."""
    repeated = {row.id: row.rerun_of for row in rows}
    return len({_first(row.id, repeated) for row in named}) == 1


def _first(one: str, repeated: Mapping[str, str]) -> str:
    seen = set()
    # A cycle is possible only after a manual edit.
    while (before := repeated.get(one)) and one not in seen:
        seen.add(one)
        one = before
    return one


def _several(typed: str, named: Sequence[BenchmarkRow], rows: Sequence[BenchmarkRow]) -> UnknownId:
    names = short_ids(row.id for row in rows)
    listed = ", ".join(names[row.id] for row in named[:_SHOWN])
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return UnknownId(f"{len(named)} benchmarks are called {show(typed, 40)}", f"Type the id of one: {listed}{more}")


class IdResolver:
    """Resolves any number of tokens; reads rows, runs and trash at most once."""

    def __init__(self, store: Store, runs: Callable[[], Runs]) -> None:
        self._store = store
        self._runs = runs

    def row(self, token: str) -> BenchmarkRow:
        """Return the benchmark; raise UnknownId with the candidates."""
        return self._by_id.get(token) or find_row(token, self._rows)

    def elsewhere(self, typed: str) -> UnknownId | None:
        """Return an error that says where a token that is no listed benchmark is; None if unknown."""
        if (trashed := self.in_trash(typed)) is not None:
            hint = f"tuibench trash restore {short_id(trashed)} brings it back"
            named = short_id(trashed) if typed == trashed else show(typed, 40)
            return UnknownId(f"{named} is in the trash", hint)
        run = self.run(typed, by_name=True)
        if run is None:
            return None
        return UnknownId(f"{show(typed, 40)} is a run that is not in the store: it is {run.state}", _what_to_do(run))

    def in_trash(self, typed: str) -> str | None:
        """Return the id of the removed benchmark with this short id; None if there is none."""
        if len(typed) < LENGTH:
            return None
        return next((one for one in self._trashed if one.endswith(typed.upper())), None)

    def run(self, typed: str, by_name: bool = False) -> RunInfo | None:
        """Return the run with this short id, or with `by_name` this name; None if there is none."""
        if len(typed) < LENGTH and not by_name:
            return None
        try:
            found = self._finder.info(typed)
        except UnknownId:
            return None
        named = by_name and found.name == typed
        return found if named or (len(typed) >= LENGTH and found.id.endswith(typed.upper())) else None

    @cached_property
    def _rows(self) -> tuple[BenchmarkRow, ...]:
        return self._store.benchmarks.rows()

    @cached_property
    def _by_id(self) -> dict[str, BenchmarkRow]:
        return {row.id: row for row in self._rows}

    @cached_property
    def _trashed(self) -> tuple[str, ...]:
        return tuple(one for entry in self._store.trash.entries() for one in entry.benchmarks)

    @cached_property
    def _finder(self) -> RunFinder:
        return self._runs().finder()


def _what_to_do(run: RunInfo) -> str:
    """Return a hint for an unsaved run."""
    short = short_id(run.id)
    if run.state in activity.ALIVE:
        return f"tuibench attach {short} follows it to its end"
    if run.state == activity.ELSEWHERE:
        return "tuibench ps says where it ran"
    if run.resumable:
        resume = "saves it" if run.state == activity.UNSAVED else "goes on with what is missing"
        return f"tuibench export {short} -x FILE writes what there is, tuibench resume {short} " + resume
    return f"tuibench ps --all says more; tuibench remove {short} removes it"

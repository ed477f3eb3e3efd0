"""The saved benchmarks: find by id or name, list, read, rename, remove, restore, check."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.errors import StoreError, UnknownId, UsageError
from tuibench.core.ids import LENGTH, resolve, short_id, short_ids
from tuibench.core.stored import BenchmarkRow, Removal, StoredBenchmark, StoreReport, TrashEntry
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
        raise UnknownId("original_removed", given=typed)
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
    listed = [names[row.id] for row in named[:_SHOWN]]
    return UnknownId("several_called", noun="benchmark", given=typed, count=len(named), names=listed)


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
            return UnknownId("in_trash", given=short_id(trashed) if typed == trashed else typed, id=trashed)
        run = self.run(typed, by_name=True)
        if run is None:
            return None
        return UnknownId("run_not_in_store", given=typed, **run_facts(run))

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


def run_facts(run: RunInfo) -> dict[str, Any]:
    """Return the facts of an unsaved run that decide what can be done with it."""
    return {"run": run.id, "state": run.state, "resumable": run.resumable}


class StillRunning(UsageError):
    """The targets of a removal are still running; the user must agree to cancel `runs` first."""

    def __init__(self, runs: Sequence[RunInfo]) -> None:
        super().__init__("runs_still_running", ids=[run.id for run in runs])
        self.runs = tuple(runs)


class NeverSaved(UsageError):
    """The targets of a removal were never saved, so it cannot be undone; the user must agree."""

    def __init__(self, runs: Sequence[RunInfo]) -> None:
        measured = [run.id for run in runs if run.executions]
        unread_state = activity.INTERRUPTED, "", False
        unread = [run for run in runs if (run.state, run.started_utc, run.resumable) == unread_state]
        if measured:
            super().__init__("runs_not_saved", ids=measured, first=measured[0])
        elif unread:
            super().__init__("run_unread", run=unread[0].id, why=unread[0].detail)
        else:
            super().__init__("runs_without_measurements", ids=[run.id for run in runs])
        self.runs = tuple(runs)


@dataclass(frozen=True, slots=True)
class Targets:
    """The resolved tokens: saved benchmarks, and runs without a saved result."""

    rows: tuple[BenchmarkRow, ...]
    going: tuple[RunInfo, ...]
    unsaved: tuple[RunInfo, ...] = ()
    """Ended runs whose executions exist only in their own directories."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all of them."""
        return (*(row.id for row in self.rows), *(run.id for run in (*self.going, *self.unsaved)))


class Library:
    """All actions on the store's benchmarks; a token is any form of an id, or a unique name."""

    def __init__(self, store: Store, runs: Callable[[], Runs]) -> None:
        self._store = store
        self._runs = runs

    def list(self, project: str | None = None, text: str = "", limit: int | None = None) -> tuple[BenchmarkRow, ...]:
        """Return benchmarks, newest first, that contain every word of `text`; of one project if named. No profiles."""
        rows = self._rows(project, text)
        if any(row.kind for row in rows):
            rows = tuple(row for row in rows if not row.kind)
        return rows if limit is None else rows[:limit]

    def list_profiles(self, project: str | None = None, text: str = "") -> tuple[BenchmarkRow, ...]:
        """Return the same for profiles."""
        return tuple(row for row in self._rows(project, text) if row.kind)

    def list_unassigned(self, *, profiles: bool = False) -> tuple[BenchmarkRow, ...]:
        """Return benchmarks, or profiles, without an existing project, newest first."""
        known = {project.id for project in self._store.projects.all()}
        rows = self._store.benchmarks.rows(derive=True)
        return tuple(row for row in rows if row.project not in known and bool(row.kind) is profiles)

    def _rows(self, project: str | None, text: str) -> tuple[BenchmarkRow, ...]:
        # Reading records of older versions at every key of a search would make it slow.
        rows = self._store.benchmarks.search(text) if text else self._store.benchmarks.rows(derive=True)
        if project is None:
            return rows
        wanted = self._store.projects.resolve(project)
        return tuple(row for row in rows if row.project == wanted)

    def find(self, token: str) -> BenchmarkRow:
        """Return the row that the token names; raise UnknownId with the candidates, or with its actual place."""
        resolver = IdResolver(self._store, self._runs)
        try:
            return resolver.row(token)
        except UnknownId as error:
            raise resolver.elsewhere(token.strip()) or error from None

    def get(self, token: str) -> StoredBenchmark:
        """Return the whole benchmark that the token names."""
        return self._store.benchmarks.get(self.find(token).id)

    def command(self, token: str) -> str:
        """Return the shell command that measures the same."""
        from tuibench.present.command import command_of  # lazy: lists do not need it

        result = self.get(token).result
        command = command_of(result)
        if not command:
            raise UsageError("no_command", tool=result.foreign)
        return command

    def project_name(self, project: str | None) -> str:
        """Return a project's name; '' if there is none or it cannot be read."""
        try:
            return self._store.projects.get(project).name if project else ""
        except (StoreError, UnknownId):
            return ""

    def edit(
        self, token: str, name: str | None = None, note: str | None = None, project: str | None = None
    ) -> BenchmarkRow:
        """Change the given fields; '' as project removes the benchmark from its project."""
        row = self.find(token)
        wanted = self._store.projects.resolve(project) if project else project
        return self._store.benchmarks.edit(row.id, name=name, note=note, project=wanted)

    def targets(self, tokens: Iterable[str]) -> Targets:
        """Return what `remove` would remove for these tokens."""
        rows: dict[str, BenchmarkRow] = {}
        runs: dict[str, RunInfo] = {}
        resolver = IdResolver(self._store, self._runs)
        for token in map(str.strip, tokens):
            run = resolver.run(token)
            if run is not None and run.state in activity.ALIVE:
                runs[run.id] = run
                continue
            try:
                row = resolver.row(token)
                rows[row.id] = row
            except UnknownId as error:
                run = resolver.run(token, by_name=True)
                if run is None or run.state == activity.ELSEWHERE or resolver.in_trash(token):
                    raise resolver.elsewhere(token) or error from None
                runs[run.id] = run
        going = tuple(run for run in runs.values() if run.state in activity.ALIVE)
        unsaved = [run for run in runs.values() if run.state not in activity.ALIVE]
        if unsaved:
            # A run may have been saved since the list was read.
            now = {row.id: row for row in self._store.benchmarks.rows()}
            rows |= {run.id: now[run.id] for run in unsaved if run.id in now}
        return Targets(tuple(rows.values()), going, tuple(run for run in unsaved if run.id not in rows))

    def remove(self, tokens: Iterable[str], *, cancel: bool = False, discard: bool = False) -> Removal:
        """Move benchmarks to the trash as one removal.

        Raise StillRunning for a live run without `cancel`, NeverSaved for an unsaved run without `discard`: removing
        that one cannot be undone.
        """
        targets = self.targets(tokens)
        if targets.going and not cancel:
            raise StillRunning(targets.going)
        if targets.unsaved and not discard:
            raise NeverSaved(targets.unsaved)
        cancelled = tuple(self._runs().cancel(run.id) for run in targets.going)
        # A cancelled run without measurements has no saved result.
        saved = {row.id for row in self._store.benchmarks.rows()}
        kept = [one for one in targets.ids if one in saved]
        entry = self._store.trash.remove(kept) if kept else None
        return Removal(entry, cancelled, tuple(self._runs().discard(run.id) for run in targets.unsaved))

    def undo(self) -> TrashEntry:
        """Restore the last removal of this machine."""
        if not self._store.trash.entries():
            # Check first: `restore` would create an id for this machine.
            raise UnknownId("nothing_to_undo")
        return self._store.trash.restore()

    def restore(self, token: str) -> TrashEntry:
        """Restore a removal, named by an item in it or by its own id; all its items return."""
        entries = self._store.trash.entries()
        held = {one: entry.id for entry in entries for one in (*entry.benchmarks, *entry.projects, entry.id)}
        if not held:
            raise UnknownId("trash_empty")
        return self._store.trash.restore(held[resolve(token, list(held), {}, "removed benchmark")])

    def trash(self) -> tuple[TrashEntry, ...]:
        """Return the removals that can be restored, newest first."""
        return self._store.trash.entries()

    def empty_trash(self, only: Collection[str] | None = None) -> tuple[int, int]:
        """Delete these removals permanently, or all; return their number and bytes.

        Pass the ids that the user confirmed: another session may have removed more since.
        """
        before = self._store.trash.ids()
        emptied = self._store.trash.empty(only)
        left = set(self._store.trash.ids())
        self._runs().forget([one for one in before if one not in left])
        return emptied

    def check(self, *, read_data: bool = False, repair: bool = False) -> StoreReport:
        """Find problems in the store; with `repair`, fix those that can be fixed."""
        # Skip live runs, which will save themselves, and runs without executions, which have nothing to save.
        journals = [run.id for run in self._runs().every() if run.state not in activity.ALIVE and run.executions]
        return self._store.check(read_data=read_data, repair=repair, journals=journals)

    def migrate(self, tell: Callable[[int, int], None] = lambda _done, _total: None) -> StoreReport:
        """Convert files of an older form to the current one, all or none; `tell` receives done and total rows."""
        return self._store.migrate(tell)

"""Changes by any process: the store, and the runs without a saved result; an unchanged run costs one stat."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tuibench.core import activity
from tuibench.core.activity import RunInfo, RunRow, Snapshot
from tuibench.core.errors import StoreError
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.present.reason import all_words, reason_words
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, NONSENSE
from tuibench.runs.observer import RunObserver, StateContext, judge_run, read_state
from tuibench.services.projects import find_project

if TYPE_CHECKING:
    from tuibench.services.runs import Runs
    from tuibench.store.store import Store

_LISTED = frozenset({activity.FINISHED, activity.CANCELLED})
"""Ended runs in these states are listed as results, or have no result."""

_Stamp = tuple[int, int] | None


@dataclass(slots=True)
class _Known:
    """The last poll's knowledge of one run."""

    run: RunObserver
    stamp: _Stamp = None
    mark: str = ""
    held: bool = False
    looked: bool = False
    """True if an earlier poll found it."""
    planned: bool = False
    judged: tuple[object, ...] = ()
    row: RunRow | None = None
    """None if the run is listed elsewhere."""
    ended: RunInfo | None = None
    """Final state of a run that was alive at an earlier poll and is now listed elsewhere."""


class Monitor:
    """Looks for changes; one instance per session, usable from any thread."""

    def __init__(self, runs: Runs, store: Store) -> None:
        self._runs = runs
        self._store = store
        self._known: dict[str, _Known] = {}
        self._context: StateContext | None = None
        self._mark = ""
        self._projects: dict[tuple[str, str, str], str] = {}
        """Projects by key, cached until the store changes."""
        self._looks = 0
        self._unwritable: Reason | None = None
        self._one_at_a_time = threading.Lock()

    def look(self) -> Snapshot:
        """Return the present state, runs newest first; the second look tests whether results can be saved."""
        with self._one_at_a_time:
            mark = self._store.mark()
            if self._context is None or mark != self._mark:
                self._context, self._mark = self._runs.context(), mark
                self._projects.clear()
            before, self._known = self._known, {}
            for directory in self._runs.directories():
                known = before.get(directory.id) or _Known(RunObserver(directory.path, counts_only=True))
                self._known[directory.id] = known
                self._update(known, self._context, mark)
            self._looks += 1
            if self._looks == 2:  # not at the first look, which is part of the start
                self._unwritable = self._store.probe()
            return Snapshot(
                mark,
                tuple(known.row for known in self._known.values() if known.row is not None),
                ((f"results may not be saved: {reason_words(self._unwritable)}",) if self._unwritable else ())
                + all_words(self._store.notices()),
                tuple(known.ended for known in self._known.values() if known.ended is not None),
            )

    def _update(self, known: _Known, context: StateContext, mark: str) -> None:
        stamp = _stamp(known.run.directory)
        rests = not known.held and known.stamp is not None and known.stamp == stamp
        if rests and (known.mark == mark or self._is_as_before(known, context)):
            known.mark = mark
            return
        # Test the lock first: a journal read after the lock is free is complete.
        held = known.run.directory.is_held()
        if known.held and not held:
            # The runner may have saved it after `mark` was taken, so ask the store again.
            context = self._context = self._runs.context()
        same = held and known.mark == mark
        known.stamp, known.mark, known.held = stamp, mark, held
        known.judged = _basis(known.run.directory, context)
        # Only a live run may be large and is looked at each second; others are read with every check.
        info = known.run.info(context) if held else read_state(known.run.directory, context)
        planned = bool(known.run.replay.models)
        if same and known.row is not None and (info, planned) == (known.row.info, known.planned):
            return
        known.planned = planned
        # Another machine's ended run is listed in that machine's store.
        listed = info.state in _LISTED or (info.state == activity.ELSEWHERE and info.pid is None)
        # A runner that only cleans up has saved its result already.
        tidies = held and bool(known.run.replay.end.get("saved"))
        listed = listed or tidies
        if listed and known.row is not None and known.row.info.state in activity.ALIVE:
            known.ended = _ended(known, info, context) if tidies else info
        # A run that is starting has neither lock nor journal: skip it for one poll, lest it look interrupted.
        begins = known.stamp is None and not held and not known.looked
        known.looked = True
        known.row = None if listed or begins else self._row(known, info)

    def _is_as_before(self, known: _Known, context: StateContext) -> bool:
        """Return whether the store judges an ended run as before: then skip its journal."""
        if known.judged != _basis(known.run.directory, context):
            return False
        if known.row is not None:
            project = self._project(known)
            known.row = known.row if project == known.row.project else replace(known.row, project=project)
        return True

    def _row(self, known: _Known, info: RunInfo) -> RunRow:
        request = _request(known.run)
        metadata = request.get("card") or {}
        spec = from_plain(BenchmarkSpec, request["spec"]) if request else None
        return RunRow(
            info=info,
            project=self._project(known),
            engines=_joined(spec.engines if spec else ()),
            scenarios=_joined(spec.scenarios if spec else ()),
            cores=_joined(spec.cores if spec else ()),
            batches=_joined(spec.batches if spec else ()),
            rerun_of=str(metadata.get("rerun_of") or ""),
            note=str(metadata.get("note", "")),
        )

    def _project(self, known: _Known) -> str:
        """Return the project of its future result; it may change with the store."""
        request = _request(known.run)
        asked = str((request.get("card") or {}).get("project") or "")
        sources = (request.get("spec") or {}).get("models") or [{}]
        sha256 = known.run.replay.models[0].sha256 if known.run.replay.models else ""
        wanted = asked, sha256, str(sources[0].get("path", ""))
        if wanted not in self._projects:
            self._projects[wanted] = find_project(self._store, *wanted)
        return self._projects[wanted]


def _ended(known: _Known, info: RunInfo, context: StateContext) -> RunInfo:
    """Return the state that a saved run will have once its runner has exited."""
    try:
        return judge_run(info, known.run.replay, replace(context, is_saved=lambda _: True), held=False)
    except NONSENSE:
        return info


def _basis(run: RunDirectory, context: StateContext) -> tuple[object, ...]:
    """Return everything that decides the state of an ended run, except its journal."""
    return context.is_saved(run.id), context.host_id


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def _stamp(run: RunDirectory) -> _Stamp:
    try:
        found = os.stat(run.path / NAME)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _request(run: RunObserver) -> Mapping[str, Any]:
    try:
        return run.request
    except StoreError:
        return {}

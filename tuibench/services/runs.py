"""The actions on runs: start, watch, detach, find, end, resume."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.errors import ModelError, StoreError, StoreNewer, UnknownId, UsageError
from tuibench.core.ids import make_ulid, resolve
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.core.schema import schema_of
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.stored import Metadata
from tuibench.core.text import show
from tuibench.present.reason import reason_words
from tuibench.present.run_list import owner_words
from tuibench.runs.control import ControlRequests
from tuibench.runs.directory import LOG, RunDirectory, list_runs
from tuibench.runs.host_queue import find_holder
from tuibench.runs.journal import NAME, read_history
from tuibench.runs.observer import (
    RunObserver,
    StateContext,
    read_replay,
    read_state,
    resume_refusal,
    states_of,
    this_boot,
)
from tuibench.services import control
from tuibench.services.detached_runner import (
    passing_directory,
    spare_runs,
    start_detached_runner,
    start_runner,
    usable_root,
)
from tuibench.services.projects import find_project
from tuibench.services.saving import remember_saved
from tuibench.services.settings import Settings

if TYPE_CHECKING:  # types only: listing runs must not import them (25 ms)
    from tuibench.services.active_run import ActiveRun
    from tuibench.services.run_view import RunWatch
    from tuibench.store.store import Store


class RunFinder:
    """The runs that exist now, newest first, and the context that decides their states."""

    def __init__(self, directories: Sequence[RunDirectory], context: StateContext) -> None:
        self._by_id = {run.id: run for run in directories}
        self._context = context
        self._infos: dict[str, RunInfo] = {}

    def find(self, token: str) -> RunDirectory:
        """Return a run by id, else by a unique name; raise UnknownId if neither matches."""
        if token in self._by_id:
            return self._by_id[token]
        try:
            return self._by_id[resolve(token, list(self._by_id), {}, noun="run")]
        except UnknownId:
            named = self._named.get(token, [])
            if len(named) != 1:
                raise
            return named[0]

    def info(self, token: str) -> RunInfo:
        """Return the run's state, as it was at the first request."""
        run = self.find(token)
        if run.id not in self._infos:
            self._infos[run.id] = read_state(run, self._context)
        return self._infos[run.id]

    @cached_property
    def _named(self) -> dict[str, list[RunDirectory]]:
        named: dict[str, list[RunDirectory]] = {}
        for run in self._by_id.values():
            named.setdefault(_name(run), []).append(run)
        return named


def read_request(run: RunDirectory) -> dict[str, Any]:
    """Return the request of a run; empty if it cannot be read."""
    try:
        return run.request()
    except StoreError:
        return {}


def _name(run: RunDirectory) -> str:
    return str((read_request(run).get("card") or {}).get("name", ""))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run that are not part of its specification."""

    save: bool = True
    plan_only: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    wait_s: float | None = None
    """Longest wait for another benchmark on this machine: None waits without limit, 0 does not wait."""
    share_host: bool = False


class Runs:
    """All actions on runs; the library handles their results."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def start(self, spec: BenchmarkSpec, options: RunOptions) -> tuple[ActiveRun, tuple[str, ...]]:
        """Start a runner that ends with this process unless detached; return it with messages for the user."""
        if options.save and not options.plan_only:
            run_dir, request, notes = self._compose(spec, options)
            return self._launch(run_dir, request, kept=True), notes
        request = self._ask(spec, options) | {"id": _draw_id(), "ephemeral": True}
        return self._launch(passing_directory(), request, kept=False), ()

    def launch(self, spec: BenchmarkSpec, options: RunOptions) -> tuple[str, tuple[str, ...]]:
        """Start a detached run; return its id and messages for the user.

        It returns once the run can be found; errors of its model are in its journal.
        """
        if options.plan_only or not options.save:
            raise UsageError("run_without_saving")
        run_dir, request, notes = self._compose(spec, options)
        start_detached_runner(run_dir, request)
        return str(request["id"]), notes

    def _ask(self, spec: BenchmarkSpec, options: RunOptions) -> dict[str, Any]:
        """Return the common part of every request."""
        plain = to_plain(spec)
        return {
            "v": schema_of(plain),
            "spec": plain,
            "seed": spec.inputs.seed,
            "plan_only": options.plan_only,
            "ephemeral": False,
            "wait_s": options.wait_s,
            "share_host": options.share_host,
            "host_lock": self._settings.host_lock,
            "engines": str(self._settings.places.engines),
        }

    def _compose(self, spec: BenchmarkSpec, options: RunOptions) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
        """Return directory and request of a saved run, with messages for the user."""
        notes: list[str] = []
        request = self._ask(spec, options)
        root, why = usable_root(self._settings.places.runs)
        if why is not None:
            wanted = f"{show(str(self._settings.places.runs), 120)}: {reason_words(why)}"
            notes.append(f"runs cannot be saved in {wanted}; this one is saved in {root}")
        problem = self._store.probe()
        notes += (
            [f"the store cannot be written ({reason_words(problem)}): the result stays with the run"] if problem else []
        )
        request |= self._identity(problem)
        request["card"] = to_plain(options.metadata)
        request |= {"store": str(self._settings.places.data), "cache": str(self._settings.places.cache)}
        return root / request["id"], request, tuple(notes)

    def _identity(self, problem: Reason | None) -> dict[str, str]:
        """Return the ids of run and machine; draw the run's id without the store if that is unusable."""
        if problem:
            return {"id": _draw_id(), "host_id": self._host_id()}
        taken = [run.id for run in self.directories()]
        return {"id": self._store.benchmarks.draw_id(_now_ms(), taken), "host_id": self._store.host_id}

    def _host_id(self) -> str:
        try:
            return self._store.known_host_id or ""
        except StoreError:
            return ""

    def _launch(self, run_dir: Path, request: dict[str, Any], *, kept: bool, first_seq: int | None = None) -> ActiveRun:
        from tuibench.services.active_run import ActiveRun  # lazy: a list of runs does not need it

        line = json.dumps(request).encode("ascii") + b"\n"
        log = os.memfd_create(LOG)
        try:
            process = start_runner(run_dir, log)
            resumed = first_seq is not None
            return ActiveRun(run_dir, log, process, line, kept=kept, resumed=resumed, first_seq=first_seq or 0)
        except BaseException:
            os.close(log)
            raise

    def every(self) -> tuple[RunInfo, ...]:
        """Return every run on disk, newest first."""
        return states_of(self.directories(), self.context())

    def alive(self, ids: Collection[str]) -> tuple[str, ...]:
        """Return those that measure or wait now, by their locks alone; read no journal."""
        held = {run.id for run in self.directories() if run.id in ids and run.is_held()}
        return tuple(one for one in ids if one in held)

    def info(self, token: str) -> RunInfo:
        """Return one run, by any unique part of its id."""
        return self.finder().info(token)

    def finder(self) -> RunFinder:
        """Return a finder for many tokens, which reads the existing runs once."""
        return RunFinder(self.directories(), self.context())

    def attach(self, token: str) -> RunObserver:
        """Follow a run of this machine from its beginning."""
        return RunObserver(self._find_here(token).path)

    def discard(self, token: str) -> RunInfo:
        """Remove a run that is not alive, with all unsaved measurements; this cannot be undone."""
        directory = self.directory(token)
        info = read_state(directory, self.context())
        if info.state in (*activity.ALIVE, activity.ELSEWHERE):
            raise UsageError("run_in_state", run=info.id, state=info.state, asked="discard", resumable=False)
        directory.remove()
        return info

    def forget(self, ids: Collection[str]) -> None:
        """Remove the directories of runs whose results were deleted permanently."""
        for run in self.directories():
            if run.id in ids and not run.is_held():
                run.remove()

    def cancel(self, token: str) -> RunInfo:
        """End a run and wait until it has ended; its measurements are saved. Raise UsageError if it is not alive."""
        return self._ask_runner(token, control.cancel)

    def finish(self, token: str) -> RunInfo:
        """Ask a run to finish after the current execution; return once the request is written.

        Cells with at least one execution count as measured; a profile ends once it has its first useful part. Raise
        UsageError if the run waits or is not alive.
        """
        return self._ask_runner(token, control.finish)

    def extend(self, token: str, seconds: float | None = None) -> RunInfo:
        """Give more time to every cell below its target; return once the request is written.

        `seconds` are per cell, with executions in proportion; None repeats each cell's original time. Raise UsageError
        if the run is not alive or measures a fixed amount.
        """
        return self._ask_runner(token, lambda run, info: control.extend(run, info, _draw_id(), seconds))

    def _ask_runner(self, token: str, ask: Callable[[RunDirectory, RunInfo], None]) -> RunInfo:
        """Send a request to a run's runner; return the run's state afterwards."""
        directory = self.directory(token)
        ask(directory, read_state(directory, self.context()))
        return read_state(directory, self.context())

    def resume(
        self,
        token: str,
        *,
        mixed: bool = False,
        finish: bool = False,
        wait_s: float | None = None,
        share_host: bool = False,
    ) -> ActiveRun:
        """Resume an interrupted run, or with `finish` save it as it is."""
        directory, request = self._compose_again(token, mixed, finish)
        request |= {"wait_s": wait_s, "share_host": share_host}
        begun = (directory.path / NAME).exists()
        seq = read_history(directory.path).next_seq if begun else 0
        return self._launch(directory.path, request, kept=True, first_seq=seq)

    def resume_detached(self, token: str, *, mixed: bool = False, finish: bool = False) -> str:
        """Resume a run with a detached runner; return the run's id."""
        directory, request = self._compose_again(token, mixed, finish)
        start_detached_runner(directory.path, request)
        return directory.id

    def _compose_again(self, token: str, mixed: bool, finish: bool) -> tuple[RunDirectory, dict[str, Any]]:
        """Return directory and request of a run to resume; raise an error if it cannot be resumed."""
        directory = self.directory(token)
        info = read_state(directory, self.context())
        refusal = resume_refusal(info)
        if refusal:
            _refuse_newer(directory)
            facts = {"state": info.state, "executions": info.executions}
            raise UsageError("not_resumable", run=info.id, why=refusal, **facts)
        request = directory.request()
        # Everything is measured and only saving failed: that needs no model.
        finish = finish or info.state == activity.UNSAVED
        if not finish:
            _require_models(request)
        request |= {"resume": {"mixed": mixed, "finish": finish}, "wait_s": None, "share_host": False}
        request |= {"host_lock": self._settings.host_lock, "store": str(self._settings.places.data)}
        request["engines"] = str(self._settings.places.engines)
        # It takes a new place in the queue; requests to end the last session do not apply to this one.
        request["ticket"] = _draw_id()
        directory.forget_cancel()
        ControlRequests(directory.path).forget_finish()
        return directory, request

    def holder(self) -> str:
        """Return who measures on this machine now, in words; '' if nobody measures, or only runs a model once."""
        found = find_holder(self._settings.host_lock)
        return "" if found is None or found.brief else owner_words(found)

    def watch(self, token: str) -> RunWatch:
        """Watch a run of this machine from its beginning, poll by poll."""
        from tuibench.services.run_view import RunWatch  # lazy: as above

        directory = self._find_here(token)
        request = read_request(directory)
        models = (request.get("spec") or {}).get("models") or [{}]
        asked = str((request.get("card") or {}).get("project") or "")
        project = find_project(self._store, asked, path=str(models[0].get("path", "")))
        return RunWatch(directory, self.context, project)

    def log(self, token: str) -> tuple[str, ...]:
        """Return the output of a run's processes, newest last."""
        from tuibench.services.run_view import run_log  # lazy: as above

        return run_log(self.directory(token))

    def command(self, token: str) -> str:
        """Return the shell command that measures the same."""
        from tuibench.present.command import typed
        from tuibench.services.run_view import run_spec  # lazy: as above

        directory = self.directory(token)
        return typed(run_spec(directory), directory.id)

    def directories(self) -> list[RunDirectory]:
        """Return the directories of all runs, newest first."""
        store = str(self._settings.places.data)
        # All stores of a user share the spare directory.
        spare = [run for run in spare_runs() if read_request(run).get("store") == store]
        return sorted([*list_runs(self._settings.places.runs), *spare], key=lambda run: run.id, reverse=True)

    def context(self) -> StateContext:
        """Return a context that reads the store at most once."""
        return StateContext(self._host_id(), this_boot(), is_saved=remember_saved(lambda: self._store))

    def directory(self, token: str) -> RunDirectory:
        """Return a run by id, else by a unique name."""
        return self.finder().find(token)

    def _find_here(self, token: str) -> RunDirectory:
        """Return the same for a run of this machine; raise UsageError for another's."""
        directory = self.directory(token)
        info = read_state(directory, self.context())
        if info.state == activity.ELSEWHERE:
            silent_s = info.heartbeat_age_s or 0.0
            raise UsageError("run_elsewhere", run=info.id, why=info.detail, silent_s=silent_s)
        return directory


def _refuse_newer(directory: RunDirectory) -> None:
    """Raise StoreNewer if a newer version wrote the run; ignore other errors, which the caller reports."""
    try:
        directory.request()
        read_replay(directory)
    except StoreNewer:
        raise
    except StoreError:
        return


def _require_models(request: dict[str, Any]) -> None:
    for source in request["spec"]["models"]:
        if not os.path.isfile(source["path"]):
            raise ModelError("measured_file_missing", model=source["asked"])


def _draw_id() -> str:
    return make_ulid(_now_ms(), secrets.token_bytes(10))


def _now_ms() -> int:
    return int(time.time() * 1000)

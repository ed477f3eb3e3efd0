"""Runs as their user deals with them: start, watch, leave, find again, end, take up."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuibench.core import activity
from tuibench.core.activity import RunInfo
from tuibench.core.card import Card
from tuibench.core.errors import ModelError, StoreError, StoreNewer, UsageError
from tuibench.core.form import form_of
from tuibench.core.record import to_plain
from tuibench.core.short_id import short_id
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.ulid import make_ulid
from tuibench.core.units import seconds
from tuibench.runs.directory import RunDirectory, list_runs
from tuibench.runs.journal import NAME, read_history
from tuibench.runs.past import read_past
from tuibench.runs.state import Observer, read_state, resume_refusal, states_of, this_boot
from tuibench.runs.wish import WishBox
from tuibench.workbench.launch import passing_directory, spare_runs, start_runner, usable_root
from tuibench.workbench.run_finder import RunFinder, read_request
from tuibench.workbench.saved import remember_saved
from tuibench.workbench.setting import Settings

if TYPE_CHECKING:  # whoever only lists runs needs none of them: 25 ms
    from tuibench.store.store import Store
    from tuibench.workbench.active_run import ActiveRun
    from tuibench.workbench.attached_run import AttachedRun
    from tuibench.workbench.watching import RunWatch

_LOG = "runner.log"


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a run should be carried out, beside what it should measure."""

    save: bool = True
    plan_only: bool = False
    card: Card = field(default_factory=Card)
    wait_s: float | None = None
    """For another benchmark on this machine to end: None is as long as it takes, 0 not at all."""
    share_host: bool = False


class Runs:
    """Everything about runs; their results are the library's."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def start(self, spec: BenchmarkSpec, wishes: Wishes) -> tuple[ActiveRun, tuple[str, ...]]:
        """A runner for `spec`, which ends with this process unless it is let go; and what the user should know."""
        if wishes.save and not wishes.plan_only:
            run_dir, request, notes = self._compose(spec, wishes)
            return self._launch(run_dir, request, kept=True), notes
        request = self._ask(spec, wishes) | {"id": _draw_id(), "ephemeral": True}
        return self._launch(passing_directory(), request, kept=False), ()

    def launch(self, spec: BenchmarkSpec, wishes: Wishes) -> tuple[str, tuple[str, ...]]:
        """A run that goes on whatever becomes of this process, and what the user should know.

        Its id comes back as soon as it can be found; what is wrong with its model stands in its journal then.
        """
        if wishes.plan_only or not wishes.save:
            raise UsageError("a run that is not kept ends with whoever started it", "start it instead")
        run_dir, request, notes = self._compose(spec, wishes)
        _start_alone(run_dir, request)
        return str(request["id"]), notes

    def _ask(self, spec: BenchmarkSpec, wishes: Wishes) -> dict[str, Any]:
        """What every runner is told."""
        plain = to_plain(spec)
        return {
            "v": form_of(plain),
            "spec": plain,
            "seed": spec.inputs.seed,
            "plan_only": wishes.plan_only,
            "ephemeral": False,
            "wait_s": wishes.wait_s,
            "share_host": wishes.share_host,
            "host_lock": self._settings.host_lock,
        }

    def _compose(self, spec: BenchmarkSpec, wishes: Wishes) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
        """Directory and request of a run that is kept, and what the user should know of both."""
        notes: list[str] = []
        request = self._ask(spec, wishes)
        root, why = usable_root(self._settings.places.runs)
        notes += [f"runs cannot be kept in {why}; this one is kept in {root}"] if why else []
        problem = self._store.probe()
        notes += [f"the store cannot be written ({problem}): the result will be kept with the run"] if problem else []
        request |= self._identity(problem)
        request["card"] = to_plain(wishes.card)
        request |= {"store": str(self._settings.places.data), "cache": str(self._settings.places.cache)}
        return root / request["id"], request, tuple(notes)

    def _identity(self, problem: str) -> dict[str, str]:
        """Ids of run and machine; of a store that cannot be used neither can be had."""
        if problem:
            return {"id": _draw_id(), "host_id": self._host_id()}
        taken = [run.id for run in self._directories()]
        return {"id": self._store.benchmarks.draw_id(_now_ms(), taken), "host_id": self._store.host_id}

    def _host_id(self) -> str:
        try:
            return self._store.known_host_id or ""
        except StoreError:
            return ""

    def _launch(self, run_dir: Path, request: dict[str, Any], *, kept: bool, first_seq: int | None = None) -> ActiveRun:
        line = json.dumps(request).encode("ascii") + b"\n"
        from tuibench.workbench.active_run import ActiveRun  # as above

        log = os.memfd_create(_LOG)
        try:
            process = start_runner(run_dir, log)
            resumed = first_seq is not None
            return ActiveRun(run_dir, log, process, line, kept=kept, resumed=resumed, first_seq=first_seq or 0)
        except BaseException:
            os.close(log)
            raise

    def every(self) -> tuple[RunInfo, ...]:
        """Every run there is a trace of, newest first."""
        return states_of(self._directories(), self._observer())

    def still_going(self, ids: Collection[str]) -> tuple[str, ...]:
        """Those of them that measure or wait now, by their locks alone: no journal is read."""
        held = {run.id for run in self._directories() if run.id in ids and run.is_held()}
        return tuple(one for one in ids if one in held)

    def info(self, token: str) -> RunInfo:
        """One run, by any part of its id that means only one."""
        return self.finder().info(token)

    def finder(self) -> RunFinder:
        """The same for many of them, for which the runs there are now are looked at once."""
        return RunFinder(self._directories(), self._observer())

    def attach(self, token: str) -> AttachedRun:
        """Follow a run of this machine from its beginning."""
        directory = self._find_here(token)
        from tuibench.workbench.attached_run import AttachedRun  # as above

        return AttachedRun(directory)

    def discard(self, token: str) -> RunInfo:
        """Remove a run that does not go on, with all that it measured and did not save; there is no way back."""
        directory = self._find(token)
        info = read_state(directory, self._observer())
        if info.state in (*activity.ALIVE, activity.ELSEWHERE):
            raise UsageError(f"run {short_id(info.id)} is {info.state}", "tuibench cancel ends it")
        directory.remove()
        return info

    def forget(self, ids: Collection[str]) -> None:
        """Remove the traces of runs whose results were deleted for good."""
        for run in self._directories():
            if run.id in ids and not run.is_held():
                run.remove()

    def cancel(self, token: str) -> RunInfo:
        """End a run and come back when it has ended; what it measured is saved. UsageError where it goes on nowhere."""
        directory = self._find(token)
        from tuibench.workbench import intervention  # as above

        intervention.cancel(directory, read_state(directory, self._observer()))
        return read_state(directory, self._observer())

    def finish(self, token: str) -> RunInfo:
        """Have a run end behind the execution that goes on, as finished; comes back once that is asked.

        Cells that were measured at least once count as measured; a profile ends as soon as it has something to show.
        UsageError where it waits, or goes on nowhere.
        """
        directory = self._find(token)
        from tuibench.workbench import intervention  # as above

        intervention.finish(directory, read_state(directory, self._observer()))
        return read_state(directory, self._observer())

    def extend(self, token: str, seconds: float | None = None) -> RunInfo:
        """Give every cell that aims at a target and has not reached it more time; comes back once that is asked.

        `seconds` per cell, with as many executions as go with them; None is once more what each cell was given at
        first. UsageError where it goes on nowhere, or measures a fixed amount.
        """
        directory = self._find(token)
        from tuibench.workbench import intervention  # as above

        intervention.extend(directory, read_state(directory, self._observer()), _draw_id(), seconds)
        return read_state(directory, self._observer())

    def resume(
        self,
        token: str,
        *,
        mixed: bool = False,
        finish: bool = False,
        wait_s: float | None = None,
        share_host: bool = False,
    ) -> ActiveRun:
        """Take up a run that broke off, or with `finish` save what it has as it is."""
        directory, request = self._compose_again(token, mixed, finish)
        request |= {"wait_s": wait_s, "share_host": share_host}
        begun = (directory.path / NAME).exists()
        seq = read_history(directory.path).next_seq if begun else 0
        return self._launch(directory.path, request, kept=True, first_seq=seq)

    def take_up(self, token: str, *, mixed: bool = False, finish: bool = False) -> str:
        """The same by a runner that goes on whatever becomes of this process; the run's id."""
        directory, request = self._compose_again(token, mixed, finish)
        _start_alone(directory.path, request)
        return directory.id

    def _compose_again(self, token: str, mixed: bool, finish: bool) -> tuple[RunDirectory, dict[str, Any]]:
        """Directory and request of a run that is to be taken up; raises where it cannot be."""
        directory = self._find(token)
        info = read_state(directory, self._observer())
        refusal = resume_refusal(info)
        if refusal:
            _refuse_newer(directory)
            hint = _instead(info)
            raise UsageError(f"run {short_id(info.id)} cannot be resumed: {refusal}", hint)
        request = directory.request()
        # All is measured, and only the saving failed: that needs no model.
        finish = finish or info.state == activity.UNSAVED
        if not finish:
            _require_models(request)
        request |= {"resume": {"mixed": mixed, "finish": finish}, "wait_s": None, "share_host": False}
        request |= {"host_lock": self._settings.host_lock, "store": str(self._settings.places.data)}
        # It stands in line where it comes now, and a wish to end the last sitting is none to end this one.
        request["ticket"] = _draw_id()
        directory.forget_cancel()
        WishBox(directory.path).forget_finish()
        return directory, request

    def holder(self) -> str:
        """Who measures on this machine now, in words; '' for a free machine, and while somebody looks at a model."""
        from tuibench.runs.host_queue import find_holder, holder_words  # as above

        found = find_holder(self._settings.host_lock)
        return "" if found is None or found.brief else holder_words(found)

    def watch(self, token: str) -> RunWatch:
        """Follow a run of this machine look by look, from its beginning."""
        from tuibench.workbench.belonging import find_project  # as above
        from tuibench.workbench.watching import RunWatch

        directory = self._find_here(token)
        request = read_request(directory)
        models = (request.get("spec") or {}).get("models") or [{}]
        asked = str((request.get("card") or {}).get("project") or "")
        project = find_project(self._store, asked, path=str(models[0].get("path", "")))
        return RunWatch(directory, self._observer, project)

    def directories(self) -> list[RunDirectory]:
        """Where all runs keep their things, newest first."""
        return self._directories()

    def observer(self) -> Observer:
        """Who looks at them now; what the store has is asked at most once."""
        return self._observer()

    def directory(self, token: str) -> RunDirectory:
        """Where a run keeps its things."""
        return self._find(token)

    def _find(self, token: str) -> RunDirectory:
        """By id, else by a name that only one run has."""
        return self.finder().find(token)

    def _find_here(self, token: str) -> RunDirectory:
        """The same of a run of this machine; UsageError for another's."""
        directory = self._find(token)
        info = read_state(directory, self._observer())
        if info.state == activity.ELSEWHERE:
            age = seconds(info.heartbeat_age_s or 0.0)
            raise UsageError(f"run {short_id(info.id)} is {info.detail}, last heard of {age} ago", "attach to it there")
        return directory

    def _directories(self) -> list[RunDirectory]:
        store = str(self._settings.places.data)
        # The spare place is one for all stores of a user.
        spare = [run for run in spare_runs() if read_request(run).get("store") == store]
        every = [*list_runs(self._settings.places.runs), *spare]
        return sorted(every, key=lambda run: run.id, reverse=True)

    def _observer(self) -> Observer:
        return Observer(self._host_id(), this_boot(), is_saved=remember_saved(lambda: self._store))


def _start_alone(run_dir: Path, request: dict[str, Any]) -> None:
    from tuibench.workbench.lone_runner import start_lone_runner  # as above

    start_lone_runner(run_dir, request)


def _refuse_newer(directory: RunDirectory) -> None:
    """StoreNewer, which says what to do, for a run of a newer version; whatever else it is, others say."""
    try:
        directory.request()
        read_past(directory)
    except StoreNewer:
        raise
    except StoreError:
        return


def _instead(info: RunInfo) -> str:
    """What can be done with a run that cannot be taken up."""
    short = short_id(info.id)
    if info.state in activity.ALIVE:
        return f"tuibench attach {short} follows it"
    if info.state == activity.CANCELLED and not info.executions:
        return "start it anew"
    if info.state in (activity.FINISHED, activity.CANCELLED):
        return f"tuibench rerun {short} measures it anew"
    return f"tuibench export {short} -x FILE writes what it has" if info.executions else ""


def _require_models(request: dict[str, Any]) -> None:
    for source in request["spec"]["models"]:
        if not os.path.isfile(source["path"]):
            raise ModelError(
                f"{source['asked']} is no longer there", "put it back, or save what there is with --finish"
            )


def _draw_id() -> str:
    return make_ulid(_now_ms(), secrets.token_bytes(10))


def _now_ms() -> int:
    return int(time.time() * 1000)

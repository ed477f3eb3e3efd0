"""Implements the dashboard's API on the workbench."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tuibench.core.errors import TuibenchError
from tuibench.core.ids import short_id
from tuibench.core.stored import held_words
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.services.api import Services
from tuibench.tui.bridge_doubt import Doubt
from tuibench.tui.bridge_profile import ProfileBridge
from tuibench.tui.desk import LOOSE, Found, Pulse, Removed

if TYPE_CHECKING:
    from tuibench.core.activity import RunInfo
    from tuibench.core.machine import Machine
    from tuibench.core.model import FetchProgress, ModelState, ModelSummary
    from tuibench.core.result import SideBySide
    from tuibench.core.stored import BenchmarkRow, Project, ProjectRow, StoredBenchmark, TrashEntry
    from tuibench.services.run_monitor import Presence
    from tuibench.tui.bridge_start import Starter
    from tuibench.tui.desk import FormCheck, FormStart, FormValues, RerunPlan, RunFeed


class Bridge(ProfileBridge):
    """A Desk on a real store; several threads may call its methods at once.

    Modules that only one method needs are imported at its first call, in a worker, to keep the first frame fast.
    """

    def __init__(self, services: Services | None = None, *, hidden: bool = False) -> None:
        self._services = services or Services()
        self._hidden = hidden
        self._making = threading.RLock()
        # Serializes list reads: concurrent callers would each read the whole list.
        self._reading = threading.Lock()
        # Created here: threads that ask first at the same time would each create their own.
        self._store, self._library = self._services.store, self._services.library
        self._projects = self._services.projects
        self._made_presence: Presence | None = None
        self._made_starter: Starter | None = None
        self._doubt = Doubt(self._store.probe)
        self._listed = False

    @property
    def _presence(self) -> Presence:
        from tuibench.services.run_monitor import Presence

        with self._making:
            self._made_presence = self._made_presence or Presence(self._services.runs, self._store)
            return self._made_presence

    @property
    def _starter(self) -> Starter:
        from tuibench.tui.bridge_start import Starter

        with self._making:
            self._made_starter = self._made_starter or Starter(self._services, self._hidden)
            return self._made_starter

    def pulse(self) -> Pulse:
        """See Desk."""
        mark = self._store.mark()
        runs, ended = self._presence.look(mark), self._presence.ended
        return Pulse(mark, runs, (*self._doubt.look(), *self._services.notices()), ended)

    def machine(self) -> Machine:
        """See Desk."""
        return self._starter.machine()

    def examine(self) -> tuple[str, ...]:
        """See Desk."""
        from tuibench.present.doctor import render_doctor
        from tuibench.services.doctor import ask_engines, describe_terminal

        answers = ask_engines([engine.name for engine in self.machine().engines])
        facts = self._services.examine(answers, describe_terminal(sys.__stdout__ or sys.stdout))
        return tuple(render_doctor(facts).splitlines())

    # Projects

    def projects(self, by: str = "modified", text: str = "") -> tuple[ProjectRow, ...]:
        """See Desk."""
        # The first list has no counts and sizes: with thousands of records they would delay the first frame.
        with self._reading:
            first, self._listed = not (self._listed or text), True
            return self._projects.hurry(by) if first else self._projects.list(by, text)

    def project(self, token: str) -> ProjectRow:
        """See Desk."""
        return self._projects.get(token)

    def model_state(self, project: str) -> ModelState:
        """See Desk."""
        return self._projects.model_state(self._projects.get(project).project.versions[-1])

    def summary(self, project: str) -> ModelSummary:
        """See Desk."""
        from tuibench.core.spec import ModelSource
        from tuibench.present.command import token_of

        model = self._projects.get(project).project.versions[-1].model
        source = self._starter.locate(token_of(ModelSource(model.asked, model.file.path)))
        return self._projects.look(source)[0]

    def complete(self, text: str) -> tuple[str, ...]:
        """See Desk."""
        from tuibench.core.settings.model_token import SAMPLES
        from tuibench.services.typing import complete

        return complete(text, SAMPLES)

    def find_model(self, text: str, tell: Callable[[FetchProgress], None] = lambda _: None) -> Found:
        """See Desk."""
        from tuibench.services.forecast import free_dims

        source = self._starter.locate(os.path.expanduser(text.strip()), tell)
        summary, project, name = self._projects.look(source)
        return Found(source, summary, project.id if project else "", name, free_dims(summary))

    def create_project(self, found: Found, name: str, description: str, dims: Mapping[str, int]) -> ProjectRow:
        """See Desk."""
        return self._projects.create(found.source, name, description, dims)[0]

    def edit_project(
        self, base: Project, name: str | None, description: str | None, dims: Mapping[str, int] | None
    ) -> ProjectRow:
        """See Desk."""
        return self._projects.edit(base.id, name=name, description=description, dims=dims, base=base)

    def copy_project(self, token: str, name: str) -> ProjectRow:
        """See Desk."""
        return self._projects.duplicate(token, name)

    def remove_projects(self, tokens: Sequence[str]) -> Removed:
        """See Desk."""
        rows = [self._projects.get(token) for token in tokens]
        entry = self._projects.remove(*tokens)
        return Removed(f"removed {_titles(entry)} with {held_words(rows)}", entry)

    # Benchmarks

    def benchmarks(self, project: str = "") -> tuple[BenchmarkRow, ...]:
        """See Desk."""
        with self._reading:
            if project == LOOSE:
                return self._library.list_loose()
            return self._library.list(project=project or None)

    def open(self, benchmark: str) -> StoredBenchmark:
        """See Desk."""
        return self._library.get(benchmark)

    def edit(self, benchmark: str, name: str | None, note: str | None) -> BenchmarkRow:
        """See Desk."""
        return self._library.edit(benchmark, name=name, note=note)

    def remove(self, ids: Sequence[str], *, cancel: bool = False, discard: bool = False) -> Removed:
        """See Desk."""
        removal = self._library.remove(ids, cancel=cancel, discard=discard)
        said = [_removed_words(run, run in removal.unsaved) for run in removal.cancelled]
        said += [f"removed {short_id(run.id)} for good" for run in removal.discarded]
        said += [f"removed {_held(removal.entry)}"] if removal.entry is not None else []
        unsaved = frozenset(run.id for run in removal.unsaved)
        return Removed("; ".join(said) or "there was nothing to remove", removal.entry, unsaved)

    def undo(self) -> str:
        """See Desk."""
        return _restored(self._library.undo())

    def trash(self) -> tuple[TrashEntry, ...]:
        """See Desk."""
        return self._library.trash()

    def restore(self, entry: str) -> str:
        """See Desk."""
        return _restored(self._library.restore(entry))

    def empty_trash(self, entries: Collection[str]) -> str:
        """See Desk."""
        count, freed = self._library.empty_trash(entries)
        return f"deleted {count_of(count, 'removal')}, {size(freed)}" if count else "nothing of it was there any more"

    def export(self, benchmark: str, path: str, *, private: bool = False) -> str:
        """See Desk."""
        target = os.path.abspath(os.path.expanduser(path.strip()))
        written = self._services.exchange.export(benchmark, target, include_private=private)
        return f"wrote {short_id(written)} to {show(target)}" + ("" if private else " without private paths")

    def compare(self, old: str, new: str) -> SideBySide:
        """See Desk."""
        return self._services.exchange.side_by_side(old, new)

    def keep_copy(self, text: str) -> str:
        """See Desk."""
        from tuibench.services.typing import keep_copy

        return str(keep_copy(self._services.settings.places.state, text))

    # Measuring

    def form(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """See Desk."""
        return self._starter.form(project, benchmark, os.path.expanduser(path.strip()))

    def check_form(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """See Desk."""
        return self._starter.check(values, summary)

    def start(self, values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        """See Desk."""
        return self._starter.start(values, project, rerun_of)

    def plan_rerun(self, benchmark: str) -> RerunPlan:
        """See Desk."""
        return self._starter.plan_rerun(benchmark)

    def rerun(self, benchmark: str, *, changed: bool = False) -> tuple[str, tuple[str, ...]]:
        """See Desk."""
        return self._starter.rerun(benchmark, changed)

    def watch(self, run: str) -> RunFeed:
        """See Desk."""
        return self._services.runs.watch(run)

    def cancel(self, run: str) -> str:
        """See Desk."""
        from tuibench.present.run_list import cancel_words

        return cancel_words(self._services.runs.cancel(run))

    def finish(self, run: str) -> str:
        """See Desk."""
        return _finish_words(self._services.runs.finish(run))

    def extend(self, run: str) -> str:
        """See Desk."""
        info = self._services.runs.extend(run)
        return f"{short_id(info.id)}: every cell that is not there yet gets its time once more"

    def resume(self, run: str, *, mixed: bool = False, finish: bool = False) -> str:
        """See Desk."""
        return self._services.runs.resume_detached(run, mixed=mixed, finish=finish)

    def discard(self, run: str) -> str:
        """See Desk."""
        gone = self._services.runs.discard(run)
        return f"removed {short_id(gone.id)} for good: {count_of(gone.executions, 'execution')}"

    def run_log(self, run: str) -> tuple[str, ...]:
        """See Desk."""
        from tuibench.services.run_view import run_log

        return run_log(self._services.runs.directory(run))

    def command(self, benchmark: str = "", run: str = "") -> str:
        """See Desk."""
        from tuibench.present.command import command_of, typed
        from tuibench.services.run_view import run_spec

        if run:
            return typed(run_spec(self._services.runs.directory(run)), run)
        result = self._library.get(benchmark).result
        command = command_of(result)
        if not command:
            raise TuibenchError(f"no command repeats it: {show(result.foreign, 80)} measured it")
        return command


def _restored(entry: TrashEntry) -> str:
    return f"restored {_held(entry)}"


def _titles(entry: TrashEntry) -> str:
    from tuibench.present.listing import listed_words

    return listed_words(entry.names[: len(entry.projects)])


def _held(entry: TrashEntry) -> str:
    from tuibench.present.listing import held_words

    return held_words(entry)


def _finish_words(info: RunInfo) -> str:
    from tuibench.core.activity import ALIVE, ELSEWHERE, finishing_words

    if info.state not in (*ALIVE, ELSEWHERE):
        return f"{short_id(info.id)} has ended meanwhile: it is {info.state}"
    return f"{short_id(info.id)}: {finishing_words(bool(info.kind))}"


def _removed_words(run: RunInfo, unsaved: bool) -> str:
    from tuibench.present.run_list import cancel_words

    return cancel_words(run) if unsaved else f"cancelled {short_id(run.id)}"

"""The dashboard's side of the workbench: every wish of a screen carried out, and every answer frozen."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from tuibench.core.card import BenchmarkRow, StoredBenchmark
from tuibench.core.comparison import SideBySide
from tuibench.core.errors import UsageError
from tuibench.core.machine import Machine
from tuibench.core.model import ModelSummary
from tuibench.core.project import Project, ProjectRow
from tuibench.core.reference import ModelState
from tuibench.core.short_id import short_id
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.core.trash import TrashEntry
from tuibench.core.units import count_of, size
from tuibench.report.doctor import render_doctor
from tuibench.report.run_list import cancel_words
from tuibench.report.trash_list import held_words
from tuibench.request.repeat import again
from tuibench.request.sample import SAMPLES
from tuibench.tui.bridge_form import token_of
from tuibench.tui.bridge_start import Starter
from tuibench.tui.desk import FormCheck, FormStart, FormValues, Found, Pulse, Removed, RerunPlan, RunFeed
from tuibench.workbench.completion import complete
from tuibench.workbench.forecast import free_dims
from tuibench.workbench.hall import Workbench
from tuibench.workbench.keeping import keep_copy
from tuibench.workbench.presence import Presence
from tuibench.workbench.probing import ask_engines, describe_terminal
from tuibench.workbench.run_story import run_command, run_log, run_spec


class Bridge:
    """A Desk on a real store; its methods may be called from several threads at once."""

    def __init__(self, bench: Workbench | None = None, *, hidden: bool = False) -> None:
        self._bench = bench or Workbench()
        # Made here, as two threads that ask first at the same time would each make their own.
        self._presence = Presence(self._bench.runs, self._bench.store)
        self._starter = Starter(self._bench, hidden)
        self._library, self._exchange, self._projects = self._bench.library, self._bench.exchange, self._bench.projects

    def pulse(self) -> Pulse:
        """See Desk."""
        mark = self._bench.store.mark()
        return Pulse(mark, self._presence.look(mark), self._bench.notices())

    def machine(self) -> Machine:
        """See Desk."""
        return self._starter.machine()

    def examine(self) -> tuple[str, ...]:
        """See Desk."""
        facts = self._bench.examine(
            ask_engines([engine.name for engine in self.machine().engines]),
            describe_terminal(sys.__stdout__ or sys.stdout),
        )
        return tuple(render_doctor(facts).splitlines())

    # Projects

    def projects(self, by: str = "modified", text: str = "") -> tuple[ProjectRow, ...]:
        """See Desk."""
        return self._projects.list(by, text)

    def project(self, token: str) -> ProjectRow:
        """See Desk."""
        return self._projects.get(token)

    def model_state(self, project: str) -> ModelState:
        """See Desk."""
        return self._projects.model_state(self._projects.get(project).project.versions[-1])

    def summary(self, project: str) -> ModelSummary:
        """See Desk."""
        model = self._projects.get(project).project.versions[-1].model
        source = self._starter.locate(token_of(ModelSource(model.asked, model.file.path)))
        return self._projects.look(source)[0]

    def complete(self, text: str) -> tuple[str, ...]:
        """See Desk."""
        return complete(text, SAMPLES)

    def find_model(self, text: str) -> Found:
        """See Desk."""
        source = self._starter.locate(os.path.expanduser(text.strip()))
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
        entry = self._projects.remove(*tokens)
        held = count_of(len(entry.benchmarks), "benchmark")
        return Removed(f"removed {held_words(entry)} with {held}", entry)

    # Benchmarks

    def benchmarks(self, project: str = "") -> tuple[BenchmarkRow, ...]:
        """See Desk."""
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
        said = [f"cancelled {short_id(run.id)}" for run in removal.cancelled]
        said += [f"removed {short_id(run.id)} for good" for run in removal.discarded]
        said += [f"removed {held_words(removal.entry)}"] if removal.entry is not None else []
        return Removed("; ".join(said) or "there was nothing to remove", removal.entry)

    def undo(self) -> str:
        """See Desk."""
        return f"restored {held_words(self._library.undo())}"

    def trash(self) -> tuple[TrashEntry, ...]:
        """See Desk."""
        return self._library.trash()

    def restore(self, entry: str) -> str:
        """See Desk."""
        return f"restored {held_words(self._library.restore(entry))}"

    def empty_trash(self) -> str:
        """See Desk."""
        count, freed = self._library.empty_trash()
        return f"deleted {count_of(count, 'removal')}, {size(freed)}" if count else "the trash is empty"

    def export(self, benchmark: str, path: str, *, private: bool = False) -> str:
        """See Desk."""
        target = os.path.abspath(os.path.expanduser(path.strip()))
        written = self._exchange.export(benchmark, target, include_private=private)
        return f"wrote {short_id(written)} to {show(target)}" + ("" if private else " without private paths")

    def compare(self, old: str, new: str) -> SideBySide:
        """See Desk."""
        return self._exchange.side_by_side(old, new)

    def keep_copy(self, text: str) -> str:
        """See Desk."""
        return str(keep_copy(self._bench.settings.places.state, text))

    # Measuring

    def form(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """See Desk."""
        filler = self._starter.filler
        if benchmark:
            return filler.of_benchmark(benchmark)
        return filler.of_project(project) if project else filler.of_model(os.path.expanduser(path.strip()))

    def check_form(self, values: FormValues, summary: ModelSummary | None, project: str = "") -> FormCheck:
        """See Desk."""
        return self._starter.check(values, summary, project)

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
        return self._bench.runs.watch(run)

    def cancel(self, run: str) -> str:
        """See Desk."""
        return cancel_words(self._bench.runs.cancel(run))

    def finish(self, run: str) -> str:
        """See Desk."""
        raise UsageError(f"{short_id(run)} cannot be finished", "X ends it and keeps what it measured")

    def extend(self, run: str) -> str:
        """See Desk."""
        raise UsageError(f"{short_id(run)} cannot be given more time", "r measures it again")

    def resume(self, run: str, *, mixed: bool = False, finish: bool = False) -> str:
        """See Desk."""
        return self._bench.runs.take_up(run, mixed=mixed, finish=finish)

    def discard(self, run: str) -> str:
        """See Desk."""
        gone = self._bench.runs.discard(run)
        return f"removed {short_id(gone.id)} for good: {count_of(gone.executions, 'execution')}"

    def run_log(self, run: str) -> tuple[str, ...]:
        """See Desk."""
        return run_log(self._bench.runs.directory(run))

    def command(self, benchmark: str = "", run: str = "") -> str:
        """See Desk."""
        if run:
            directory = self._bench.runs.directory(run)
            return run_command(directory) or again(run_spec(directory))
        result = self._library.get(benchmark).result
        return result.again or again(result.spec)

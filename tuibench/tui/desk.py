"""The dashboard's API: a protocol of blocking methods, and the frozen values that they return.

Screens call it from worker threads only. `bridge.Bridge` implements it with the workbench; tests may use a scripted
desk. Every method may raise TuibenchError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tuibench.core import engine, scenario
from tuibench.core.activity import Live, RunRow, RunView
from tuibench.core.machine import EngineChoice, Machine
from tuibench.tui.desk_profile import ProfileDesk

if TYPE_CHECKING:  # 20 ms not needed for the first frame
    from tuibench.core.activity import RunInfo
    from tuibench.core.model import FetchProgress, ModelState, ModelSummary
    from tuibench.core.result import SideBySide
    from tuibench.core.spec import ModelSource
    from tuibench.core.stored import BenchmarkRow, Project, ProjectRow, StoredBenchmark, TrashEntry

__all__ = [
    "LOOSE",
    "Desk",
    "EngineChoice",
    "FormCheck",
    "FormStart",
    "FormValues",
    "Found",
    "Live",
    "Machine",
    "Pulse",
    "Removed",
    "RerunPlan",
    "RunFeed",
    "RunRow",
    "RunView",
]


LOOSE = "-"
"""Stand-in for a project id: benchmarks without a project, such as imported ones."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """Result of one look per second; equal to the last one if nothing changed."""

    stamp: str
    """Changes whenever benchmarks, projects or the trash may have changed, by any process."""
    runs: tuple[RunRow, ...]
    notices: tuple[str, ...] = ()
    """Notices of the store."""
    ended: tuple[RunInfo, ...] = ()
    """Runs that were active earlier in this session, have ended and are no longer in `runs`."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model that was inspected: its source, its summary, and the project that has it already."""

    source: ModelSource
    summary: ModelSummary
    project: str
    """ULID; '' for none."""
    name: str
    """Suggested name of a project for it."""
    dims: tuple[str, ...] = ()
    """Free dims other than its batch: requested once and remembered in the project."""


@dataclass(frozen=True, slots=True)
class FormValues:
    """The benchmark form as typed: texts, so that an error can be shown beside its field."""

    model: str = ""
    """A path or name such as sample:tiny."""
    engines: tuple[str, ...] = (engine.DEFAULT,)
    scenarios: str = ",".join(scenario.DEFAULT)
    cores: str = ""
    batches: str = ""
    """'' uses the defaults for cores and batches."""
    dims: tuple[tuple[str, str], ...] = ()
    """Every symbolic dim of the model other than the batch, with a list of values; '' for the model's default."""
    streams: str = ""
    pin: str = "core"
    precision: str = "f32"
    effort: str = "default"
    """quick, default, precise or fixed."""
    time_s: str = "10"
    """Seconds of a fixed effort."""
    warmup_s: str = ""
    target: str = ""
    """Percent."""
    compare_to: str = ""
    """Id of a stored benchmark to compare with after the run."""
    against: str = ""
    """Another model, measured in the same run, interleaved."""
    name: str = ""
    note: str = ""
    flags: str = ""
    """Settings without a field, as flags of `tuibench benchmark`; kept in a re-run."""
    more: tuple[tuple[str, str], ...] = ()
    """Texts of settings that have a place in the form but no attribute here, by name; without empty ones."""


@dataclass(frozen=True, slots=True)
class FormCheck:
    """The result of checking a form: command, cells and durations, or errors by field."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Field of FormValues (dims as `dim:NAME`) to the error and the allowed values."""
    command: str = ""
    """The equivalent shell command; '' if there are errors."""
    cells: int = 0
    expected_s: float = 0.0
    limit_s: float = 0.0
    memory_bytes: int | None = None
    """Approximate memory of the largest cell; None if the model is not known well enough."""
    warnings: tuple[str, ...] = ()
    """Allowed settings that will probably fail."""
    busy: str = ""
    """The run of any user that measures on this machine now, in words; '' for none."""
    load: str = ""
    """Other load on this machine, in words; '' if unknown."""


@dataclass(frozen=True, slots=True)
class FormStart:
    """Initial state of a form."""

    values: FormValues
    origin: str
    """Origin of the values in words, such as "this project's last values"."""
    summary: ModelSummary | None
    error: str = ""
    """Reason why the model cannot be measured now (gone, changed, unreadable), and what to do."""
    changed: bool = False
    """True if the model differs from the measured one, so that RUN measures a new version."""


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """Facts for the confirmation of a re-run."""

    id: str
    cells: int
    expected_s: float
    busy: str
    """The run that measures now, in words; '' for none."""
    error: str = ""
    """Reason why it cannot be repeated unchanged, and what to do instead."""
    changed: bool = False
    """True if the model changed: it may be measured as a new version."""
    load: str = ""
    """Other load on this machine, in words; '' if unknown."""


class RunFeed(Protocol):
    """One run that a screen watches; each look reads only new events."""

    def look(self) -> RunView:
        """Return the run's present state; equal to the last view if nothing changed."""

    def close(self) -> None:
        """Release the resources of watching."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Result of removing: the message, and the trash entry for undo."""

    words: str
    entry: TrashEntry | None
    unsaved: frozenset[str] = frozenset()
    """Runs that were ended but could not be saved, and so were not removed."""


class Desk(ProfileDesk, Protocol):
    """The dashboard's API."""

    def pulse(self) -> Pulse:
        """Look for changes by any process; costs a few stat calls if nothing changed."""

    def machine(self) -> Machine:
        """Return this machine and its engines."""

    def examine(self) -> tuple[str, ...]:
        """Return the lines of `tuibench doctor`, with the present noise; takes a second."""

    # Projects

    def projects(self, by: str = "modified", text: str = "") -> tuple[ProjectRow, ...]:
        """Return the projects that contain every word of `text`, sorted by modified, name or created.

        The first answer may lack counts, so that it is immediate.
        """

    def project(self, token: str) -> ProjectRow:
        """Return one project."""

    def model_state(self, project: str) -> ModelState:
        """Return the state of the newest version's file: unchanged, changed or gone."""

    def summary(self, project: str) -> ModelSummary:
        """Return the summary of a project's model; a child reads the model."""

    def complete(self, text: str) -> tuple[str, ...]:
        """Return completions of a path: directories with a slash, models, samples; at most fifty."""

    def find_model(self, text: str, tell: Callable[[FetchProgress], None] = ...) -> Found:
        """Return the model of a path or name; a child reads it. Raise ModelError or UsageError if it is not a model.

        A remote model is fetched; `tell` is called from the thread with the progress.
        """

    def create_project(self, found: Found, name: str, description: str, dims: Mapping[str, int]) -> ProjectRow:
        """Create a project for a found model."""

    def edit_project(
        self, base: Project, name: str | None, description: str | None, dims: Mapping[str, int] | None
    ) -> ProjectRow:
        """Change the fields that differ from `base`, the project as the form showed it."""

    def copy_project(self, token: str, name: str) -> ProjectRow:
        """Create a second project with the same versions."""

    def remove_projects(self, tokens: Sequence[str]) -> Removed:
        """Move projects to the trash, with their benchmarks."""

    # Benchmarks

    def benchmarks(self, project: str = "") -> tuple[BenchmarkRow, ...]:
        """Return benchmarks, newest first: of a project, for LOOSE of none, for '' all."""

    def open(self, benchmark: str) -> StoredBenchmark:
        """Return a whole record; raise StoreDamaged with the cause if it cannot be read."""

    def edit(self, benchmark: str, name: str | None, note: str | None) -> BenchmarkRow:
        """Change the metadata of a benchmark."""

    def remove(self, ids: Sequence[str], *, cancel: bool = False, discard: bool = False) -> Removed:
        """Move benchmarks and runs to the trash; raise UsageError for an active run unless `cancel` is True."""

    def undo(self) -> str:
        """Restore the last removal; return the restored items in words."""

    def trash(self) -> tuple[TrashEntry, ...]:
        """Return the entries of the trash."""

    def restore(self, entry: str) -> str:
        """Restore one entry; return the restored items in words."""

    def empty_trash(self, entries: Collection[str]) -> str:
        """Delete these entries permanently; return the deleted items in words."""

    def export(self, benchmark: str, path: str, *, private: bool = False) -> str:
        """Write a file in the format of its ending; return its place in words."""

    def compare(self, old: str, new: str) -> SideBySide:
        """Compare two stored benchmarks or finished runs, always without a verdict."""

    def keep_copy(self, text: str) -> str:
        """Write copied text to a file, for terminals without a clipboard; return its path."""

    # Measuring

    def form(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """Return the initial form: from a project's last values, a benchmark's settings, or a model's path."""

    def check_form(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """Check the form; touches files with stat only, and takes milliseconds."""

    def start(self, values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        """Start a detached run; return its id and messages for the user."""

    def plan_rerun(self, benchmark: str) -> RerunPlan:
        """Return the duration and obstacles of repeating a benchmark."""

    def rerun(self, benchmark: str, *, changed: bool = False) -> tuple[str, tuple[str, ...]]:
        """Measure again, with `changed` even a changed model; return the run's id and messages for the user."""

    def watch(self, run: str) -> RunFeed:
        """Follow a run of this machine, by any user, from its start."""

    def cancel(self, run: str) -> str:
        """Cancel a run and keep its results; wait until it has ended. Return the result in words."""

    def finish(self, run: str) -> str:
        """Finish a run after the present execution, a profile as soon as it can be shown; return the result."""

    def extend(self, run: str) -> str:
        """Extend the time of cells that are not precise enough. Return the result in words."""

    def resume(self, run: str, *, mixed: bool = False, finish: bool = False) -> str:
        """Resume an interrupted run, or with `finish` save its results; return its id."""

    def discard(self, run: str) -> str:
        """Delete the files of a run that is in no list. Return the result in words."""

    def run_log(self, run: str) -> tuple[str, ...]:
        """Return the output of the run's processes, newest last."""

    def command(self, benchmark: str = "", run: str = "") -> str:
        """Return the equivalent shell command."""

"""What the dashboard asks for: one protocol of blocking methods, and the frozen values that they answer with.

Screens call it from worker threads only. `bridge.Bridge` carries it out with the workbench; tests may put a scripted
desk in its place. Every method may raise TuibenchError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tuibench.core import engine, scenario
from tuibench.core.machine import EngineChoice, Machine
from tuibench.core.watch import Live, RunRow, RunView
from tuibench.tui.desk_profile import ProfileDesk

if TYPE_CHECKING:  # 20 ms before the first frame, which needs none of them
    from tuibench.core.activity import RunInfo
    from tuibench.core.card import BenchmarkRow, StoredBenchmark
    from tuibench.core.comparison import SideBySide
    from tuibench.core.model import ModelSummary
    from tuibench.core.project import Project, ProjectRow
    from tuibench.core.reference import ModelState
    from tuibench.core.remote import FetchProgress
    from tuibench.core.spec import ModelSource
    from tuibench.core.trash import TrashEntry

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
"""In place of a project: for benchmarks that have none, as one that was imported or whose project is gone."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What one look a second finds; equal to the last one where nothing happened."""

    stamp: str
    """Another one whenever benchmarks, projects or the trash may have changed, whoever changed them."""
    runs: tuple[RunRow, ...]
    notices: tuple[str, ...] = ()
    """What the store met that somebody should know."""
    ended: tuple[RunInfo, ...] = ()
    """Runs that have ended since this session saw them go on, and are in `runs` no more: how each of them ended."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model that was looked at: what it means, what it is, and the project that has it already."""

    source: ModelSource
    summary: ModelSummary
    project: str
    """ULID; '' where there is none."""
    name: str
    """What a project of it would be called."""
    dims: tuple[str, ...] = ()
    """What it leaves open beside its batch: asked once, remembered in the project."""


@dataclass(frozen=True, slots=True)
class FormValues:
    """The benchmark form as typed: texts, so that what is wrong can be said beside it."""

    model: str = ""
    """A path or name such as sample:tiny."""
    engines: tuple[str, ...] = (engine.DEFAULT,)
    scenarios: str = ",".join(scenario.DEFAULT)
    cores: str = ""
    batches: str = ""
    """'' leaves cores and batches to their defaults."""
    dims: tuple[tuple[str, str], ...] = ()
    """Every symbolic dim of the model other than the batch, with a list of values; '' for the model's fallback."""
    streams: str = ""
    pin: str = "core"
    precision: str = "f32"
    effort: str = "default"
    """quick, default, precise or fixed."""
    time_s: str = "10"
    """Of a fixed effort."""
    warmup_s: str = ""
    target: str = ""
    """In percent."""
    compare_to: str = ""
    """An id of a stored benchmark, shown beside the new one when that is done."""
    against: str = ""
    """Another model, measured in the same run, interleaved."""
    name: str = ""
    note: str = ""
    flags: str = ""
    """What the form has no field for, as flags of `tuibench benchmark`: kept from what is measured again."""
    more: tuple[tuple[str, str], ...] = ()
    """Texts of the settings that have a place in the form and no attribute here, by name; empty ones are left out."""


@dataclass(frozen=True, slots=True)
class FormCheck:
    """What a form amounts to, or what is wrong with which field."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Name of a field of FormValues (dims as `dim:NAME`) to what is wrong and what is allowed."""
    command: str = ""
    """The same as a shell command; '' while something is wrong."""
    cells: int = 0
    expected_s: float = 0.0
    limit_s: float = 0.0
    memory_bytes: int | None = None
    """About what the largest cell takes; None where the model is not known well enough."""
    warnings: tuple[str, ...] = ()
    """What will probably go wrong although it is allowed."""
    busy: str = ""
    """Who measures on this machine now, whoever's it is, in words; '' for a free machine."""
    load: str = ""
    """Whether anything else is at work on it, in words; '' where that is not known."""


@dataclass(frozen=True, slots=True)
class FormStart:
    """How a form begins: values, and what they come from."""

    values: FormValues
    origin: str
    """In words, such as "filled with this project's last values"."""
    summary: ModelSummary | None
    error: str = ""
    """Why the model cannot be measured now: gone, changed, unreadable; with what to do."""
    changed: bool = False
    """Whether the model is another than the one that was measured, so that RUN measures a new version."""


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """What `r` asks about before it starts."""

    id: str
    cells: int
    expected_s: float
    busy: str
    """Who measures now, in words; '' for a free machine."""
    error: str = ""
    """Why it cannot be repeated as it is, with what to do instead."""
    changed: bool = False
    """Whether the error is that the model changed: it may be measured as a new version."""
    load: str = ""
    """Whether anything else is at work on this machine, in words; '' where that is not known."""


class RunFeed(Protocol):
    """One run that a screen watches; each look reads only what is new."""

    def look(self) -> RunView:
        """The run as it stands now; equal to the last view where nothing happened."""

    def close(self) -> None:
        """Give back what watching takes."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What came of `d`: what to say, and whether `u` brings it back."""

    words: str
    entry: TrashEntry | None
    unsaved: frozenset[str] = frozenset()
    """Runs that were ended for it and could not be saved: they are still there."""


class Desk(ProfileDesk, Protocol):
    """Everything that the dashboard can ask for."""

    def pulse(self) -> Pulse:
        """One cheap look at everything that others may have changed: a few stats where nothing has."""

    def machine(self) -> Machine:
        """This machine and its engines."""

    def examine(self) -> tuple[str, ...]:
        """The lines of `tuibench doctor`, with the noise now; takes a second."""

    # Projects

    def projects(self, by: str = "modified", text: str = "") -> tuple[ProjectRow, ...]:
        """The projects that have every word of `text`, sorted by modified, name or created.

        The first answer may come with nothing counted yet, so that it comes at once.
        """

    def project(self, token: str) -> ProjectRow:
        """One project."""

    def model_state(self, project: str) -> ModelState:
        """Whether the newest version's file is what it was."""

    def summary(self, project: str) -> ModelSummary:
        """What the model of a project is; a child looks at it."""

    def complete(self, text: str) -> tuple[str, ...]:
        """What a path that was begun may go on as: directories with a slash, models, samples; at most fifty."""

    def find_model(self, text: str, tell: Callable[[FetchProgress], None] = ...) -> Found:
        """What a path or name means; a child looks at it. ModelError or UsageError where it is no model.

        One that lies elsewhere is fetched; `tell` hears from the thread how far that is.
        """

    def create_project(self, found: Found, name: str, description: str, dims: Mapping[str, int]) -> ProjectRow:
        """A project of a model that was found."""

    def edit_project(
        self, base: Project, name: str | None, description: str | None, dims: Mapping[str, int] | None
    ) -> ProjectRow:
        """Change what differs from `base`, the project as the form showed it."""

    def copy_project(self, token: str, name: str) -> ProjectRow:
        """A second one with the same versions."""

    def remove_projects(self, tokens: Sequence[str]) -> Removed:
        """To the trash, with their benchmarks."""

    # Benchmarks

    def benchmarks(self, project: str = "") -> tuple[BenchmarkRow, ...]:
        """Newest first; of one project where one is named, with LOOSE those of none."""

    def open(self, benchmark: str) -> StoredBenchmark:
        """A whole record; StoreDamaged says what is wrong with one."""

    def edit(self, benchmark: str, name: str | None, note: str | None) -> BenchmarkRow:
        """Change its card."""

    def remove(self, ids: Sequence[str], *, cancel: bool = False, discard: bool = False) -> Removed:
        """Benchmarks and runs to the trash; UsageError where one goes on and `cancel` is not given."""

    def undo(self) -> str:
        """Bring back what was removed last; what that was, in words."""

    def trash(self) -> tuple[TrashEntry, ...]:
        """What can come back."""

    def restore(self, entry: str) -> str:
        """Bring back one removal; likewise."""

    def empty_trash(self, entries: Collection[str]) -> str:
        """These, for good; what that was, in words."""

    def export(self, benchmark: str, path: str, *, private: bool = False) -> str:
        """Write a file whose ending says its form; where it is, in words."""

    def compare(self, old: str, new: str) -> SideBySide:
        """Two stored benchmarks, or finished runs, by the rule of stored ones."""

    def keep_copy(self, text: str) -> str:
        """Leave what `y` copied in a file, for terminals without a clipboard; its path."""

    # Measuring

    def form(self, project: str = "", benchmark: str = "", path: str = "") -> FormStart:
        """How a form begins: with a project's last values, a benchmark's settings, or for a model by its path."""

    def check_form(self, values: FormValues, summary: ModelSummary | None) -> FormCheck:
        """What it amounts to; touches no file but with stat, and takes milliseconds."""

    def start(self, values: FormValues, project: str = "", rerun_of: str = "") -> tuple[str, tuple[str, ...]]:
        """Start measuring in a runner that goes on without the dashboard: the run's id, and what to tell the user."""

    def plan_rerun(self, benchmark: str) -> RerunPlan:
        """What repeating it would take."""

    def rerun(self, benchmark: str, *, changed: bool = False) -> tuple[str, tuple[str, ...]]:
        """Measure it again; `changed` takes the model as it is now. The run's id, and what to tell the user."""

    def watch(self, run: str) -> RunFeed:
        """Follow a run of this machine, whoever started it, from its beginning."""

    def cancel(self, run: str) -> str:
        """End it, keeping what is measured; waits until it has ended. In words."""

    def finish(self, run: str) -> str:
        """End it after the present execution, a profile once it can be shown, as finished. In words."""

    def extend(self, run: str) -> str:
        """Give what is not yet precise enough its time once more. In words."""

    def resume(self, run: str, *, mixed: bool = False, finish: bool = False) -> str:
        """Take up a run that broke off, or with `finish` save what it has; its id."""

    def discard(self, run: str) -> str:
        """Remove the traces of a run that is in no list. In words."""

    def run_log(self, run: str) -> tuple[str, ...]:
        """What its processes said outside of their protocol, the newest last."""

    def command(self, benchmark: str = "", run: str = "") -> str:
        """The shell command that does the same."""

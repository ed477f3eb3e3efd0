"""What the dashboard asks for about profiles: a part of the desk, with the values that forms and pages of them need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tuibench.core.profile_spec import LEVELS

if TYPE_CHECKING:  # no first frame needs any of them
    from tuibench.core.card import BenchmarkRow, StoredBenchmark
    from tuibench.core.profile import CostProfile, LossProfile

FLOPS, APPROXIMATED = "flops", "approximated"
"""In place of an id: the profiles that every project has, worked out whenever they are looked at."""
LONG_S = 300.0
"""Above which a profile is proposed to be left out."""

__all__ = ["APPROXIMATED", "FLOPS", "LONG_S", "ProfileCheck", "ProfileDesk", "ProfileStart", "ProfileValues"]


@dataclass(frozen=True, slots=True)
class ProfileValues:
    """The set-up of profiles as typed: texts, so that what is wrong can be said beside it."""

    performance: bool = True
    name: str = "baseline"
    """Of the performance profile."""
    batch: str = ""
    cores: str = ""
    """'' leaves batch, cores, and whatever else is a number, to their defaults."""
    engine: str = ""
    """'' for the one that is taken unasked."""
    sequence: str = ""
    """Length of all axes of tokens, where one that is made again was asked for it so; else dims say it."""
    dims: tuple[tuple[str, str], ...] = ()
    """Every symbolic dim of the model other than the batch; '' for the model's fallback."""
    what_if: bool = False
    """Whether each heavy layer is measured alone in INT8, too."""
    runs: str = ""
    """Profiled ones in each process of the performance profile."""
    processes: str = ""
    loss: bool = True
    loss_name: str = "baseline"
    data: str = ""
    """A file of samples for the loss profile; '' for seeded ones."""
    samples: str = ""
    """How many of them each changed layer is run on."""
    levels: tuple[str, ...] = LEVELS
    """What layers are changed to; none is an error, not the default."""
    budget: bool = False
    """Whether only the worst layers are measured at all levels."""


@dataclass(frozen=True, slots=True)
class ProfileStart:
    """How the set-up begins."""

    values: ProfileValues
    model: str
    """Of which model, as its user named it."""
    error: str = ""
    """Why it cannot be profiled now: gone, unreadable; with what to do."""
    project: str = ""
    """The one that it is for, where only the profile was named."""
    place: str = ""
    """What that is called."""
    note: str = ""
    """That the model is not as it was, although it can be profiled."""


@dataclass(frozen=True, slots=True)
class ProfileCheck:
    """What the set-up amounts to, or what is wrong with which field."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Name of a field of ProfileValues (dims as `dim:NAME`) to what is wrong and what is allowed."""
    performance_s: float | None = None
    loss_s: float | None = None
    """About how long each takes; None where that is not known or it is switched off."""
    uncounted: bool = False
    """Whether that can be found out; see weigh_profile."""
    commands: tuple[str, ...] = ()
    """The same as shell commands, one for each run; none while something is wrong."""
    busy: str = ""
    """Who measures on this machine now, in words; '' for a free machine."""


class ProfileDesk(Protocol):
    """The part of the desk that knows profiles; a stored one is opened, edited and removed as benchmarks are."""

    def profiles(self, project: str) -> tuple[BenchmarkRow, ...]:
        """The stored profiles of both kinds, newest first: of a project, with LOOSE those of none, with '' all."""

    def costs(self, project: str) -> CostProfile:
        """What its model costs in theory; a child looks at it where nobody did before."""

    def approximated(self, project: str) -> LossProfile:
        """What its model's weights alone tell of losses; likewise."""

    def profile_form(self, project: str, profile: str = "") -> ProfileStart:
        """How the set-up begins: for a project, or with the settings of one of its profiles."""

    def check_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> ProfileCheck:
        """What it amounts to; milliseconds, and a second where a child reads a model that it did not before."""

    def weigh_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> None:
        """Find out what the next check needs for its estimate: a child counts what the model costs at these sizes."""

    def start_profile(
        self, values: ProfileValues, project: str, rerun_of: str = ""
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Start one run for each that is switched on, the performance profile first: their ids, and what to tell."""

    def export_theory(self, project: str, what: str, path: str) -> str:
        """Write FLOPS or APPROXIMATED of a project to a file whose ending says its form; where it is, in words."""

    def differences(self, old: StoredBenchmark, new: StoredBenchmark) -> tuple[str, ...]:
        """What two profiles differ in beside their layers: models, machines, versions."""

    def theory_command(self, project: str, what: str) -> str:
        """The shell command for FLOPS or APPROXIMATED of a project."""

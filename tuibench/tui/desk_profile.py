"""The profile part of the dashboard's API, with the values that its forms and pages use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tuibench.core.spec import LEVELS

if TYPE_CHECKING:  # not needed for the first frame
    from tuibench.core.profile import CostProfile, LossProfile
    from tuibench.core.stored import BenchmarkRow, StoredBenchmark

FLOPS, APPROXIMATED = "flops", "approximated"
"""Stand-ins for an id: the profiles that every project has, computed whenever they are shown."""
LONG_S = 300.0
"""Duration above which the dashboard suggests leaving a profile out."""

__all__ = ["APPROXIMATED", "FLOPS", "LONG_S", "ProfileCheck", "ProfileDesk", "ProfileStart", "ProfileValues"]


@dataclass(frozen=True, slots=True)
class ProfileValues:
    """The set-up of profiles as typed: texts, so that an error can be shown beside its field."""

    performance: bool = True
    name: str = "baseline"
    """Name of the performance profile."""
    batch: str = ""
    cores: str = ""
    """'' uses the default; the same holds for `batch` and all other numeric fields."""
    engine: str = ""
    """'' for the default engine."""
    sequence: str = ""
    """Length of all token axes, if a re-run profile used one length for all; otherwise in `dims`."""
    dims: tuple[tuple[str, str], ...] = ()
    """Every symbolic dim of the model other than the batch; '' for the model's fallback."""
    what_if: bool = False
    """True to measure each heavy layer alone in INT8, too."""
    runs: str = ""
    """Profiled runs in each process of the performance profile."""
    processes: str = ""
    loss: bool = True
    loss_name: str = "baseline"
    data: str = ""
    """A file of samples for the loss profile; '' for samples from a seed."""
    samples: str = ""
    """Number of samples that each changed layer is run on."""
    levels: tuple[str, ...] = LEVELS
    """Levels that layers are changed to; an empty tuple is an error, not the default."""
    budget: bool = False
    """True to measure only the worst layers at all levels."""


@dataclass(frozen=True, slots=True)
class ProfileStart:
    """Initial state of the set-up form."""

    values: ProfileValues
    model: str
    """The model's name, as the user gave it."""
    error: str = ""
    """Reason why it cannot be profiled now, such as a missing or unreadable file, and what to do."""
    project: str = ""
    """Id of the project, found through the profile if only that was given; '' for none."""
    place: str = ""
    """Name of that project."""
    note: str = ""
    """Notice that the model has changed, if it can still be profiled."""


@dataclass(frozen=True, slots=True)
class ProfileCheck:
    """The commands and durations of a set-up, or its errors by field."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Field name of ProfileValues (dims as `dim:NAME`) to the error and the allowed values."""
    performance_s: float | None = None
    loss_s: float | None = None
    """Approximate duration of each profile; None if it is unknown or the profile is switched off."""
    uncounted: bool = False
    """True if `weigh_profile` can provide what the estimate is missing."""
    commands: tuple[str, ...] = ()
    """Equivalent shell commands, one per run; empty while there are errors."""
    busy: str = ""
    """The run that is measuring on this machine now, in words; '' for none."""


class ProfileDesk(Protocol):
    """The profile part of the dashboard's API; stored profiles are opened, edited and removed like benchmarks."""

    def profiles(self, project: str) -> tuple[BenchmarkRow, ...]:
        """Return stored profiles of both kinds, newest first: of a project, for LOOSE of none, for '' all."""

    def costs(self, project: str) -> CostProfile:
        """Return the theoretical costs of the project's model; a child reads the model unless they are cached."""

    def approximated(self, project: str) -> LossProfile:
        """Return losses estimated from the model's weights alone; a child reads the model unless they are cached."""

    def profile_form(self, project: str, profile: str = "") -> ProfileStart:
        """Return the initial form for a project, or with the settings of one of its profiles."""

    def check_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> ProfileCheck:
        """Check the form; takes milliseconds, or a second if a child has to read the model."""

    def weigh_profile(self, values: ProfileValues, project: str, rerun_of: str = "") -> None:
        """Provide what the next check's estimate is missing: a child counts the model's costs at these sizes."""

    def start_profile(
        self, values: ProfileValues, project: str, rerun_of: str = ""
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Start a run for each selected profile, performance first; return their ids and messages for the user."""

    def export_theory(self, project: str, what: str, path: str) -> str:
        """Write FLOPS or APPROXIMATED of a project in the format of the path's ending; return the result in words."""

    def differences(self, old: StoredBenchmark, new: StoredBenchmark) -> tuple[str, ...]:
        """Return the differences of two profiles other than layers: models, machines, versions."""

    def theory_command(self, project: str, what: str) -> str:
        """Return the shell command for FLOPS or APPROXIMATED of a project."""

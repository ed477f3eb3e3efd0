"""Values of the forms for benchmarks, profiles and re-runs, as typed and as checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tuibench.core import engine, scenario
from tuibench.core.spec import LEVELS

if TYPE_CHECKING:
    from tuibench.core.model import ModelSummary


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


FLOPS, APPROXIMATED = "flops", "approximated"
"""Stand-ins for an id: the profiles that every project has, computed whenever they are shown."""
LONG_S = 300.0
"""Duration above which the dashboard suggests leaving a profile out."""


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
    sequence_length: str = ""
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
    inputs_file: str = ""
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
    """True if `ProfileForms.weigh` can provide what the estimate is missing."""
    commands: tuple[str, ...] = ()
    """Equivalent shell commands, one per run; empty while there are errors."""
    busy: str = ""
    """The run that is measuring on this machine now, in words; '' for none."""

"""Values of benchmark forms and re-runs, as typed and as checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tuibench.core import engine, scenario

if TYPE_CHECKING:  # 20 ms not needed for the first frame
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

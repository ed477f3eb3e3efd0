"""What was asked: the whole of a benchmark as one immutable value that a runner can carry out without its client."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuibench.core.profile_spec import ProfileSpec


@dataclass(frozen=True, slots=True)
class Effort:
    """How long and how precisely each cell is measured; three named ones ship and flags change single values."""

    name: str
    min_executions: int
    max_executions: int
    timed_s: float
    warmup_s: float
    target: float | None
    """Half-width of the 95 % interval as a fraction, or None where the time alone decides."""
    limit_s: float


EFFORTS = {
    "quick": Effort("quick", 3, 6, 0.5, 1.0, 0.05, 10.0),
    "default": Effort("default", 5, 15, 1.0, 2.0, 0.02, 30.0),
    "precise": Effort("precise", 8, 30, 2.0, 3.0, 0.01, 120.0),
}


@dataclass(frozen=True, slots=True)
class ModelSource:
    """One model as the user named it and the file that this means."""

    asked: str
    path: str


@dataclass(frozen=True, slots=True)
class InputSettings:
    """How the tensors fed to the models are chosen; the same for every cell, so that cells compare."""

    seed: int = 0
    distinct: int = 8
    file: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    batch_dim: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that end what would not end by itself."""

    max_time_s: float | None = None
    timeout_scale: float = 1.0
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """Everything a runner needs; the axes are lists and their product is the sweep."""

    models: tuple[ModelSource, ...]
    engines: tuple[str, ...]
    scenarios: tuple[str, ...]
    cores: tuple[int, ...]
    batches: tuple[int, ...]
    """Empty: batch 1 where the model's batch is symbolic, else the model's own."""
    dims: tuple[tuple[str, tuple[int, ...]], ...]
    sequence_lengths: tuple[int, ...]
    streams: int | None
    stream_kind: str | None
    pin: str
    precision: str
    io: str | None
    effort: Effort
    inputs: InputSettings
    limits: Limits
    check: bool = True
    keep_raw: bool = False
    profile: ProfileSpec | None = None
    """Where layers are to be told apart: then every axis above has one value."""
    options: dict[str, bool | int | float | str] = field(default_factory=dict, hash=False, metadata={"sparse": True})
    """Settings without a field of their own, by name; one at its default is left out, and so is an empty mapping."""

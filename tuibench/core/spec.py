"""Specification of a benchmark: one immutable value that a runner can execute without its client."""

from __future__ import annotations

from dataclasses import field

from tuibench.core.value import ADDED_LATER, dataclass

PERFORMANCE, LOSS = "performance", "loss"
APPROXIMATED = "approximated"
"""A loss profile that looks at weights alone."""
KINDS = frozenset({PERFORMANCE, LOSS})

PRUNED_LEVELS = (0.5, 0.8, 0.9, 0.95)
INT8 = "int8"
LEVELS = (*(f"pruned {level:g}" for level in PRUNED_LEVELS), INT8)
"""Changes that a loss profile applies to a layer, as written in records and on screens."""

PRUNED = "pruned"
WHAT_IF = (INT8, PRUNED)
"""Forms of single layers that a performance profile measures on request; each engine has one of them at most."""


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """The options that only a profile has; it has one model, one batch and one core count."""

    kind: str
    """performance or loss."""
    runs: int = 10
    """Profiled runs in each process; a layer's time is their median."""
    what_if: tuple[str, ...] = ()
    """Performance profile: 'int8' also measures each heavy layer in isolation in that precision; 'pruned' measures the
    model with zeros in one operator, and in one heavy layer, at a time."""
    levels: tuple[str, ...] = LEVELS
    samples: int = 2
    """Loss profile: number of data samples on which each variant runs."""
    budget: bool = False
    """Loss profile: measure all layers at one level, and only the worst layers at the other levels."""
    approximate: bool = False
    """Loss profile: compute it from the weights alone; run nothing."""
    processes: int = 3
    """Performance profile: fresh processes; a layer's interval is computed over them."""
    fresh_roofs: bool = field(default=False, metadata=ADDED_LATER)
    """Performance profile: measure the machine's limits even if they were measured in the last week."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Duration and precision of each cell's measurement; three named efforts exist and flags change single values."""

    name: str
    min_executions: int
    max_executions: int
    timed_s: float
    warmup_s: float
    target: float | None
    """Half-width of the 95 % interval as a fraction; None if only the time counts."""
    limit_s: float


EFFORTS = {
    "quick": Effort("quick", 3, 6, 0.5, 1.0, 0.05, 10.0),
    "default": Effort("default", 5, 15, 1.0, 2.0, 0.02, 30.0),
    "precise": Effort("precise", 8, 30, 2.0, 3.0, 0.01, 120.0),
}


@dataclass(frozen=True, slots=True)
class ModelSource:
    """One model: the name that the user typed, and its file."""

    asked: str
    path: str


@dataclass(frozen=True, slots=True)
class InputSettings:
    """Choice of the input tensors, equal for every cell so that cells can be compared."""

    seed: int = 0
    distinct: int = 8
    file: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    batch_dim: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on time and memory."""

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
    """Empty: batch 1 if the model's batch is symbolic, else the model's own."""
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
    """Settings of a profile; then every axis above has one value."""
    options: dict[str, bool | int | float | str] = field(
        default_factory=dict, hash=False, metadata=ADDED_LATER | {"sparse": True}
    )
    """Settings without a field of their own, by name; defaults and an empty mapping are omitted."""

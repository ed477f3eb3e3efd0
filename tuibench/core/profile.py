"""What a profile says of a model: what each node costs by its shapes, how long it takes, and what it would lose.

`CostProfile` is theory; `PerformanceProfile` and `LossProfile` are measured. Each is kept in a result, as cells are.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from tuibench.core.cell import Estimate, Grade, Noise
from tuibench.core.profile_spec import INT8, LEVELS, LOSS, PERFORMANCE, PRUNED_LEVELS, ProfileSpec

__all__ = ("INT8", "LEVELS", "LOSS", "PERFORMANCE", "PRUNED_LEVELS", "ProfileSpec")
"""What is defined beside this, as whoever only asks for a profile has no use for the types of results."""

LAYER, RUNTIME, FOLDED, RESIDUAL = "layer", "runtime", "folded", "residual"
"""Kinds of rows: nodes of the model; work that the engine added; nodes that it ran beforehand; the rest."""

LAYOUT = "layout (runtime)"
"""The operator of rows in which an engine changes the layout of a tensor for its own kernels."""

ALREADY_INT8 = "already int8"
"""Why a point of a layer with such weights has no numbers."""
LIGHTER_BRANCH = "the other branch of its If does more"
"""Why a node counts as none where no run told which branch is taken."""
DONE_BEFORE = "depends on constants alone: computed beforehand"
"""Why a node counts as none whose output is known before the first inference."""
LEFT_OUT = "the limit of nodes was reached: not all of this call is counted"
"""Why a call of a function has no figures, or least ones."""
NOT_RUN = "not run"
"""Why a point of a layer in a branch that was not taken has none: that nothing changed says nothing of it."""
RECURRENT = frozenset({"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM", "com.microsoft.DynamicQuantizeLSTM"})
"""Operators with products of weights that no loss profile changes."""
_LOOKUPS = frozenset(
    {"Gather", "GatherElements", "GatherND", "com.microsoft.EmbedLayerNormalization",
     "com.microsoft.GatherBlockQuantized"}
)  # fmt: skip
"""They read as much of their table as they give."""
UNMAPPED = "unmapped (runtime)"
"""The operator of rows of which it is not known what they are for."""


@dataclass(frozen=True, slots=True)
class NodeCost:
    """What one node of the model as it is in its file costs; None where that is unknown, and `why` says why.

    Operations and activations are of one inference, of all the times that it runs in it.
    """

    id: str
    """Unique in the model: the name of its first output, below the node and branch that it lies in."""
    index: int
    """Its place in the file's order, subgraphs where they stand."""
    op: str
    """With its domain where that is not ONNX's own."""
    name: str
    """As in the file: may be empty, and occur twice."""
    weight: str = ""
    """Its largest constant of more than one dimension, by the name it has in the file."""
    weight_shape: tuple[int, ...] = ()
    input_shapes: tuple[tuple[int, ...] | None, ...] = ()
    output_shape: tuple[int, ...] | None = None
    """Of the first output."""
    macs: int | None = 0
    """Multiply-accumulates of matrix operators; their FLOPs are twice that."""
    element_flops: int | None = 0
    """Estimated operations on single elements."""
    parameters: int = 0
    """Elements of constants that no node before it has."""
    zeros: int = 0
    weight_bytes: int = 0
    """Of all constants it reads."""
    activation_bytes: int | None = 0
    """Of what it reads and writes beside constants."""
    times: int | None = 1
    """How often it runs in one inference; None where that is not known: its figures are of one time then."""
    integer: bool = False
    """Whether its products are of integers."""
    why: str = ""

    @property
    def flops(self) -> int | None:
        """Both kinds together; None where either is unknown."""
        if self.macs is None or self.element_flops is None:
            return None
        return 2 * self.macs + self.element_flops

    @property
    def constant_bytes(self) -> int:
        """What it reads of its constants in one inference: a lookup as much of its table as it gives."""
        read = self.weight_bytes * (1 if self.times is None else self.times)
        return min(read, self.activation_bytes or 0) if self.op in _LOOKUPS else read

    @property
    def bytes_moved(self) -> int | None:
        """Constants and activations, read and written in one inference, were nothing in a cache."""
        return None if self.activation_bytes is None else self.activation_bytes + self.constant_bytes

    @property
    def intensity(self) -> float | None:
        """Operations per byte moved."""
        return self.flops / self.bytes_moved if self.flops is not None and self.bytes_moved else None


NODES, EXECUTED, SECONDS = "nodes", "executed", "seconds"
"""Codes of `CountBound`: nodes that calls expand to; nodes that loops ran; time of the run."""


@dataclass(frozen=True, slots=True)
class CountBound:
    """The limit at which counting stopped; totals are lower bounds then."""

    code: str
    limit: float
    """Of nodes or seconds, by the code."""
    counted: int
    """Nodes that were counted, calls expanded."""


@dataclass(frozen=True, slots=True)
class CostProfile:
    """The theoretical cost of a model at one batch and dims; nothing of it is measured. Totals count what is known."""

    nodes: tuple[NodeCost, ...]
    batch: int | None
    items: int
    dims: dict[str, int]
    macs: int
    element_flops: int
    parameters: int
    zeros: int
    weight_bytes: int
    activation_bytes: int
    peak_activation_bytes: int | None
    unknown: int
    """Nodes of which something is not known."""
    shapes_from: str
    """In words: one run without optimization, or static inference and why."""
    notes: tuple[str, ...] = ()
    bound: CountBound | None = None

    @property
    def flops(self) -> int:
        """Twice the multiply-accumulates, and what is done to single elements."""
        return 2 * self.macs + self.element_flops


@dataclass(frozen=True, slots=True)
class KernelRow:
    """What one process found of one row: the nodes that an engine runs together, or work of its own."""

    key: str
    """Equal in every process: the id of the first node, or the kernel's name for work of the engine's own."""
    kind: str
    op: str
    """Of its heaviest node; LAYOUT and the like for work of the engine's own."""
    nodes: tuple[str, ...]
    kernels: tuple[str, ...]
    kernel_op: str
    """The operator that the engine made of them, such as FusedConv."""
    raw_us: float
    """In the middle of the profiled runs, as the profiler told it."""
    us: float
    """Without the profiler's own share."""
    integer: bool = False
    """Whether the kernel that runs works on integers."""
    activation_bytes: int | None = None
    """What its kernels read and write in one inference beside constants, as the profiler counts it."""
    calls: float | None = None
    """How often its kernels ran in one inference, together and on average; None where nobody counted."""
    precision: str = ""
    """Of its floats where those are none of 32 bits: f64, bf16, f16."""


@dataclass(frozen=True, slots=True)
class LayerRun:
    """One fresh process: profiled runs and unprofiled ones of the same session."""

    rows: tuple[KernelRow, ...]
    unprofiled_us: float
    """Median of one inference."""
    profiled_us: float
    bias_us: float
    """The profiler's own share in each kernel's time, calibrated in the same process."""
    runs: int
    unprofiled_runs: int
    kernels: int
    """Executed in one inference."""
    load_ms: float
    first_ms: float
    peak_bytes: int | None
    noise: Noise
    engine_version: str
    threads: int
    cpus: tuple[int, ...]
    isa: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    precision: str = ""
    """What its products were computed in, most of the time first; '' where it is not known."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """The most that this machine was seen to deliver at one core count, measured on the same engine."""

    cores: int
    f32_gflops: float | None
    int8_gops: float | None
    dram_gb_s: float | None
    cache_gb_s: tuple[tuple[int, float], ...] = ()
    """(bytes of the working set, GB/s), smallest first."""
    cpu: str = ""
    measured_utc: str = ""
    reason: str = ""
    """Why something of it is missing, or is not what it is called."""
    grade: Grade | None = None
    """How disturbed the machine was while it was measured."""


@dataclass(frozen=True, slots=True)
class ZeroEffect:
    """What zeros in weights gain on an engine of this machine, measured on layers of our own."""

    engine: str
    engine_version: str
    ratio: Estimate
    """Time with 90 % zeros / time with none."""
    exploits: bool | None
    """None where the interval does not tell."""
    sentence: str
    measured_utc: str = ""
    grade: Grade | None = None
    """How disturbed the machine was while it was measured."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One layer alone, in another form: how its time changes there."""

    form: str
    """int8."""
    ratio: Estimate
    """Its time in that form / its time as it is, both in isolation."""
    reason: str = ""
    """Why it could not be isolated."""
    around: float | None = None
    """Share of its time in that form in which floats are turned into it and back."""


@dataclass(frozen=True, slots=True)
class LayerTime:
    """One row of a performance profile: every node of the model is in exactly one."""

    key: str
    kind: str
    op: str
    nodes: tuple[str, ...]
    kernels: tuple[str, ...]
    kernel_op: str
    weight: str
    ms: Estimate
    """Per batch, over the processes; no value in rows that cost nothing while the model runs."""
    macs: int | None = 0
    element_flops: int | None = 0
    parameters: int | None = 0
    zeros: int | None = 0
    bytes_moved: int | None = 0
    integer: bool = False
    roof_ms: float | None = None
    """The least time that the roofs allow."""
    roof: str = ""
    """Which one binds: f32, int8, DRAM, cache."""
    what_if: tuple[WhatIf, ...] = ()
    roof_reason: str = ""
    """Why none is known to."""

    @property
    def flops(self) -> int | None:
        """Of all its nodes; None where one is unknown."""
        if self.macs is None or self.element_flops is None:
            return None
        return 2 * self.macs + self.element_flops


@dataclass(frozen=True, slots=True)
class PerformanceProfile:
    """Measured time per layer and for the whole model, for one batch size, core count and engine."""

    engine: str
    engine_version: str
    cores: int
    cpus: tuple[int, ...]
    threads: int
    isa: tuple[str, ...]
    precision: str
    batch: int | None
    items: int
    dims: dict[str, int]
    ms: Estimate
    """One batch, unprofiled."""
    grade: Grade | None
    layers: tuple[LayerTime, ...]
    """In the order of the model, then work of the engine's own, then what is left over."""
    sum_ms: float | None
    """Of all layers before they were scaled to `ms`."""
    scale: float
    """What they were multiplied by; 1 where they were left alone."""
    bias_us: float
    below_resolution: bool
    """Whether the profiler's own share is too much of the whole for times per layer to mean anything."""
    attributed: float | None
    """Share of the time that rows with a name have."""
    processes: int
    runs: int
    load_ms: float | None
    peak_bytes: int | None
    roofline: Roofline | None = None
    zero_effect: ZeroEffect | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LossPoint:
    """One layer changed to one level, everything else as it was; the outputs against those of the unchanged model."""

    level: str
    sqnr_db: float | None
    """Of the outputs; None where they are equal."""
    cosine: float | None
    kl: float | None = None
    """Of the softmax of outputs that look like classes."""
    top1: float | None = None
    """Share of samples whose first class is the same."""
    samples: int = 0
    reason: str = ""
    """Why it has no numbers."""
    harm: bool = False
    """Whether that is what the change did to the outputs, which is worse than any number."""


@dataclass(frozen=True, slots=True)
class LayerLoss:
    """One layer with weights: what its weights alone tell (a proxy), and what was measured."""

    id: str
    """Of its node."""
    op: str
    name: str
    weight: str
    shape: tuple[int, ...]
    parameters: int
    zeros: int
    quantiles: tuple[float, ...] = ()
    """|w| at 0, 5 … 100 % of its weights, over the largest."""
    weight_sqnr_db: dict[str, float | None] = field(default_factory=dict)
    """Per level: the weights against themselves changed; None where nothing changes."""
    points: tuple[LossPoint, ...] = ()
    """Of an approximated profile those levels alone that change nothing of such weights."""
    reason: str = ""
    """Why it cannot be looked at."""


@dataclass(frozen=True, slots=True)
class LossProfile:
    """How sensitive the outputs are to changing each layer."""

    kind: str
    """approximated or measured."""
    data: str
    """In words: what the model was run on; '' for approximated."""
    levels: tuple[str, ...]
    layers: tuple[LayerLoss, ...]
    samples: int = 0
    classes: bool = False
    """Whether outputs look like classes."""
    float32_db: float | None = None
    """How far the form in which layers are changed is from the model as it is measured."""
    complete: bool = True
    notes: tuple[str, ...] = ()
    data_sha256: str = ""
    """Of the file that `data` names: those of one name need not hold the same; '' where none was noted."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All of one profile: theory, and one of the two that are measured."""

    kind: str
    costs: CostProfile
    performance: PerformanceProfile | None = None
    loss: LossProfile | None = None


def own_key(name: str, taken: Container[str]) -> str:
    """By what a row is told that no node of the model gave its name: a model may have a tensor called the same."""
    while name in taken:
        name = f"{name} (runtime)"
    return name

"""The data of a profile: cost of each node by its shapes, measured times, and sensitivity to changes.

`CostProfile` is theory; `PerformanceProfile` and `LossProfile` are measured. A result stores each, like its cells.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import field

from tuibench.core.cell import Estimate, Grade, Noise
from tuibench.core.reason import Reason
from tuibench.core.spec import INT8, LEVELS, LOSS, PERFORMANCE, PRUNED_LEVELS, ProfileSpec
from tuibench.core.value import ADDED_LATER, TEXT, dataclass

__all__ = ("INT8", "LEVELS", "LOSS", "PERFORMANCE", "PRUNED_LEVELS", "ProfileSpec")
"""Re-exported from profile_spec, which code that only requests a profile imports without the result types."""

LAYER, RUNTIME, FOLDED, RESIDUAL = "layer", "runtime", "folded", "residual"
"""Kinds of rows: nodes of the model; work that the engine added; nodes computed beforehand; the remainder."""

HANDED = "ORT"
"""Kernel of the rows that an engine leaves to the ONNX Runtime inside it."""
LAYOUT = "layout (runtime)"
"""Operator name of rows in which an engine changes a tensor's layout for its own kernels."""

ALREADY_INT8 = Reason("already_int8")
"""The layer's weights are integers already, so the point has no numbers."""
NOT_RUN = Reason("not_run")
"""The layer is in a branch that did not run, so unchanged outputs prove nothing."""
RECURRENT = frozenset({"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM", "com.microsoft.DynamicQuantizeLSTM"})
"""Operators with weight products that no loss profile changes."""
_LOOKUPS = frozenset(
    {"Gather", "GatherElements", "GatherND", "com.microsoft.EmbedLayerNormalization",
     "com.microsoft.GatherBlockQuantized"}
)  # fmt: skip
"""Lookup operators: they read only as much of their table as they output."""
UNMAPPED = "unmapped (runtime)"
"""Operator name of rows whose purpose is unknown."""

COSTS, ROOFLINE, ZEROS, LAYERS, WHAT_IF = "costs", "roofline", "zeros", "layers", "what_if"
WEIGHTS, LOSSES = "weights", "loss"
"""Kinds of parts, which are made and stored one after the other."""


def name_part(kind: str, number: int = 0) -> str:
    """Return the name of a part; repeated parts have a number."""
    return f"{kind} {number}" if number else kind


def split_part(name: str) -> tuple[str, int]:
    """Return the kind and the number of a part, 0 for a part that is made once; a foreign name is a kind."""
    kind, _, number = name.partition(" ")
    return (kind, int(number)) if number.isdecimal() and len(number) < 10 else (name, 0)


@dataclass(frozen=True, slots=True)
class NodeCost:
    """The cost of one node of the model as stored in its file; None if unknown, with the reason in `why`.

    Operations and activations are those of one inference, summed over all runs of the node.
    """

    id: str
    """Unique in the model: the name of its first output, prefixed with the enclosing node and branch."""
    index: int
    """Position in the file; a subgraph's nodes follow in place."""
    op: str
    """Operator type, with its domain unless that is ONNX's own."""
    name: str
    """Name in the file; may be empty or repeated."""
    weight: str = ""
    """Name in the file of its largest constant of more than one dimension."""
    weight_shape: tuple[int, ...] = ()
    input_shapes: tuple[tuple[int, ...] | None, ...] = ()
    output_shape: tuple[int, ...] | None = None
    """Shape of the first output."""
    macs: int | None = 0
    """Multiply-accumulates of matrix operators; their FLOPs are twice that."""
    element_flops: int | None = 0
    """Estimated operations on single elements."""
    parameters: int = 0
    """Elements of constants that no earlier node uses."""
    zeros: int = 0
    weight_bytes: int = 0
    """Bytes of all constants it reads."""
    activation_bytes: int | None = 0
    """Bytes that it reads and writes, without constants."""
    times: int | None = 1
    """Runs in one inference; None if unknown: the figures are then those of one run."""
    integer: bool = False
    """True if its products are of integers."""
    why: Reason | None = field(default=None, metadata=TEXT)

    @property
    def flops(self) -> int | None:
        """FLOPs of products and single elements; None if either is unknown."""
        if self.macs is None or self.element_flops is None:
            return None
        return 2 * self.macs + self.element_flops

    @property
    def constant_bytes(self) -> int:
        """Bytes of constants read in one inference; a lookup reads only as much of its table as it outputs."""
        read = self.weight_bytes * (1 if self.times is None else self.times)
        return min(read, self.activation_bytes or 0) if self.op in _LOOKUPS else read

    @property
    def bytes_moved(self) -> int | None:
        """Bytes of constants and activations read and written in one inference, without any cache."""
        return None if self.activation_bytes is None else self.activation_bytes + self.constant_bytes

    @property
    def intensity(self) -> float | None:
        """Operations per byte moved."""
        return self.flops / self.bytes_moved if self.flops is not None and self.bytes_moved else None


NODES, EXECUTED, SECONDS = "nodes", "executed", "seconds"
"""Codes of `CountBound`: nodes after expanding calls; nodes executed by loops; time of the run."""


@dataclass(frozen=True, slots=True)
class CountBound:
    """The limit at which counting stopped; totals are then lower bounds."""

    code: str
    limit: float
    """The limit in nodes or seconds, by the code."""
    counted: int
    """Nodes counted so far, calls expanded."""


@dataclass(frozen=True, slots=True)
class CostProfile:
    """The theoretical cost of a model at one batch and dims; nothing is measured. Totals include only known costs."""

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
    """Nodes with an unknown cost."""
    shapes_from: Reason | None = field(metadata=TEXT)
    """Source of the shapes: one run without optimization, or static inference and why; None if not counted."""
    notes: tuple[Reason, ...] = ()
    bound: CountBound | None = field(default=None, metadata=ADDED_LATER)

    @property
    def flops(self) -> int:
        """Twice the multiply-accumulates plus the operations on single elements."""
        return 2 * self.macs + self.element_flops


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One row of one process: nodes that an engine runs together, or the engine's own work."""

    key: str
    """The same in every process: the id of the first node, or the kernel's name for the engine's own work."""
    kind: str
    op: str
    """Operator of its heaviest node; LAYOUT or similar for the engine's own work."""
    nodes: tuple[str, ...]
    kernels: tuple[str, ...]
    kernel_op: str
    """The operator into which the engine fused them, such as FusedConv."""
    raw_us: float
    """Median of the profiled runs, as the profiler reported it."""
    us: float
    """The same without the profiler's overhead."""
    integer: bool = False
    """True if the executed kernel works on integers."""
    activation_bytes: int | None = None
    """Bytes that its kernels read and write in one inference, without constants, as the profiler counts them."""
    calls: float | None = None
    """Mean number of kernel calls in one inference, all kernels together; None if not counted."""
    precision: str = ""
    """Float precision unless it is 32 bits: f64, bf16, f16."""


@dataclass(frozen=True, slots=True)
class LayerRun:
    """One fresh process: profiled and unprofiled runs of the same session."""

    rows: tuple[KernelRow, ...]
    unprofiled_us: float
    """Median of one inference."""
    profiled_us: float
    bias_us: float
    """Profiler overhead per kernel, calibrated in the same process."""
    runs: int
    unprofiled_runs: int
    kernels: int
    """Kernels executed in one inference."""
    load_ms: float
    first_ms: float
    peak_bytes: int | None
    noise: Noise
    engine_version: str
    threads: int
    cpus: tuple[int, ...]
    isa: tuple[str, ...] = ()
    notes: tuple[Reason, ...] = ()
    precision: str = ""
    """Precisions of its products, by decreasing time; '' if unknown."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """The highest rates measured on this machine at one core count, with the same engine."""

    cores: int
    f32_gflops: float | None
    int8_gops: float | None
    dram_gb_s: float | None
    cache_gb_s: tuple[tuple[int, float], ...] = ()
    """(bytes of the working set, GB/s), smallest first."""
    cpu: str = ""
    measured_utc: str = ""
    reason: Reason | None = field(default=None, metadata=TEXT)
    """Why a rate is missing, or differs from its name."""
    grade: Grade | None = field(default=None, metadata=ADDED_LATER)
    """The grade of the machine's quiet during the measurement."""


@dataclass(frozen=True, slots=True)
class ZeroEffect:
    """The speed-up that zeros in weights give on an engine of this machine, measured on generated layers."""

    engine: str
    engine_version: str
    ratio: Estimate
    """Time with 90 % zeros / time with none."""
    exploits: bool | None
    """None if the interval does not decide."""
    sentence: Reason | None = field(metadata=TEXT)
    """The conclusion of both, which exports hold as a sentence."""
    measured_utc: str = field(default="", metadata=ADDED_LATER)
    grade: Grade | None = field(default=None, metadata=ADDED_LATER)
    """The grade of the machine's quiet during the measurement."""


IMPOSED = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Shares of zeros at which an engine that computes with them is measured."""
MOST_PRUNED = 10
"""Number of the heaviest layers that are measured with zeros one at a time."""
PRUNED_RUNS = 10
"""Most runs of one share of zeros; there are many shares, and they have no interval."""


@dataclass(frozen=True, slots=True)
class PrunedPoint:
    """The model measured with a share of zeros in all weights, or in those of one operator or of one layer."""

    zeros: float
    ms: Estimate
    """Time of one batch."""
    operators: dict[str, float] = field(default_factory=dict)
    """Milliseconds of all layers of an operator."""
    load_ms: float | None = None
    """Time to compile this form."""
    operator: str = field(default="", metadata=ADDED_LATER)
    """The operator of the only layers with zeros."""
    layer: str = field(default="", metadata=ADDED_LATER)
    """The main node of the only layer with zeros."""
    part_ms: float | None = field(default=None, metadata=ADDED_LATER)
    """Time of the layers with zeros, if they are a part of the model."""

    @property
    def is_part(self) -> bool:
        """True if only some layers have the zeros."""
        return bool(self.operator or self.layer)

    def speedup(self, dense: PrunedPoint) -> float | None:
        """Return how many times as fast it is as another point; None if one has no time."""
        return dense.ms.value / self.ms.value if self.ms.value and dense.ms.value else None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One layer in isolation in another form, and its change in time."""

    form: str
    """int8."""
    ratio: Estimate
    """Time in that form / time as it is, both in isolation."""
    reason: Reason | None = field(default=None, metadata=TEXT)
    """Why the layer could not be isolated."""
    around: float | None = field(default=None, metadata=ADDED_LATER)
    """Share of its time in that form spent on converting floats to it and back."""


@dataclass(frozen=True, slots=True)
class LayerTime:
    """One row of a performance profile; every node of the model is in exactly one row."""

    key: str
    kind: str
    op: str
    nodes: tuple[str, ...]
    kernels: tuple[str, ...]
    kernel_op: str
    weight: str
    ms: Estimate
    """Time per batch over the processes; no value in rows that take no time at inference."""
    macs: int | None = 0
    element_flops: int | None = 0
    parameters: int | None = 0
    zeros: int | None = 0
    bytes_moved: int | None = 0
    integer: bool = False
    roof_ms: float | None = None
    """The least time that the machine's limits allow."""
    roof: str = ""
    """The binding limit: f32, int8, DRAM, cache."""
    what_if: tuple[WhatIf, ...] = ()
    roof_reason: Reason | None = field(default=None, metadata=ADDED_LATER | TEXT)
    """Why no limit is known."""

    @property
    def flops(self) -> int | None:
        """FLOPs of all its nodes; None if one is unknown."""
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
    """Time of one batch, unprofiled."""
    grade: Grade | None
    layers: tuple[LayerTime, ...]
    """Layers in the model's order, then the engine's own work, then the remainder."""
    sum_ms: float | None
    """Sum of all layers before they were scaled to `ms`."""
    scale: float
    """The factor they were scaled by; 1 if they were not scaled."""
    bias_us: float
    below_resolution: bool
    """True if profiler overhead is too large for the times per layer to be meaningful."""
    attributed: float | None
    """Share of the time in rows with a name."""
    processes: int
    runs: int
    load_ms: float | None
    peak_bytes: int | None
    roofline: Roofline | None = None
    zero_effect: ZeroEffect | None = None
    notes: tuple[Reason, ...] = ()
    pruned: tuple[PrunedPoint, ...] = field(default=(), metadata=ADDED_LATER)
    """The model with more and more zeros, measured by an engine that can pretend them."""


@dataclass(frozen=True, slots=True)
class LossPoint:
    """One layer changed to one level, all else unchanged; the outputs compared with the unchanged model's."""

    level: str
    sqnr_db: float | None
    """SQNR of the outputs; None if they are equal."""
    cosine: float | None
    kl: float | None = None
    """KL divergence of the softmax, for outputs that look like classes."""
    top1: float | None = None
    """Share of samples with the same top class."""
    samples: int = 0
    reason: Reason | None = field(default=None, metadata=TEXT)
    """Why there are no numbers."""
    harm: bool = False
    """True if the change broke the outputs, so that no number exists."""


@dataclass(frozen=True, slots=True)
class LayerLoss:
    """One layer with weights: a proxy from the weights alone, and the measurements."""

    id: str
    """The id of its node."""
    op: str
    name: str
    weight: str
    shape: tuple[int, ...]
    parameters: int
    zeros: int
    quantiles: tuple[float, ...] = ()
    """|w| at 0, 5 … 100 % of its weights, relative to the largest."""
    weight_sqnr_db: dict[str, float | None] = field(default_factory=dict)
    """Per level: SQNR of the changed weights against the original ones; None if nothing changes."""
    points: tuple[LossPoint, ...] = ()
    """Measured levels; in an approximated profile, only the levels that do not change such weights."""
    reason: Reason | None = field(default=None, metadata=TEXT)
    """Why the layer cannot be examined."""


@dataclass(frozen=True, slots=True)
class LossProfile:
    """The sensitivity of the outputs to a change of each layer."""

    kind: str
    """approximated or measured."""
    data: str
    """The data the model was run on, in words; '' for approximated."""
    levels: tuple[str, ...]
    layers: tuple[LayerLoss, ...]
    samples: int = 0
    classes: bool = False
    """True if the outputs look like classes."""
    float32_db: float | None = None
    """SQNR between the modifiable form of the model and the model as measured."""
    complete: bool = True
    notes: tuple[Reason, ...] = ()
    data_sha256: str = field(default="", metadata=ADDED_LATER)
    """Checksum of the file that `data` names, since files of one name may differ; '' if none was recorded."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A whole profile: the theory, and at most one of the two measured parts."""

    kind: str
    costs: CostProfile
    performance: PerformanceProfile | None = None
    loss: LossProfile | None = None


def own_key(name: str, taken: Container[str]) -> str:
    """Return a key for a row of the engine's own, distinct from every tensor name of the model."""
    while name in taken:
        name = f"{name} (runtime)"
    return name

"""Interface between measuring and engines, for benchmarks and for layer times; small enough for old interpreters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from tuibench.core.errors import EngineError
from tuibench.core.model import Point, Port
from tuibench.core.value import dataclass

if TYPE_CHECKING:
    from tuibench.core.profile import LayerRun, PrunedPoint


Feed = dict[str, Any]
"""Input name to ndarray, list of ndarrays (sequence), dict (map) or None (absent optional)."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine, known without importing it."""

    name: str
    precisions: tuple[str, ...]
    """'engine-default' is always accepted as well."""
    stream_kinds: tuple[str, ...]
    """The supported ways to run N streams, of 'queue', 'threads' and 'processes', best first."""
    io_classes: tuple[str, ...]
    serves_nodes: bool = False
    """True if its own queue sends requests to the least busy NUMA node; it is emulated for the others."""
    pins_caller: bool = False
    """True if the calling thread may be pinned to the first CPU after loading.

    False for engines that create threads later, which would inherit that one CPU.
    """

    def require_precision(self, asked: str) -> None:
        """Raise BadSetting for a precision that the engine does not compute in."""
        takes = [*self.precisions, "engine-default"]
        if asked not in takes:
            raise BadSetting("unsupported_precision", engine=self.name, precision=asked, names=takes)


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """Settings for loading a model, as far as an engine may know them."""

    model_path: str
    threads: int
    """Total over all streams."""
    streams: int
    cpus: tuple[int, ...]
    """The process is already pinned to these CPUs."""
    pin: str
    precision: str
    one_at_a_time: bool
    """True if one request is in flight at a time and latency counts."""
    work_dir: str
    nodes: tuple[tuple[int, ...], ...] = ()
    """The CPUs of the process on each NUMA node."""
    scheduler: str = ""
    """The scheduler of deepsparse.benchmark for this scenario, for engines that have several: `multi_stream`."""
    optimize: bool = True
    options: dict[str, str] = field(default_factory=dict)
    weight_types: tuple[str, ...] = ()
    """Element types of the model's weights, from inspection."""
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Shapes of the inputs to feed, for engines that can compile for fixed shapes; empty if unknown."""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Settings that the engine reports as used; None for those that it does not report."""

    precision: str | None
    threads: int | None
    streams: int | None
    pinned: str
    details: dict[str, str]
    supported: float | None = None
    """Share of the operators that the engine itself runs; the others run in another engine inside it."""


class IoUnavailable(EngineError):
    """The requested I/O class does not work for this model; the caller tries the next one."""


class EngineRefusal(EngineError):
    """The engine rejects this model; an engine's own message has the code ERROR."""


class BadSetting(EngineRefusal):
    """The engine rejects the settings, for any model."""


@dataclass(slots=True)
class Bound:
    """A model with bound inputs, called by the measuring loop."""

    io: str
    calls: tuple[Callable[[], object], ...]
    """One per sample, so that rotating inputs costs nothing inside the timed call."""
    outputs: Callable[[int], dict[str, Any]]
    """Runs sample i once and returns copies of its outputs by name; never timed."""
    keep: tuple[Any, ...] = ()
    """Buffers that must live as long as the calls."""
    copied: bool = False
    """True if the samples were copied, so that the feeds can be freed."""


class Queue(Protocol):
    """An engine's own asynchronous queue."""

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Keep every stream busy until `until_ns` on perf_counter_ns or until the arrays are full, then drain.

        Write submit and completion stamps at one index per request (int64 memoryviews); return the number of requests.
        """

    def close(self) -> None:
        """Release the requests."""


class Session(Protocol):
    """One loaded model."""

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs as the engine reports them."""

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs as the engine reports them."""

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Bind the samples in an I/O class, or raise IoUnavailable."""

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Return the engine's own queue over the samples; only if the stream kinds include 'queue'."""

    def read_back(self) -> ReadBack:
        """Return the settings in use."""

    def close(self) -> None:
        """Free the engine's resources."""


class Engine(Protocol):
    """Interface of an engine module; its `make()` returns one."""

    capabilities: Capabilities

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return variables to set before the engine is imported."""

    def start(self) -> str:
        """Import the engine with its telemetry off and return its version; raises ImportError."""

    def load(self, setting: LoadSettings) -> Session:
        """Load the model; `load_ms` is the time of this call."""


Tell = Callable[[str, int, int], None]
"""Called with the stage ('loading', 'first', 'checking', 'profiling' or 'timing'), the progress and its total.

Call it with 'first' before the first inference, which never ends for some models.
"""


class Watch(Protocol):
    """Reads the disturbances by the machine."""

    def skip(self) -> None:
        """Discard what happened since the last reading."""

    def mark(self) -> object:
        """End a timed part."""


@dataclass(frozen=True, slots=True)
class LayerOrder:
    """A point of a model to time layer by layer in this process, which is pinned and has loaded nothing yet."""

    path: str
    point: Point
    cpus: tuple[int, ...]
    threads: int
    runs: int
    """Largest number of profiled runs."""
    max_s: float
    """Time limit for the whole order."""
    work_dir: str
    """No file stays in it."""
    interpreter: str = ""
    """The Python of an engine that has its own; '' for that of tuibench."""


@dataclass(frozen=True, slots=True)
class LayerJob:
    """A measurement of layers in the interpreter of an engine that has its own."""

    engine: str
    function: str
    """The engine's function for it, as `module:name`."""
    setting: LoadSettings
    bundle: str
    runs: int
    max_s: float
    log_path: str
    zeros: float | None = None
    """Share of zeros to pretend in each weight; None for the weights as they are."""


class LayerTimer(Protocol):
    """Interface of an engine's timing module; its `make_timer()` returns one."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Time every layer; raise TuibenchError if that is impossible, EngineRefusal if the model is rejected."""


class PruningTimer(LayerTimer, Protocol):
    """A layer timer that can measure a model with more zeros in its weights."""

    def time_pruned(self, order: LayerOrder, zeros: float, tell: Tell) -> PrunedPoint:
        """Measure one share of zeros, which the engine pretends; raise TuibenchError if that is impossible."""

    def time_zeroed(self, order: LayerOrder, nodes: Collection[str], zeros: float, tell: Tell) -> PrunedPoint:
        """Measure a copy in which only the weights of these nodes have a share of zeros, and time their layers."""


def run_once(session: Session, feed: Feed) -> dict[str, Any]:
    """Return the outputs for one feed, in the first I/O class that its types allow."""
    try:
        return session.bind([feed], "call").outputs(0)
    except IoUnavailable:
        return session.bind([feed], "engine-allocated").outputs(0)

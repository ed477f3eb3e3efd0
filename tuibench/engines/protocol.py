"""The seam between measuring and engines: small enough that an engine in an old interpreter can stand behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tuibench.core.model import Port

Feed = dict[str, Any]
"""Input name to ndarray, list of ndarrays (sequence), dict (map) or None (absent optional)."""

IO_CLASSES = ("bound", "engine-allocated", "call")
"""From least to most work inside the timed call; see docs/architecture.md."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do, known without importing it."""

    name: str
    distribution: str
    """The package that holds it, for its version and for the hint when it is missing."""
    precisions: tuple[str, ...]
    """'engine-default' is always accepted besides."""
    stream_kinds: tuple[str, ...]
    """Of 'queue', 'threads', 'processes': the ways N streams can be kept busy, best first."""
    io_classes: tuple[str, ...]
    pins_caller: bool = False
    """Whether the thread that calls may be tied to the first CPU once the model is loaded; not where the engine makes
    threads later, which would inherit that one CPU."""
    extra: str | None = None
    """The extra of tuibench that installs it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How to load a model: all that an engine may know."""

    model_path: str
    threads: int
    """In total, over all streams."""
    streams: int
    cpus: tuple[int, ...]
    """The process already runs on these only."""
    pin: str
    precision: str
    one_at_a_time: bool
    """Whether one request is in flight at a time, so that latency is what counts."""
    work_dir: str
    optimize: bool = True
    options: dict[str, str] = field(default_factory=dict)
    weight_types: tuple[str, ...] = ()
    """Element types of the model's weights, as inspection found them."""
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of the inputs that will be fed, for engines that can compile for them alone; empty where not known."""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What the engine says it really does; None where it cannot tell."""

    precision: str | None
    threads: int | None
    streams: int | None
    pinned: str
    details: dict[str, str]


class IoUnavailable(Exception):
    """The asked I/O class cannot be had for this model; the caller falls back to the next one."""


class Refusal(Exception):
    """The engine refuses this model; the message is its own."""


class BadSetting(Refusal):
    """The engine refuses what was asked of it, whatever the model."""


@dataclass(slots=True)
class Bound:
    """A model with its inputs in place: what the measuring loop calls."""

    io: str
    calls: tuple[Callable[[], object], ...]
    """One per sample, so that rotating inputs costs nothing inside the timed call."""
    outputs: Callable[[int], dict[str, Any]]
    """Run sample i once and return copies of its outputs by name; never timed."""
    keep: tuple[Any, ...] = ()
    """Buffers that must live as long as the calls."""
    copied: bool = False
    """Whether the samples were copied, so that the feeds may go."""


class Queue(Protocol):
    """An engine's own asynchronous queue."""

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Keep every stream busy until `until_ns` on perf_counter_ns or the arrays are full, then drain.

        Writes submit and completion stamps at one index per request (int64 memoryviews) and returns the count.
        """

    def close(self) -> None:
        """Give the requests back."""


class Session(Protocol):
    """One loaded model."""

    def inputs(self) -> tuple[Port, ...]:
        """The inputs as the engine sees them."""

    def outputs(self) -> tuple[Port, ...]:
        """The outputs as the engine sees them."""

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Put the samples in place for an I/O class, or raise IoUnavailable."""

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """The engine's own queue over the samples; only where 'queue' is among the stream kinds."""

    def read_back(self) -> ReadBack:
        """What was really set up."""

    def close(self) -> None:
        """Free what the engine holds."""


class Engine(Protocol):
    """What a module under engines/ offers; made by its `make()`."""

    capabilities: Capabilities

    def environment(self, setting: Setting) -> dict[str, str]:
        """Variables that must stand before the engine is imported."""

    def start(self) -> str:
        """Import the engine with its telemetry off and return its version; raises ImportError."""

    def prepare(self, setting: Setting) -> str:
        """Path of the file to load: the user's own, or a copy in `work_dir` where the engine needs another form."""

    def load(self, setting: Setting) -> Session:
        """Load the model; this is what `load_ms` times."""

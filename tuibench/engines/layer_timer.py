"""Interface for timing each layer with any engine; the registry lists the engines that support it.

Rules for every result (tests/profiles/test_layer_timer.py):

- Every node of the original model is in exactly one row, by its id from `models.node.walk`.
- Row keys are unique and the same in every process, so that a layer's time has an interval over processes.
- Work outside of nodes is a row of kind RUNTIME; nodes without cost at run time are in FOLDED rows.
- Times are exclusive, per inference, of profiled runs; `unprofiled_us` is from the same session without the profiler.
- A note reports fewer runs than requested; no run at all is an error. The model file is never written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tuibench.core.model import Point

if TYPE_CHECKING:
    from tuibench.core.profile import LayerRun

Tell = Callable[[str, int, int], None]
"""Called with the stage ('loading', 'first', 'checking', 'profiling' or 'timing'), the progress and its total.

Call it with 'first' before the first inference, which never ends for some models.
"""


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


class LayerTimer(Protocol):
    """Interface of an engine's timing module; its `make_timer()` returns one."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Time every layer; raise TuibenchError if that is impossible, Refusal if the engine rejects the model."""

"""The seam by which a profile asks any engine how long each layer takes; the registry says which engines answer.

What an answer must hold, whatever the engine (tests/profiles/test_layer_timer.py):

- Every node of the model as it is in its file is in exactly one row, by the id that `models.node.walk` gives it.
- Keys of rows are unique, and the same in every process, so that a layer's time has an interval over processes.
- Work that is no node's is a row of kind RUNTIME; nodes that cost nothing while the model runs are in FOLDED rows.
- Times are exclusive, of one inference, of profiled runs; `unprofiled_us` is of the same session without its profiler.
- Fewer runs than were asked for are said in a note; none at all is an error. The model's file is never written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tuibench.core.model import Point

if TYPE_CHECKING:
    from tuibench.core.profile import LayerRun

Tell = Callable[[str, int, int], None]
"""Told the stage ('loading', 'first', 'checking', 'profiling' or 'timing'), and how much of it is done, of how much.

Whoever runs the model says 'first' before its first inference, which some models never end.
"""


@dataclass(frozen=True, slots=True)
class LayerOrder:
    """A point of a model whose layers are to be timed in this process, which is pinned and has loaded nothing yet."""

    path: str
    point: Point
    cpus: tuple[int, ...]
    threads: int
    runs: int
    """Profiled ones, at most."""
    max_s: float
    """For all of it."""
    work_dir: str
    """Nothing is left behind in it."""


class LayerTimer(Protocol):
    """What the timing module of an engine offers; made by its `make_timer()`."""

    def time_layers(self, order: LayerOrder, tell: Tell) -> LayerRun:
        """Time every layer; a TuibenchError says why that cannot be done, a Refusal why the engine will not."""

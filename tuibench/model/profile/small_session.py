"""Small models that tuibench makes, and a session of its own for each: call it, profile it, or alternate two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tuibench.core.cell import Grade
from tuibench.core.value import dataclass
from tuibench.engines.onnxruntime import open_session
from tuibench.engines.protocol import LoadSettings
from tuibench.host.noise import Witness
from tuibench.model.profile.events import Run, take_runs
from tuibench.stats.grading import grade_noise
from tuibench.worker import isolation
from tuibench.worker.bundle import Array
from tuibench.worker.sync import Stamps, rotate

BLOCK_S = 0.02
_BEST, _NEAR, _STILL = 0.05, 0.01, 4
"""Stop rule: the best time is the 5% quantile; stop after four blocks in a row that improve it by less than 1%."""
_SETTLING_S = 0.003
"""Time that threads of another session may still spin after their last call."""


class NoiseWatch:
    """A noise witness over many short measurements; it ignores the time between them."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._witness = Witness(cpus)
        self._witness.start()
        self._timed_s = 0.0

    def begin(self) -> None:
        """Register the threads of a new session and discard what they waited for until now."""
        self._witness.watch_new_threads()

    def skip(self) -> None:
        """Discard the time since the last block."""
        self._witness.skip()

    def mark(self, seconds: Sequence[float]) -> None:
        """End a block whose calls took `seconds`."""
        self._witness.mark()
        self._timed_s += sum(seconds)

    def grade(self) -> Grade | None:
        """Return how disturbed the machine was in all blocks together."""
        return grade_noise([self._witness.finish()], self._timed_s)


class SmallSession:
    """One small model with its input bound; `profile` is the file name prefix of its profile files."""

    def __init__(self, model: bytes, feed: Mapping[str, Array], setting: LoadSettings, profile: str = "") -> None:
        import onnxruntime as ort  # after the process is pinned

        self._session, _, pinned = open_session(setting, model, profile=profile)
        if pinned == "core":
            isolation.pin_process(setting.cpus[:1])
        binding = self._session.io_binding()
        for name, array in feed.items():
            value = ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))
            binding.bind_ortvalue_input(name, value)
        for output in self._session.get_outputs():
            binding.bind_output(output.name, "cpu")
        self._binding = binding
        self.call: Callable[[], object] = lambda: self._session.run_with_iobinding(binding)
        self._stamps = Stamps()

    def times_s(self, seconds: float, min_calls: int = 3) -> list[float]:
        """Return the duration of each call; call for `seconds` and at least `min_calls` times."""
        taken: list[float] = []
        count, until = 1, perf_counter() + seconds
        while len(taken) < min_calls or perf_counter() < until:
            durations, elapsed_ns = self._stamps.block(rotate((self.call,)), count)
            taken.extend((durations / 1e9).tolist())
            count = max(1, min(4 * count, int(count * 2_000_000 / max(1, elapsed_ns))))
        return taken

    def best_s(self, max_s: float, watch: NoiseWatch, min_calls: int = 5) -> float:
        """Return the time of the quickest calls; stop when it no longer improves or at `max_s`."""
        taken: list[float] = []
        best, still = math.inf, 0
        until = perf_counter() + max_s
        watch.begin()
        while len(taken) < min_calls or (still < _STILL and perf_counter() < until):
            block = self.times_s(BLOCK_S, min_calls=1)
            watch.mark(block)
            taken += block
            found = float(np.quantile(taken, _BEST))
            still = still + 1 if found > (1 - _NEAR) * best else 0
            best = min(best, found)
        return float(np.quantile(taken, _BEST))

    def end_profiling(self) -> list[Run]:
        """Return the kernels of every run so far and delete the profile file."""
        return take_runs(self._session)


@dataclass(frozen=True, slots=True)
class Turn:
    """One block of calls of a session that alternates with another; `dropped` warm-up calls are not in `seconds`."""

    dropped: int
    seconds: tuple[float, ...]


def alternate(
    first: SmallSession,
    second: SmallSession,
    max_s: float,
    min_blocks: int = 5,
    *,
    enough: Callable[[Sequence[Turn], Sequence[Turn]], bool] = lambda _, __: False,
    watch: NoiseWatch | None = None,
) -> tuple[list[Turn], list[Turn]]:
    """Alternate blocks of both models until `enough` agrees or `max_s` passes; a disturbance then affects both.

    Make at least `min_blocks` blocks of each.
    """
    turns: tuple[list[Turn], list[Turn]] = ([], [])
    until = perf_counter() + max_s
    while len(turns[0]) < min_blocks or (perf_counter() < until and not enough(*turns)):
        pairs = ((first, turns[0]), (second, turns[1]))
        # Reverse every second pair, so that neither model always runs after the other.
        for alone, own in pairs if len(turns[0]) % 2 == 0 else reversed(pairs):
            begin, dropped = perf_counter(), 0
            while perf_counter() - begin < _SETTLING_S or dropped < 2:
                alone.call()
                dropped += 1
            if watch is not None:
                watch.skip()
            own.append(Turn(dropped, tuple(alone.times_s(BLOCK_S))))
            if watch is not None:
                watch.mark(own[-1].seconds)
    return turns


def time_ratios(first: Sequence[Turn], second: Sequence[Turn]) -> list[float]:
    """Return the second model's time over the first's, turn by turn."""
    pairs = zip(first, second, strict=True)
    return [float(np.median(other.seconds) / np.median(one.seconds)) for one, other in pairs]


SEED = 20260101
_TILE = 1 << 18


def draw(shape: Sequence[int], seed: int = SEED, zeros: float = 0.0) -> Array:
    """Return pseudo-random weights; repeat a small block, as drawing hundreds of megabytes would take seconds."""
    size = int(np.prod(shape))
    random = np.random.default_rng(seed)
    block = random.standard_normal(min(size, _TILE), dtype=np.float32) / np.float32(max(1, shape[-1]) ** 0.5)
    if zeros:
        block[random.random(block.size) < zeros] = 0.0
    return np.resize(block, size).reshape(tuple(shape))


def matmul(rows: int, inner: int, columns: int, zeros: float = 0.0) -> bytes:
    """Build x (rows, inner) times a constant matrix."""
    weight = numpy_helper.from_array(draw((inner, columns), zeros=zeros), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="matmul")
    return build([node], [("x", TensorProto.FLOAT, (rows, inner))], [("y", TensorProto.FLOAT)], [weight])


def matmul_integer(rows: int, inner: int, columns: int) -> bytes:
    """Build x (rows, inner) of uint8 times a constant int8 matrix, to int32."""
    random = np.random.default_rng(SEED)
    weight = numpy_helper.from_array(random.integers(-127, 128, (inner, columns)).astype(np.int8), "w")
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"], name="matmul")
    return build([node], [("x", TensorProto.UINT8, (rows, inner))], [("y", TensorProto.INT32)], [weight])


def add(size: int) -> bytes:
    """Build x + z, two one-dimensional inputs."""
    inputs = [(name, TensorProto.FLOAT, (size,)) for name in ("x", "z")]
    node = helper.make_node("Add", ["x", "z"], ["y"], name="add")
    return build([node], inputs, [("y", TensorProto.FLOAT)], [])


def sums(rows: int, columns: int) -> bytes:
    """Build the row sums of the input x."""
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], name="sums")
    axes = numpy_helper.from_array(np.asarray([1], np.int64), "axes")
    return build([node], [("x", TensorProto.FLOAT, (rows, columns))], [("y", TensorProto.FLOAT)], [axes])


def conv(channels: int, size: int, zeros: float = 0.0) -> bytes:
    """Build a 3x3 convolution over (1, channels, size, size)."""
    weight = numpy_helper.from_array(draw((channels, channels, 3, 3), zeros=zeros), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])
    return build([node], [("x", TensorProto.FLOAT, (1, channels, size, size))], [("y", TensorProto.FLOAT)], [weight])


def nothing() -> bytes:
    """Build an Identity of one number; its time is the cost of a call."""
    node = helper.make_node("Identity", ["x"], ["y"], name="nothing")
    return build([node], [("x", TensorProto.FLOAT, (1, 1))], [("y", TensorProto.FLOAT)], [])


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[int]]],
    outputs: Sequence[tuple[str, int]],
    weights: Sequence[onnx.TensorProto],
    opsets: Sequence[onnx.OperatorSetIdProto] | None = None,
) -> bytes:
    """Serialize a model; its outputs need only element types."""
    graph = helper.make_graph(
        list(nodes),
        "alone",
        [helper.make_tensor_value_info(name, kind, list(shape)) for name, kind, shape in inputs],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
        list(weights),
    )
    wanted = opsets or [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made: bytes = helper.make_model(graph, opset_imports=list(wanted), ir_version=10).SerializeToString()
    return made

"""A small model in a session of its own, called or profiled, by itself or in turn with another one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tuibench.core.cell import Grade
from tuibench.engines.onnxruntime import make_options
from tuibench.engines.protocol import Setting
from tuibench.host.noise import Witness
from tuibench.measure import isolation
from tuibench.measure.sync import Stamps, rotate
from tuibench.profiles.event import Run, read_events, split_runs
from tuibench.stats.grading import grade_noise

Array = np.ndarray[Any, Any]
BLOCK_S = 0.02
_BEST, _NEAR, _STILL = 0.05, 0.01, 4
"""The quickest are a twentieth of all; so many blocks in a row that are within so much of them tell no more."""
_SETTLING_S = 0.003
"""So long the threads of another session may still look for work."""


def is_of_engine(error: Exception) -> bool:
    """Whether it is an engine's no to what it was given, and not a mistake of ours that happened on the way to it."""
    return type(error).__module__.startswith("onnxruntime") or type(error) is RuntimeError


class Watch:
    """A witness over many short measurements; what lies between them is nobody's."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._witness = Witness(cpus)
        self._witness.start()
        self._timed_s = 0.0

    def begin(self) -> None:
        """Another session is there; what its threads waited for until now, each other among it, belongs to none."""
        self._witness.meet()

    def skip(self) -> None:
        """What was done since the last block belongs to none."""
        self._witness.skip()

    def mark(self, seconds: Sequence[float]) -> None:
        """A block is over; `seconds` are of its calls."""
        self._witness.mark()
        self._timed_s += sum(seconds)

    def grade(self) -> Grade | None:
        """How disturbed the machine was in all of them."""
        return grade_noise([self._witness.finish()], self._timed_s)


class Alone:
    """One small model with its input in place; `profile` is what the names of its profile files begin with."""

    def __init__(self, model: bytes, feed: Mapping[str, Array], setting: Setting, profile: str | None = None) -> None:
        import onnxruntime as ort  # after the process is pinned

        options, pinned = make_options(setting)
        if profile is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile
        self._session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        if pinned == "core":
            isolation.pin_thread(setting.cpus[0])
        binding = self._session.io_binding()
        for name, array in feed.items():
            value = ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))
            binding.bind_ortvalue_input(name, value)
        for output in self._session.get_outputs():
            binding.bind_output(output.name, "cpu")
        self._binding = binding
        self.call: Callable[[], object] = lambda: self._session.run_with_iobinding(binding)
        self._stamps = Stamps()

    def times_s(self, seconds: float, least: int = 3) -> list[float]:
        """What each call takes, for so long, and for so many calls at least."""
        taken: list[float] = []
        count, until = 1, perf_counter() + seconds
        while len(taken) < least or perf_counter() < until:
            durations, elapsed_ns = self._stamps.block(rotate((self.call,)), count)
            taken.extend((durations / 1e9).tolist())
            count = max(1, min(4 * count, int(count * 2_000_000 / max(1, elapsed_ns))))
        return taken

    def best_s(self, max_s: float, watch: Watch, least: int = 5) -> float:
        """What the quickest calls take: until more of them were no quicker for a while, or the time is over."""
        taken: list[float] = []
        best, still = math.inf, 0
        until = perf_counter() + max_s
        watch.begin()
        while len(taken) < least or (still < _STILL and perf_counter() < until):
            block = self.times_s(BLOCK_S, least=1)
            watch.mark(block)
            taken += block
            found = float(np.quantile(taken, _BEST))
            still = still + 1 if found > (1 - _NEAR) * best else 0
            best = min(best, found)
        return float(np.quantile(taken, _BEST))

    def end_profiling(self) -> list[Run]:
        """The kernels of every run so far; the file is gone then."""
        path = self._session.end_profiling()
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                return list(split_runs(read_events(lines)))
        finally:
            os.unlink(path)


@dataclass(frozen=True, slots=True)
class Turn:
    """One block of calls of a session that takes turns with another: the first of them are not to be counted."""

    dropped: int
    seconds: tuple[float, ...]


def take_turns(
    first: Alone,
    second: Alone,
    max_s: float,
    least: int = 5,
    *,
    enough: Callable[[Sequence[Turn], Sequence[Turn]], bool] = lambda _, __: False,
    watch: Watch | None = None,
) -> tuple[list[Turn], list[Turn]]:
    """Blocks of both in turn until they are enough or the time is over, so that what disturbs one disturbs the other.

    `least` of each are made whatever they tell.
    """
    turns: tuple[list[Turn], list[Turn]] = ([], [])
    until = perf_counter() + max_s
    while len(turns[0]) < least or (perf_counter() < until and not enough(*turns)):
        pairs = ((first, turns[0]), (second, turns[1]))
        # In reverse every other time, so that neither always comes after the other.
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


def turn_ratios(first: Sequence[Turn], second: Sequence[Turn]) -> list[float]:
    """The time of the second over that of the first, turn by turn."""
    pairs = zip(first, second, strict=True)
    return [float(np.median(other.seconds) / np.median(one.seconds)) for one, other in pairs]

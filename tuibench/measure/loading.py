"""Load a model and put its inputs in place, by the least costly I/O class that the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter_ns

from tuibench.core.cell import Asked
from tuibench.engines.protocol import IO_CLASSES, Bound, Engine, Feed, IoUnavailable, Session, Setting


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session and what it took to get it."""

    session: Session
    load_ms: float


def setting_for(
    asked: Asked, model_path: str, *, threads: int, streams: int, cpus: tuple[int, ...], work_dir: str
) -> Setting:
    """The engine's view of a cell."""
    return Setting(
        model_path=model_path,
        threads=threads,
        streams=streams,
        cpus=cpus,
        pin=asked.pin,
        precision=asked.precision,
        scenario=asked.scenario,
        work_dir=work_dir,
        options=dict(asked.options),
    )


def load(engine: Engine, setting: Setting) -> Loaded:
    """Load and time it."""
    begin = perf_counter_ns()
    session = engine.load(setting)
    return Loaded(session, (perf_counter_ns() - begin) / 1e6)


def bind(session: Session, feeds: Sequence[Feed], asked: str | None, supported: Sequence[str]) -> Bound:
    """Bind in the asked class, or in the first of the classes that works; a call of each proves that it does."""
    wanted = [c for c in IO_CLASSES if c in supported] if asked is None else [asked]
    last: IoUnavailable | None = None
    for io in wanted:
        try:
            return session.bind(feeds, io)
        except IoUnavailable as error:
            last = error
    raise last or IoUnavailable("the engine offers no way to pass inputs")


def next_class(io: str) -> str | None:
    """The class after `io`, for a binding that turned out not to hold for every sample."""
    index = IO_CLASSES.index(io) + 1
    return IO_CLASSES[index] if index < len(IO_CLASSES) else None


def split_threads(cpus: Sequence[int], streams: int) -> list[tuple[int, ...]]:
    """CPUs for each stream: shares that differ by one at most; more streams than CPUs share them in turn."""
    if streams >= len(cpus):
        return [(cpus[i % len(cpus)],) for i in range(streams)]
    base, extra = divmod(len(cpus), streams)
    shares, begin = [], 0
    for i in range(streams):
        end = begin + base + (1 if i < extra else 0)
        shares.append(tuple(cpus[begin:end]))
        begin = end
    return shares

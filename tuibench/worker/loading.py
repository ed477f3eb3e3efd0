"""Loads a model and binds its inputs in the cheapest I/O class that the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter_ns

from tuibench.core.cell import Asked
from tuibench.core.engine import IO_CLASSES
from tuibench.core.value import dataclass
from tuibench.engines.protocol import Bound, Engine, Feed, IoUnavailable, LoadSettings, Session
from tuibench.worker import isolation


def setting_for(
    asked: Asked,
    model_path: str,
    *,
    one_at_a_time: bool,
    threads: int,
    streams: int,
    cpus: tuple[int, ...],
    work_dir: str,
    weight_types: tuple[str, ...],
    nodes: tuple[tuple[int, ...], ...] = (),
    scheduler: str = "",
) -> LoadSettings:
    """Return the engine's settings for a cell."""
    return LoadSettings(
        model_path=model_path,
        threads=threads,
        streams=streams,
        cpus=cpus,
        pin=asked.pin,
        precision=asked.precision,
        one_at_a_time=one_at_a_time,
        work_dir=work_dir,
        nodes=nodes,
        scheduler=scheduler.rpartition(".")[2],
        options=dict(asked.options),
        weight_types=weight_types,
    )


def with_shapes(setting: LoadSettings, feed: Feed) -> LoadSettings:
    """Return the setting with the shapes of the feed, for engines that need fixed shapes."""
    return replace(setting, shapes={n: tuple(v.shape) for n, v in feed.items() if hasattr(v, "shape")})


def classes(supported: Sequence[str]) -> list[str]:
    """Return the I/O classes that an engine supports, cheapest first."""
    return [c for c in IO_CLASSES if c in supported]


def bind(session: Session, feeds: Sequence[Feed], asked: str | None, supported: Sequence[str]) -> Bound:
    """Bind in the requested class, or in the first class that works."""
    last: IoUnavailable | None = None
    for io in classes(supported) if asked is None else [asked]:
        try:
            return session.bind(feeds, io)
        except IoUnavailable as error:
            last = error
    raise last or IoUnavailable("no_way_to_pass_inputs")


def time_first_ns(session: Session, feeds: Sequence[Feed], supported: Sequence[str]) -> float:
    """Time the first inference, in the simplest I/O class that the input types allow."""
    try:
        plain = bind(session, feeds[:1], "call", supported)
    except IoUnavailable:
        plain = bind(session, feeds[:1], None, supported)
    begin = perf_counter_ns()
    plain.calls[0]()
    return float(perf_counter_ns() - begin)


@dataclass(frozen=True, slots=True)
class Share:
    """CPUs and threads of one stream."""

    cpus: tuple[int, ...]
    threads: int


def near_cpus(cpus: tuple[int, ...], nodes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return all CPUs of the NUMA nodes that `cpus` lie on; `cpus` itself if the nodes are unknown."""
    return tuple(cpu for node in nodes if set(node) & set(cpus) for cpu in node) or cpus


def pin_caller(engine: Engine, setting: LoadSettings) -> None:
    """Pin the calling thread, which is one of the engine's threads, as the engine pins the others."""
    if engine.capabilities.pins_caller and setting.pin == "core":
        isolation.pin_process(setting.cpus[:1])
    elif engine.capabilities.pins_caller and setting.pin == "numa":
        isolation.pin_process(near_cpus(setting.cpus[:1], setting.nodes))


def divide_cpus(cpus: tuple[int, ...], streams: int, pin: str, nodes: tuple[tuple[int, ...], ...] = ()) -> list[Share]:
    """Divide the CPUs among streams; thread counts differ by one at most. Without pinning, each stream gets all CPUs.

    Pinned to NUMA nodes, it gets all CPUs of its nodes. More streams than CPUs share them in turn.
    """
    if streams >= len(cpus):
        shares = [Share((cpus[i % len(cpus)],), 1) for i in range(streams)]
    else:
        base, extra = divmod(len(cpus), streams)
        shares, begin = [], 0
        for i in range(streams):
            end = begin + base + (1 if i < extra else 0)
            shares.append(Share(cpus[begin:end], end - begin))
            begin = end
    if pin == "core":
        return shares
    return [Share(near_cpus(share.cpus, nodes) if pin == "numa" else cpus, share.threads) for share in shares]

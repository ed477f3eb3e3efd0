"""DeepSparse 1.8.0, which skips zeros in weights; in an interpreter of its own with numpy 1."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

from tuibench.core.model import Port
from tuibench.core.reason import Reason, error_text
from tuibench.engines.apart import import_without_init, read_pinning, require_call, require_numpy_1, require_strides
from tuibench.engines.error_words import engine_words
from tuibench.engines.protocol import Bound, Capabilities, EngineRefusal, Feed, LoadSettings, Queue, ReadBack

CAPABILITIES = Capabilities(
    name="deepsparse",
    precisions=("f32",),
    stream_kinds=("queue",),
    io_classes=("call",),
    serves_nodes=True,
)
_NO_NUMBERS = "OSU"
"""Kinds of arrays that hold strings."""


def make() -> DeepSparseEngine:
    """Return the engine; `engines/factory.py` calls it."""
    return DeepSparseEngine()


def import_library() -> tuple[Any, Any]:
    """Return the compiled library and its description of the CPU; the vendor's own package would report its use."""
    os.environ["NM_DISABLE_ANALYTICS"] = "1"
    require_numpy_1("deepsparse")
    cpu = import_without_init("deepsparse", "cpu").cpu_architecture()
    return import_without_init("deepsparse", "lib").init_deepsparse_lib(), cpu


class DeepSparseEngine:
    """Engine with the vendor's own schedulers."""

    capabilities = CAPABILITIES

    def environment(self, setting: LoadSettings) -> dict[str, str]:
        """Return the variables that bind threads, and that keep the library from changing the model's batch."""
        return {
            "NM_DISABLE_ANALYTICS": "1",
            "NM_DISABLE_BATCH_OVERRIDE": "1",
            "NM_BIND_THREADS_TO_CORES": str(int(setting.pin == "core")),
            "NM_BIND_THREADS_TO_SOCKETS": str(int(setting.pin == "numa")),
        }

    def start(self) -> str:
        """Load the library without the vendor's package and return its version."""
        import_library()
        return str(import_without_init("deepsparse", "generated_version").version)

    def load(self, setting: LoadSettings) -> DeepSparseSession:
        """Compile the model; raise EngineRefusal if DeepSparse rejects it."""
        CAPABILITIES.require_precision(setting.precision)
        library, cpu = import_library()
        scheduler = setting.scheduler or ("single_stream" if setting.one_at_a_time else "multi_stream")
        # Elastic requests are distributed over as many streams as there are NUMA nodes, which the library counts.
        streams = {"single_stream": 1, "multi_stream": setting.streams}.get(scheduler, 0)
        before = _list_threads()
        try:
            network = library.deepsparse_engine(setting.model_path, 1, setting.threads, streams, scheduler, None, None)
            return DeepSparseSession(network, cpu, setting, scheduler, _list_threads() - before)
        except RuntimeError as error:
            raise EngineRefusal.from_reason(_explain(error)) from error


class DeepSparseSession:
    """One compiled model."""

    def __init__(self, network: Any, cpu: Any, setting: LoadSettings, scheduler: str, own: Collection[int]) -> None:
        """Read back a compiled network; `own` are the threads that it has started."""
        self._network = network
        self._setting = setting
        self._has_run = False
        self._inputs = _read_ports(network.input_names(), network.input_dims)
        self._outputs = _read_ports(network.output_names(), network.output_dims)
        self._back = ReadBack(
            precision="f32",
            # With one core it starts no thread, because the caller computes; with streams more than compute at a time.
            threads=min(setting.threads, max(1, len(own))),
            streams=int(network.num_streams()),
            pinned=read_pinning(own, setting),
            details={"scheduler": scheduler, "isa": str(cpu.isa), "vnni": "yes" if cpu.vnni else "no"},
            supported=round(float(network.fraction_of_supported_ops()), 4),
        )

    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs in the model's order; the library does not tell their types."""
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        """Return the outputs in the model's order."""
        return self._outputs

    def bind(self, feeds: Sequence[Feed], io: str) -> Bound:
        """Bind the samples as lists of arrays; the library copies inputs and makes new outputs in each call."""
        require_call(io)
        run = self._network.execute_list_out if self._has_run else self._run_first
        calls = tuple(partial(run, self._arrays(feed)) for feed in feeds)
        return Bound(io, calls, partial(self._fetch, calls), (self._network,))

    def queue(self, feeds: Sequence[Feed], io: str) -> Queue:
        """Return threads that call the one network, whose scheduler divides them among its cores."""
        return DeepSparseQueue(self.bind(feeds, io).calls, self._setting.streams)

    def read_back(self) -> ReadBack:
        """Return the settings in use."""
        return self._back

    def close(self) -> None:
        """Free the network; bound calls keep their own part of it until they are dropped."""
        self._network = None

    def _arrays(self, feed: Feed) -> list[Any]:
        import numpy as np

        missing = [port.name for port in self._inputs if port.name not in feed]
        if missing:
            raise EngineRefusal("input_not_given", name=missing[0])
        arrays = [np.ascontiguousarray(feed[port.name]) for port in self._inputs]
        for port, array in zip(self._inputs, arrays, strict=True):
            if array.dtype.kind in _NO_NUMBERS:
                raise EngineRefusal(
                    "unsupported_port_type", engine="deepsparse", role="input", name=port.name, type="string"
                )
        # The library compares types by identity, and the type of an array may be an equal but other object.
        return [array.view(np.dtype(array.dtype.name)) for array in arrays]

    def _run_first(self, arrays: list[Any]) -> list[Any]:
        """Run for the first time, when types and outputs are checked."""
        try:
            outputs: list[Any] = self._network.execute_list_out(arrays)
        except RuntimeError as error:
            raise EngineRefusal.from_reason(_explain(error)) from error
        for port, output in zip(self._outputs, outputs, strict=True):
            require_strides("deepsparse", port.name, output)
        self._has_run = True
        return outputs

    def _fetch(self, calls: Sequence[Callable[[], Any]], sample: int) -> dict[str, Any]:
        return {port.name: array for port, array in zip(self._outputs, calls[sample](), strict=True)}


def _explain(error: RuntimeError) -> Reason:
    said = engine_words(error, 2000).removeprefix("NM: error: ").strip()
    return error_text(said)


def _list_threads() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}


def _read_ports(names: Sequence[str], read_dims: Callable[[], Sequence[Sequence[int] | None]]) -> tuple[Port, ...]:
    try:
        shapes = read_dims()
    except RuntimeError:  # of a scalar it cannot tell the dims, but it runs it
        shapes = [None] * len(names)
    ports = zip(names, shapes, strict=True)
    return tuple(Port(str(name), "tensor", "", None if shape is None else tuple(shape)) for name, shape in ports)


class DeepSparseQueue:
    """One thread per stream; all run at the same time, and each calls with one sample after the other."""

    def __init__(self, calls: Sequence[Callable[[], object]], streams: int) -> None:
        self._calls = calls
        self._streams = streams

    def run(self, until_ns: int, starts: Any, ends: Any) -> int:
        """Run every stream until `until_ns` or until its part of the arrays is full; return the number of requests."""
        room = min(len(starts), len(ends)) // self._streams
        counts = [0] * self._streams
        errors: list[BaseException] = []

        def serve(stream: int) -> None:
            begin = stream * room
            try:
                counts[stream] = run_stream(
                    self._calls, stream, until_ns, starts[begin : begin + room], ends[begin : begin + room]
                )
            except BaseException as error:  # raised again by the waiting thread
                errors.append(error)

        threads = [threading.Thread(target=serve, args=(stream,), daemon=True) for stream in range(self._streams)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return _close_gaps(starts, ends, room, counts)

    def close(self) -> None:
        """Release the calls."""
        self._calls = ()


def run_stream(calls: Sequence[Callable[[], object]], first: int, until_ns: int, starts: Any, ends: Any) -> int:
    """Call with each sample in turn, from `first` on; return the number of calls."""
    clock = perf_counter_ns
    count, most, samples = 0, len(starts), len(calls)
    now = clock()
    while count < most and now < until_ns:
        starts[count] = now
        calls[(first + count) % samples]()
        now = ends[count] = clock()
        count += 1
    return count


def _close_gaps(starts: Any, ends: Any, room: int, counts: Sequence[int]) -> int:
    """Move the stamps of all streams together, because each stream wrote to its own part."""
    total = counts[0]
    for stream in range(1, len(counts)):
        begin, count = stream * room, counts[stream]
        for stamps in (starts, ends):
            stamps[total : total + count] = stamps[begin : begin + count]
        total += count
    return total

"""One stream in its own process, for models so short that threads would wait for each other's interpreter lock."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter_ns, process_time_ns
from typing import Any

from tuibench.core.cell import Asked, Noise
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason
from tuibench.core.record import from_plain, to_plain
from tuibench.core.value import dataclass
from tuibench.engines import factory
from tuibench.engines.error_words import exception_reason
from tuibench.engines.protocol import Engine, LoadSettings
from tuibench.host.noise import Witness, count_disturbed
from tuibench.worker import isolation, loading
from tuibench.worker.job import receive, send
from tuibench.worker.start import start_command

_LEAD_NS = 8_000_000
"""Time for every stream to receive a part and to read the machine's state before it begins."""


@dataclass(frozen=True, slots=True)
class StreamJob:
    """Input of one stream's process."""

    asked: Asked
    model_path: str
    bundle: str
    cpus: tuple[int, ...]
    threads: int
    io: str
    work_dir: str
    stamps_path: str
    parent: int
    memory_room_bytes: int | None
    memory_limit_bytes: int | None
    weight_types: tuple[str, ...]
    nodes: tuple[tuple[int, ...], ...] = ()


class ProcessStreams:
    """Starts the processes one after the other and releases them at the same instant."""

    def __init__(self, jobs: Sequence[StreamJob], before_each: Callable[[], None]) -> None:
        self._jobs = jobs
        self._children: list[subprocess.Popen[bytes]] = []
        self.reports: list[dict[str, Any]] = []
        self.threads = 0
        try:
            for job in jobs:
                before_each()
                self._start(job)
        except BaseException:
            for child in self._children:
                # An engine may hang at its end, and the reason is known already.
                child.kill()
            self.close()
            raise

    def _start(self, job: StreamJob) -> None:
        child = subprocess.Popen(
            start_command("tuibench.worker.stream_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._children.append(child)
        self._tell(child, {"job": to_plain(job)})
        self.threads += int(self._ask(child)["threads"])

    def run(self, duration_ns: int, most: int) -> list[tuple[Any, Any]]:
        """Run every stream for a time; return (starts, ends) of each."""
        import numpy as np

        lead_ns = _LEAD_NS + 500_000 * len(self._children)
        plan = {"begin_ns": perf_counter_ns() + lead_ns, "duration_ns": duration_ns, "most": most}
        for child in self._children:
            self._tell(child, plan)
        self.reports = [self._ask(child) for child in self._children]
        parts = []
        for job, report in zip(self._jobs, self.reports, strict=True):
            stamps = np.fromfile(job.stamps_path, dtype=np.int64, count=report["count"] + 1)
            parts.append((stamps[:-1], stamps[1:]))
        return parts

    def close(self) -> None:
        """End every process and wait for it."""
        for child in self._children:
            if child.stdin is not None:
                child.stdin.close()
            if child.stdout is not None:
                child.stdout.close()
            child.wait()

    def _tell(self, child: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        if child.stdin is None:
            raise RuntimeError("the stream's process has no channel")
        send(child.stdin.fileno(), message)

    def _ask(self, child: subprocess.Popen[bytes]) -> dict[str, Any]:
        if child.stdout is None:
            raise RuntimeError("the stream's process has no channel")
        try:
            answer = receive(child.stdout.fileno())
        except EOFError:
            raise TuibenchError("stream_ended", exit_code=child.wait()) from None
        if "error" in answer:
            raise TuibenchError.from_reason(from_plain(Reason, answer["error"]))
        return answer


def main() -> None:
    """Serve one stream until the worker closes the channel."""
    inbox, outbox = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    job = from_plain(StreamJob, receive(inbox)["job"])
    try:
        stream = Stream(job)
        send(outbox, {"threads": stream.threads})
        while True:
            try:
                plan = receive(inbox)
            except EOFError:
                return
            send(outbox, stream.run(**plan))
    except Exception as error:  # process boundary: the worker reports it as the failure of the cell
        send(outbox, {"error": to_plain(exception_reason(error))})


class Stream:
    """The loaded model of one stream."""

    def __init__(self, job: StreamJob) -> None:
        engine, setting = self._settle(job)

        # Import numpy only now: it reads the thread variables on import.
        from tuibench.worker.bundle import read_bundle
        from tuibench.worker.execution import MemoryLog
        from tuibench.worker.sync import rotate

        feeds = read_bundle(job.bundle)
        self._job = job
        self._memory = MemoryLog()
        before = isolation.count_threads()
        session = engine.load(loading.with_shapes(setting, feeds[0]))
        bound = session.bind(feeds, job.io)
        if bound.copied:
            for feed in feeds:
                feed.clear()
        loading.pin_caller(engine, setting)
        self._keep = (session, bound)
        self._calls = rotate(bound.calls)
        bound.calls[0]()
        self.threads = isolation.count_threads() - before + 1
        self._memory.note("first")

    def _settle(self, job: StreamJob) -> tuple[Engine, LoadSettings]:
        """Prepare the process for a measurement, and import the engine."""
        isolation.die_with_parent(job.parent)
        isolation.ignore_interrupts()
        isolation.pin_process(job.cpus)
        engine = factory.make(job.asked.engine)
        setting = loading.setting_for(
            job.asked,
            job.model_path,
            one_at_a_time=False,
            threads=job.threads,
            streams=1,
            cpus=job.cpus,
            work_dir=job.work_dir,
            weight_types=job.weight_types,
            nodes=job.nodes,
        )
        isolation.apply_environment({**isolation.thread_variables(job.threads), **engine.environment(setting)})
        engine.start()
        isolation.limit_memory(job.memory_room_bytes, job.threads, job.memory_limit_bytes)
        return engine, setting

    def run(self, begin_ns: int, duration_ns: int, most: int) -> dict[str, Any]:
        """Run one part, started at the instant given to all streams."""
        import gc

        import numpy as np

        from tuibench.worker.streams import run_until

        began = process_time_ns()
        stamps = np.zeros(most + 1, dtype=np.int64)
        witness = Witness(self._job.cpus)
        gc.collect()
        gc.freeze()
        gc.disable()
        witness.start()
        while perf_counter_ns() < begin_ns:
            pass
        witness.skip()
        cpu_begin = process_time_ns()
        count = run_until(self._calls, stamps.data, begin_ns + duration_ns, most)
        cpu_s = (process_time_ns() - cpu_begin) / 1e9
        witness.mark()
        noise = witness.finish()
        stamps[: count + 1].tofile(self._job.stamps_path)
        told = {"count": count, "cpu_s": cpu_s, "noise": to_plain(noise), "memory": self._memory.result()}
        return {**told, "whole_ns": process_time_ns() - began}


def merge_noise(whole: Noise, reports: Sequence[dict[str, Any]]) -> Noise:
    """Merge the noise of all streams into the machine's: sums, or the worst value if a sum is meaningless."""
    parts = [from_plain(Noise, r["noise"]) for r in reports]

    def total(values: Sequence[int | None]) -> int | None:
        known = [v for v in values if v is not None]
        return sum(known) if len(known) == len(values) else None

    on_cpu, others = total([p.on_cpu_ns for p in parts]), whole.others_ns
    if others is not None:
        others = max(0, others - sum(int(r["whole_ns"]) for r in reports))

    def worst(values: Sequence[float | None]) -> float | None:
        known = [v for v in values if v is not None]
        return max(known, key=abs) if known else None

    return replace(
        whole,
        waiting_ns=total([p.waiting_ns for p in parts]),
        on_cpu_ns=on_cpu,
        steal_share=worst([p.steal_share for p in parts]),
        throttled_us=None if all(p.throttled_us is None for p in parts) else max(p.throttled_us or 0 for p in parts),
        canary_drift=worst([p.canary_drift for p in parts]),
        involuntary_switches=total([p.involuntary_switches for p in parts]),
        disturbed_blocks=count_disturbed(sum(p.disturbed_blocks for p in parts), others, on_cpu),
        others_ns=others,
        blocks=sum(p.blocks for p in parts),
        reason=next((p.reason for p in parts if p.reason), None),
    )

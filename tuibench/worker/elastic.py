"""Elastic requests: each goes to the NUMA node with the fewest in flight. Emulated, except for engines that do it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from tuibench.engines.protocol import Session
from tuibench.host.noise import Witness
from tuibench.worker import isolation, streams
from tuibench.worker.bundle import read_bundle
from tuibench.worker.drive import Outcome, Ready
from tuibench.worker.loading import Share, near_cpus
from tuibench.worker.sync import rotate

NodeLock = AbstractContextManager[Any]
"""A lock for one request at a time on a node, or a null context for engines that need none."""
EMULATED = "emulated"
"""Kind of streams whose requests this module distributes."""


class Balance:
    """Counts the requests in flight on each node."""

    def __init__(self, nodes: int) -> None:
        self._busy = [0] * nodes
        self._lock = threading.Lock()

    def take(self, current: int) -> int:
        """Begin a request on the node with the fewest; on a tie prefer `current`, the node of the caller."""
        with self._lock:
            node = min(range(len(self._busy)), key=lambda one: (self._busy[one], one != current, one))
            self._busy[node] += 1
        return node

    def give_back(self, node: int) -> None:
        """End a request."""
        with self._lock:
            self._busy[node] -= 1


class Client:
    """One thread that sends one request after the other."""

    def __init__(
        self, ready: Ready, sessions: Sequence[Session], balance: Balance, locks: Sequence[NodeLock], home: int
    ) -> None:
        self._ready, self._sessions, self._balance, self._locks = ready, sessions, balance, locks
        self._node = home
        self._keep: list[object] = []

    def make(self) -> Iterator[Callable[[], object]]:
        """Bind the samples on each node, because a binding serves one request at a time; return the calls."""
        rotations = []
        for session in self._sessions:
            bound = session.bind(read_bundle(self._ready.job.bundle), self._ready.bound.io)
            bound.calls[0]()
            self._keep.append(bound)
            rotations.append(rotate(bound.calls))
        self._move(self._node)

        def call() -> None:
            node = self._balance.take(self._node)
            if node != self._node:
                self._move(node)
            try:
                with self._locks[node]:
                    next(rotations[node])()
            finally:
                self._balance.give_back(node)

        return iter(lambda: call, None)

    def _move(self, node: int) -> None:
        # The calling thread is one of the engine's threads, so it must be on the node.
        share = self._ready.shares[node]
        isolation.pin_process(near_cpus(share.cpus, self._ready.job.nodes))
        self._node = node


def drive(ready: Ready) -> Outcome:
    """Measure one instance per NUMA node under the clients of all nodes."""
    if ready.own_queue:
        return streams.drive(ready)
    job = ready.job
    latency_ns = streams.least_latency_ns(ready.bound.calls[0])
    before = isolation.count_threads() - ready.shares[0].threads + 1
    sessions = [ready.session, *(_load(ready, share) for share in ready.shares[1:])]
    isolation.pin_process(job.cpus)
    # Each calling thread has a pool of OpenMP on all cores, so only one request at a time may run on a node.
    pool_per_caller = "threads" not in ready.engine.capabilities.stream_kinds
    locks: list[NodeLock] = [threading.Lock() if pool_per_caller else nullcontext() for _ in sessions]
    balance, alone = Balance(len(sessions)), isolation.count_threads()
    clients = [Client(ready, sessions, balance, locks, index % len(sessions)) for index in range(job.streams)]
    driven = streams.ThreadStreams([client.make for client in clients])
    crowd = max(1.0, job.streams / len(sessions))
    try:
        # Clients beyond one per node only wait, so they are not counted.
        threads = isolation.count_threads() - before - (job.streams - len(sessions))
        if pool_per_caller:
            threads = _pool_threads(sessions, (isolation.count_threads() - alone) // job.streams)
        ready.enter_timed(latency_ns, crowd)
        outcome = streams.measure_streams(
            streams.thread_slices(driven),
            streams=job.streams,
            kind=EMULATED,
            latency_ns=latency_ns * crowd,
            warmup_s=job.warmup_s,
            timed_s=job.timed_s,
            witness=Witness(job.cpus, crowded=True),
            progress=ready.progress,
            after_warmup=ready.after_warmup,
            keep_all=job.keep_raw,
        )
    finally:
        driven.close()
    return replace(outcome, distinct=len(ready.bound.calls), threads=threads)


def _pool_threads(sessions: Sequence[Session], counted: int) -> int:
    """Return how many threads compute at the same time, with one client per node."""
    told = [session.read_back().threads for session in sessions]
    return sum(counted if one is None else one for one in told)


def _load(ready: Ready, share: Share) -> Session:
    """Load one more instance while this thread is on its node, so that the engine's threads inherit its CPUs."""
    ready.load_more()
    isolation.pin_process(share.cpus)
    return ready.engine.load(replace(ready.setting, cpus=share.cpus, threads=share.threads))

"""Facts of a model without measuring: costs by shapes, losses by weights; a child computes them, a cache keeps them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from tuibench.core.errors import HostBusy, ModelError, PhaseTimeout
from tuibench.core.machine import Places
from tuibench.core.profile import LEVELS, LOSS, SECONDS, CostProfile, LayerLoss, LossProfile
from tuibench.core.profile_facts import LossFacts, assemble_loss
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.kernel_files import Tree
from tuibench.runs.directory import make_private, make_scratch
from tuibench.runs.host_queue import hold_for_a_moment
from tuibench.runs.profile.cache import FileCache
from tuibench.runs.resumption import hash_inputs
from tuibench.runs.task import Cancelled, StopSwitch
from tuibench.services.detached_runner import directory_error, passing_directory, sweep_temporary
from tuibench.services.models import ask_child, inspect

T = TypeVar("T")

_FORM = 8
"""Version of the counting method; a change invalidates every cached result."""
_PLACE = "theory"
_COST_S, _WEIGHTS_S = 120.0, 120.0
_RUN_S = 30.0
"""Limit of the one run for shapes, which blocks other benchmarks; an endless loop gains nothing from more."""
_LOOP_S = 2.5
"""Time limit for running a model with loops, for shapes alone."""
_PARTS = ("logs", "inputs", "work")


class _Unrun(Exception):
    """A model was not run; `costs` has what can be computed without."""

    def __init__(self, costs: CostProfile, lasts: bool) -> None:
        """Set `lasts` if another run would fail as well."""
        super().__init__()
        self.costs = costs
        self.lasts = lasts


class Theory:
    """Asks children and caches their answers, by the content of the model and its inputs."""

    def __init__(self, places: Places, host_lock: str) -> None:
        """`host_lock` names the lock that serializes benchmarks of this machine."""
        self._places = places
        self._host_lock = host_lock
        self._unrun: dict[tuple[str, float], CostProfile] = {}
        """Inferred costs of models whose run failed or had too little time, with the factor of its time limit."""
        self._last: tuple[str, Any] = ("", None)
        """The last answer: forms ask at every keystroke."""
        self._hashed: dict[object, str | None] = {}
        """Checksums of input files, by their stamps."""
        self._idle = threading.Condition()
        self._stops: dict[StopSwitch, threading.Thread] = {}
        """One switch per running child, with the thread that waits for it; changed only under `_idle`."""
        self._closed = False

    def costs(self, spec: BenchmarkSpec) -> CostProfile:
        """Return the cost of each node at the requested batch and dims; raise ModelError if it cannot be computed."""
        return self.count(spec)[0]

    def count(self, spec: BenchmarkSpec) -> tuple[CostProfile, str]:
        """Return the same with the model's checksum."""
        sha256 = self.sha256(spec)
        return self._costs_of(spec, _digest("costs", sha256, self._feeding(spec))), sha256

    def _costs_of(self, spec: BenchmarkSpec, name: str) -> CostProfile:
        asked = name, spec.limits.timeout_scale
        if asked not in self._unrun:
            try:
                return self._kept(name, lambda plain: from_plain(CostProfile, plain), lambda: self._ask_costs(spec))
            except _Unrun as poorer:
                if not poorer.lasts:
                    return poorer.costs
                # For this session alone: the next run may succeed.
                self._unrun[asked] = poorer.costs
        return self._unrun[asked]

    def sha256(self, spec: BenchmarkSpec) -> str:
        """Return the checksum of the model's content."""
        return inspect(spec.models[0], self._places, spec.limits.timeout_scale).sha256

    def known_costs(self, spec: BenchmarkSpec, sha256: str) -> CostProfile | None:
        """Return the cached costs, if any; start nothing."""
        try:
            fed = self._feeding(spec)
        except OSError:
            return None  # the input file is gone
        return self._known(_digest("costs", sha256, fed), lambda plain: from_plain(CostProfile, plain))

    def weights(self, spec: BenchmarkSpec) -> LossProfile:
        """Return the approximated loss profile."""
        levels = list(spec.profile.levels if spec.profile is not None else LEVELS)
        name = self._name("weights", spec, levels)
        layers = self._kept(name, _to_layers, lambda: _to_layers(self._ask("weights", spec, {"levels": levels})))
        return assemble_loss(layers, None, LossFacts(levels=tuple(levels)))

    def _ask_costs(self, spec: BenchmarkSpec) -> CostProfile:
        """Count by one run of the model under the host lock, so that no measurement is disturbed."""
        try:
            with hold_for_a_moment(self._host_lock):
                found = from_plain(CostProfile, self._ask("cost", spec, {}))
            if found.bound is not None and found.bound.code == SECONDS:
                # A busy machine may have caused it, so the cache must not keep it.
                raise _Unrun(found, lasts=True)
            return found
        except HostBusy as error:
            why, lasts = because("not_run_as", why=error.reason), False
        except (ModelError, PhaseTimeout) as error:
            # A model that cannot run can still be analysed statically.
            why, lasts = because("unoptimized_failed", why=error.reason), True
        raise _Unrun(from_plain(CostProfile, self._ask("cost", spec, {"static": to_plain(why)})), lasts)

    def _ask(self, task: str, spec: BenchmarkSpec, more: Mapping[str, Any]) -> Any:
        source, tree = spec.models[0], Tree()
        with self._scratch() as (run_dir, stop):
            for part in _PARTS:
                make_private(run_dir / part)
            request = {"path": source.path, "run_dir": str(run_dir), "spec": to_plain(spec), "point": None, **more}
            # A child that runs no model does not hold the host lock, so it runs at low priority.
            request["gentle"] = task != "cost" or "static" in more
            request["loop_s"] = _LOOP_S * spec.limits.timeout_scale
            request["memory_bytes"] = read_memory(tree, find_groups(tree)).room_bytes
            limit = (_COST_S if task == "cost" else _WEIGHTS_S) * spec.limits.timeout_scale
            brief = _RUN_S * spec.limits.timeout_scale

            def hear(line: dict[str, Any]) -> float | None:
                return (brief if line["running"] else limit) if "running" in line else None

            return ask_child(task, request, file=source.asked, timeout_s=limit, hear=hear, stop=stop)

    @contextmanager
    def _scratch(self) -> Iterator[tuple[Path, StopSwitch]]:
        """Provide a temporary directory for one child, and the switch that ends it."""
        with self._idle:
            if self._closed:
                raise Cancelled(Reason("program_ending"))
            stop = StopSwitch()
            self._stops[stop] = threading.current_thread()
        try:
            sweep_temporary()
            run_dir = passing_directory()
            try:
                lock = make_scratch(run_dir)
            except OSError as error:
                raise directory_error(str(run_dir.parent), error.strerror) from error
            try:
                yield run_dir, stop
            finally:
                shutil.rmtree(run_dir, ignore_errors=True)
                os.close(lock)
        finally:
            with self._idle:
                del self._stops[stop]
                stop.close()
                self._idle.notify_all()

    def close(self) -> None:
        """End all children; return once their temporary directories are removed."""
        with self._idle:
            self._closed = True
            for stop in self._stops:
                stop.trip(Reason("program_ending"))
            # A signal may have interrupted this thread's own wait, so do not wait for it.
            own = threading.current_thread()
            self._idle.wait_for(lambda: all(thread is own for thread in self._stops.values()))

    def _feeding(self, spec: BenchmarkSpec) -> list[object]:
        """Return everything that decides the shapes; raise OSError if the input file cannot be read."""
        inputs = spec.inputs
        file = self._hash(inputs.file) if inputs.file is not None else None
        # Without a requested batch, a loss profile takes the items of a file one by one.
        by_item = file is not None and not spec.batches and spec.profile is not None and spec.profile.kind == LOSS
        sizes = [spec.batches, spec.dims, spec.sequence_lengths, inputs.shapes, inputs.batch_dim]
        return [*sizes, inputs.seed, file, by_item]

    def _hash(self, path: str) -> str | None:
        found = os.stat(path)
        stamp = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        if stamp not in self._hashed:
            self._hashed[stamp] = hash_inputs(path)
        return self._hashed[stamp]

    def _name(self, task: str, spec: BenchmarkSpec, fed: object) -> str:
        return _digest(task, self.sha256(spec), fed)

    def _kept(self, name: str, make: Callable[[Any], T], ask: Callable[[], T]) -> T:
        known = self._known(name, make)
        if known is None:
            known = ask()
            self._cache(make).put(name, known)
            self._last = name, known
        return known

    def _known(self, name: str, make: Callable[[Any], T]) -> T | None:
        last, known = self._last
        if last != name:
            known = self._cache(make).get(name)
            if known is not None:
                self._last = name, known
        return cast("T | None", known)

    def _cache(self, make: Callable[[Any], T]) -> FileCache[T]:
        return FileCache(self._places.cache / _PLACE, _FORM, make)


def _digest(task: str, sha256: str, fed: object) -> str:
    text = json.dumps([task, sha256, fed])
    return f"{task}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _to_layers(plain: Any) -> tuple[LayerLoss, ...]:
    return from_plain(tuple[LayerLoss, ...], plain)

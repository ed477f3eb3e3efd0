"""The measured loss profile: changes one layer at a time in one session and compares the outputs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tuibench.core.errors import ModelError
from tuibench.core.model import Point
from tuibench.core.profile import ALREADY_INT8, INT8, LEVELS, RECURRENT, LossPoint
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.engines.error_words import engine_reason
from tuibench.engines.protocol import LoadSettings, Session, run_once
from tuibench.model.file import check_external, locate
from tuibench.model.graph import walk
from tuibench.model.inspection import require_graph
from tuibench.model.loss.change import Lifted, change, lift, pruned_share
from tuibench.model.loss.layers import LAYER_OPERATORS, Layer, Weight, WeightReader, find_layers
from tuibench.model.loss.similarity import ONLY_ZEROS, Similarity, find_classes, find_probabilities, floats
from tuibench.worker.bundle import Array, Feed, read_bundle
from tuibench.worker.isolation import pin_process


class Runs(Protocol):
    """A loaded model."""

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs by name; let the engine's exceptions pass."""

    def close(self) -> None:
        """Free the model."""


Load = Callable[[Path], Runs]
"""Loads a model; raises ModelError with the engine's words if it is refused."""


class _Loaded:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.close = session.close

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        return run_once(self._session, dict(feed))


@contextmanager
def _model_errors(*, lifted: bool = False) -> Iterator[None]:
    """Raise ModelError with the engine's words for its errors, which have any type."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # an engine raises any type; its words are the result
        why = engine_reason(error)
        raise ModelError("onnxruntime_failed_lifted" if lifted else "onnxruntime_failed", why=why) from None


def loader(work_dir: str, threads: int | None = None, cpus: tuple[int, ...] = ()) -> Load:
    """Return a function that loads models into ONNX Runtime; the process must be pinned to `cpus` already."""
    allowed = cpus or tuple(sorted(os.sched_getaffinity(0)))

    def load(path: Path) -> Runs:
        engine = factory.make("onnxruntime")
        engine.start()
        count = threads or len(allowed)
        setting = LoadSettings(str(path), count, 1, allowed, "none", "engine-default", True, work_dir)
        with _model_errors():
            return _Loaded(engine.load(setting))

    return load


Outputs = list[dict[str, Array]]
"""The float outputs of each sample."""


@dataclass
class ChangedSession:
    """The session with changed layers, and its outputs without any change."""

    session: Runs
    lifted: Lifted
    feeds: Sequence[Feed]
    classes: frozenset[str]
    probabilities: frozenset[str]
    reason: Reason | None = None
    """The reason why the unchanged outputs allow no comparison."""
    _unchanged: Outputs = field(default_factory=list)

    def run_unchanged(self) -> None:
        """Run the unchanged model and keep its outputs."""
        with _model_errors(lifted=True):
            self._unchanged = [floats(self._run(feed, {})) for feed in self.feeds]

    def compare(self, changed: Mapping[str, Array], level: str) -> LossPoint:
        """Compare the outputs with these weights against the unchanged ones."""
        if not self._unchanged[0]:
            self.reason = Reason("no_float_output")
        if self.reason:
            return LossPoint(level, None, None, reason=self.reason)
        found = Similarity(self.classes, self.probabilities)
        try:
            for feed, expected in zip(self.feeds, self._unchanged, strict=True):
                found.add(expected, self._run(feed, changed))
        except MemoryError:
            raise
        except Exception as error:  # a model may fail on changed weights: that is a result
            reason = because("changed_model_failed", why=engine_reason(error))
            return LossPoint(level, None, None, samples=found.samples, reason=reason, harm=True)
        return found.point(level)

    def against(self, others: Outputs) -> float | None:
        """Return the distance of the unchanged outputs from others in dB; None if equal or not comparable."""
        found = Similarity(frozenset())
        for mine, other in zip(self._unchanged, others, strict=True):
            found.add(other, mine)
        return found.point("").sqnr_db

    def _run(self, feed: Feed, changed: Mapping[str, Array]) -> dict[str, Any]:
        return self.session.run({**feed, **self.lifted.weights, **changed})


Send = Callable[[dict[str, Any]], None]


@dataclass
class Sweep:
    """One sweep: the request and its tools."""

    path: str
    bundle: str
    levels: tuple[str, ...]
    run_dir: Path
    load: Load
    send: Send
    layers: frozenset[str] | None = None
    """Ids of the layers to change; None for all."""
    skip: frozenset[tuple[str, str]] = frozenset()
    """(id, level) pairs that are already measured."""
    samples: int = 2
    batch: int | None = None
    """Items per sample."""
    clock: Callable[[], float] = time.perf_counter

    notes: list[Reason] = field(default_factory=list)
    ran: int = 0
    """Samples per change."""

    def carry_out(self) -> dict[str, Any]:
        """Send a line before and after each point; return the results common to all points."""
        for level in self.levels:
            pruned_share(level)
        path = locate(self.path).path
        model = require_graph(path)
        check_external(model, path)
        if any(node.op_type in LAYER_OPERATORS for function in model.functions for node in function.node):
            self.notes.append(Reason("functions_left_out"))
        self.notes += _recurrent(model)
        # Lift all layers even if few are requested, so that every sweep compares the same form of the model.
        layers = [layer for layer in find_layers(model.graph) if not layer.reason]
        if not layers:
            self.notes.append(Reason("no_changeable_layer"))
            self._begin(0, 0.0, False, None)
            return self._end(False, None)
        feeds = self._feeds()
        feeds, measured = self._run_as_it_is(path, feeds)
        self.ran = len(feeds)
        classes = find_classes(model.graph, measured[0])
        probabilities = find_probabilities(measured[0])
        reader = WeightReader(path)
        lifted, session = self._load_lifted(model, layers, reader)
        del model
        try:
            changer = ChangedSession(session, lifted, feeds, classes, probabilities)
            return self._sweep(changer, layers, measured, reader)
        finally:
            session.close()

    def _feeds(self) -> list[Feed]:
        feeds = read_bundle(self.bundle)
        if len(feeds) < self.samples:
            self.notes.append(because("fewer_samples", samples=len(feeds), asked=self.samples, batch=self.batch or 1))
        return feeds[: max(self.samples, 1)]

    def _run_as_it_is(self, path: Path, feeds: Sequence[Feed]) -> tuple[list[Feed], Outputs]:
        """Run the model unchanged, as optimized by its engine; return the samples and their float outputs.

        Drop samples whose outputs cannot be compared, unless that would drop all of them.
        """
        self.send({"stage": "loading"})
        session = self.load(path)
        with closing(session), _model_errors():
            # A model may never end: the first run shows that and has its own time limit.
            self.send({"stage": "first"})
            outputs = [session.run(feeds[0])]
            self.send({"stage": "changing"})
            outputs += [session.run(feed) for feed in feeds[1:]]
        kept = [floats(found) for found in outputs]
        left_out = [name for name in outputs[0] if name not in kept[0]]
        if left_out:
            self.notes.append(because("outputs_left_out", names=left_out[:5]))
        names = {name for found in kept for name in found}
        good = [at for at, found in enumerate(kept) if found.keys() == names and not _without_finite(found)]
        if good:
            self.notes += _left_out(kept)
            kept = [kept[at] for at in good]
            self.notes += _note_partly_nan(kept)
        return [feeds[at] for at in good or range(len(feeds))], kept

    def _load_lifted(self, model: Any, layers: Sequence[Layer], reader: WeightReader) -> tuple[Lifted, Runs]:
        path = self.run_dir / "loss.onnx"
        try:
            lifted = lift(model, layers, reader, path)
            return lifted, self.load(path)
        finally:
            path.unlink(missing_ok=True)

    def _sweep(
        self, changer: ChangedSession, layers: Sequence[Layer], measured: Outputs, reader: WeightReader
    ) -> dict[str, Any]:
        changer.run_unchanged()
        # The first runs also allocate memory; the next ones measure the time per point.
        began = self.clock()
        unchanged = changer.compare({}, "")
        each_s = self.clock() - began
        float32_db = changer.against(measured)
        work = [(layer, level) for layer in layers for level in self.levels if self._is_asked(layer.id, level)]
        classes = bool(changer.classes)
        self._note(unchanged)
        # With outputs of zeros a change may still show, as it can make them non-zero.
        changer.reason = None if unchanged.reason == ONLY_ZEROS else unchanged.reason
        self._begin(len(work), 1000 * each_s, classes, float32_db)
        self._carry_out_all(changer, work, reader)
        return self._end(classes, float32_db)

    def _note(self, unchanged: LossPoint) -> None:
        if unchanged.reason is not None:
            self.notes.append(unchanged.reason)
        elif unchanged.sqnr_db is not None:
            self.notes.append(because("outputs_vary", sqnr_db=unchanged.sqnr_db))

    def _is_asked(self, node: str, level: str) -> bool:
        wanted = self.layers is None or node in self.layers
        return wanted and (node, level) not in self.skip

    def _carry_out_all(self, changer: ChangedSession, work: Sequence[tuple[Layer, str]], reader: WeightReader) -> None:
        weight: Weight | None = None
        current = ""
        for layer, level in work:
            # Announce the point first, as it may kill this process.
            self.send({"at": {"id": layer.id, "level": level}})
            name = changer.lifted.names[layer.id]
            if weight is None or current != layer.id:
                weight, current = reader.weight(layer, changer.lifted.weights[name]), layer.id
            point = self._point(changer, layer, level, weight, name)
            self.send({"loss": {"id": layer.id, "point": to_plain(point)}})

    @staticmethod
    def _point(changer: ChangedSession, layer: Layer, level: str, weight: Weight, name: str) -> LossPoint:
        if level == INT8 and layer.integer:
            return LossPoint(level, None, None, reason=ALREADY_INT8)
        return changer.compare({name: change(weight, layer, level)}, level)

    def _begin(self, points: int, ms_each: float, classes: bool, float32_db: float | None) -> None:
        facts: dict[str, Any] = {"points": points, "ms_each": ms_each, "classes": classes, "float32_db": float32_db}
        # Send everything known now: a profile that is cut short sends no end.
        facts |= {"samples": self.ran, "notes": to_plain(self.notes)}
        self.send({"begin": facts})

    def _end(self, classes: bool, float32_db: float | None) -> dict[str, Any]:
        return {"classes": classes, "float32_db": float32_db, "notes": to_plain(self.notes)}


def _without_finite(outputs: Mapping[str, Array]) -> list[str]:
    """Return the outputs of one sample that have no finite value."""
    return [name for name, value in outputs.items() if not np.isfinite(value).any()]


def _left_out(outputs: Outputs) -> Iterator[Reason]:
    """Yield notes on samples left out because the unchanged model gives no usable output."""
    names = dict.fromkeys(name for found in outputs for name in found)
    empty = [name for found in outputs for name in [each for each in names if each not in found][:1]]
    void = [name for found in outputs if found.keys() == names.keys() for name in _without_finite(found)[:1]]
    if void:
        yield because("samples_not_finite", count=len(void), of=len(outputs), name=void[0])
    if empty:
        yield because("samples_empty", count=len(empty), of=len(outputs), name=empty[0])


def _note_partly_nan(outputs: Outputs) -> Iterator[Reason]:
    """Yield notes on unchanged outputs that are partly NaN or infinite."""
    for name in outputs[0]:
        arrays = [found[name] for found in outputs if name in found]
        size, known = sum(one.size for one in arrays), sum(int(np.isfinite(one).sum()) for one in arrays)
        if 0 < known < size:
            yield because("values_left_out", name=name, count=size - known, of=size)


def _recurrent(model: Any) -> list[Reason]:
    """Return a note if the model has recurrent nodes, whose weights are not changed."""
    found = Counter(place.node.op_type for place in walk(model.graph) if place.node.op_type in RECURRENT)
    return [because("recurrent_not_changed", ops=[f"{count} {op}" for op, count in found.items()])] if found else []


def request_sweep(request: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Run the request of child task `loss`, pinned to its CPUs."""
    point = from_plain(Point, request["point"])
    if point.bundle is None:
        raise ModelError("no_inputs_to_run_on", why=point.failure.message if point.failure else Reason("no_inputs"))
    cpus = tuple(int(cpu) for cpu in request.get("cpus") or ())
    threads = int(request.get("threads") or len(cpus) or 1)
    if cpus:
        pin_process(cpus)
    chosen = request.get("layers")
    return Sweep(
        path=request["path"],
        bundle=point.bundle,
        levels=tuple(request.get("levels") or LEVELS),
        run_dir=Path(request["run_dir"]),
        load=loader(request["run_dir"], threads, cpus),
        send=send,
        layers=None if chosen is None else frozenset(chosen),
        skip=frozenset((str(node), str(level)) for node, level in request.get("skip") or ()),
        samples=int(request.get("samples") or 2),
        batch=point.batch,
    ).carry_out()

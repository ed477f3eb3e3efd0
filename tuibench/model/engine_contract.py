"""The contract of an engine from another package, on small generated models; each check is answered or says why not."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tuibench.core.engine import IO_CLASSES
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.engines import factory
from tuibench.engines.error_words import exception_reason
from tuibench.engines.protocol import BadSetting, Bound, Engine, Feed, IoUnavailable, LoadSettings, Session

_KINDS = ("queue", "threads", "processes")
_REQUESTS = 20


@dataclass(frozen=True)
class _Case:
    """A model with its samples and the outputs of ONNX's reference evaluator."""

    path: str
    feeds: list[Feed]
    expected: list[dict[str, Any]]


class _Broken(TuibenchError):
    """A check found the contract broken."""


def check_engine(engine_id: str, cpus: tuple[int, ...], work_dir: Path) -> list[dict[str, Any]]:
    """Return the answer of each check: its name, and the reason if it failed."""
    trial = _Trial(factory.make(engine_id), engine_id, cpus, work_dir)
    return [to_plain({"check": name, "why": _why(check)}) for name, check in trial.checks().items()]


def _why(check: Callable[[], None]) -> Reason | None:
    try:
        check()
    except Exception as error:  # the engine of another package may raise anything
        return exception_reason(error, 300)
    return None


class _Trial:
    """One engine under test."""

    def __init__(self, engine: Engine, engine_id: str, cpus: tuple[int, ...], work_dir: Path) -> None:
        self._engine, self._id = engine, engine_id
        self._setting = LoadSettings(
            "", 1, 1, cpus[:1], "none", "f32", one_at_a_time=True, work_dir=str(work_dir), nodes=(cpus[:1],)
        )
        self._cases = list(_make_cases(work_dir))
        self._work_dir = work_dir

    def checks(self) -> dict[str, Callable[[], None]]:
        """Return all checks by name, in their order; the first ones are needed by the others."""
        return {
            "capabilities": self._capabilities,
            "environment": self._environment,
            "start": self._start,
            "ports": self._ports,
            **{f"outputs_{io.replace('-', '_')}": partial(self._outputs, io) for io in self._classes},
            "samples_kept": self._samples_kept,
            "settings_read_back": self._settings_read_back,
            "precision_refused": self._precision_refused,
            "broken_file_refused": self._broken_file_refused,
            "file_unchanged": self._file_unchanged,
            "queue": self._queue,
            "closed_twice": self._closed_twice,
        }

    @property
    def _classes(self) -> list[str]:
        return [io for io in IO_CLASSES if io in self._engine.capabilities.io_classes]

    def _load(self, case: _Case, **changes: Any) -> Session:
        shapes = {name: tuple(value.shape) for name, value in case.feeds[0].items()}
        return self._engine.load(replace(self._setting, model_path=case.path, shapes=shapes, **changes))

    def _bind(self, session: Session, case: _Case, io: str = "") -> Bound:
        return session.bind(case.feeds, io or self._classes[0])

    def _capabilities(self) -> None:
        found = self._engine.capabilities
        _require(found.name == self._id, "name", found.name, self._id)
        _require(
            bool(self._classes) and set(found.io_classes) <= set(IO_CLASSES), "io_classes", found.io_classes, IO_CLASSES
        )
        _require(set(found.stream_kinds) <= set(_KINDS), "stream_kinds", found.stream_kinds, _KINDS)
        _require("f32" in found.precisions, "precisions", found.precisions, ["f32"])

    def _environment(self) -> None:
        found = self._engine.environment(self._setting)
        _require(
            all(isinstance(one, str) for pair in found.items() for one in pair), "environment", found, "texts by name"
        )
        os.environ.update(found)

    def _start(self) -> None:
        version = self._engine.start()
        _require(bool(str(version).strip()), "version", version, "a text")

    def _ports(self) -> None:
        for case in self._cases:
            session = self._load(case)
            named = [port.name for port in session.inputs()], [port.name for port in session.outputs()]
            session.close()
            _require(named == (list(case.feeds[0]), list(case.expected[0])), "ports", named, "those of the file")

    def _outputs(self, io: str) -> None:
        for case in self._cases:
            session = self._load(case)
            try:
                bound = self._bind(session, case, io)
            except IoUnavailable:
                _require(io != self._classes[-1], "io_classes", io, "one class for every model")
                continue
            _require(len(bound.calls) == len(case.feeds), "calls", len(bound.calls), len(case.feeds))
            fetched = [bound.outputs(sample) for sample in range(len(case.feeds))]
            for call in (*bound.calls, *reversed(bound.calls)):
                call()
            # Compared only now: a copy must keep its values when the next sample is computed.
            for found, expected in zip(fetched, case.expected, strict=True):
                _compare(found, expected)
            session.close()

    def _samples_kept(self) -> None:
        for case in self._cases:
            session = self._load(case)
            feeds = [{name: value.copy() for name, value in feed.items()} for feed in case.feeds]
            bound = session.bind(feeds, self._classes[-1])
            del feeds
            _compare(bound.outputs(1), case.expected[1])
            session.close()

    def _settings_read_back(self) -> None:
        session = self._load(self._cases[0])
        back = session.read_back()
        session.close()
        _require(back.threads in (1, None), "threads", back.threads, 1)
        _require(back.precision in ("f32", None), "precision", back.precision, "f32")
        _require(back.pinned in ("none", "core", "numa"), "pinned", back.pinned, "none")

    def _precision_refused(self) -> None:
        try:
            self._load(self._cases[0], precision="f11")
        except BadSetting:
            return
        raise _Broken("contract_broken", what="precision", got="f11", wanted="BadSetting")

    def _broken_file_refused(self) -> None:
        path = self._work_dir / "broken.onnx"
        path.write_bytes(b"<!doctype html>")
        try:
            self._load(replace(self._cases[0], path=str(path)))
        except Exception:  # any exception is a refusal
            return
        raise _Broken("contract_broken", what="broken file", got="a session", wanted="an exception")

    def _file_unchanged(self) -> None:
        for case in self._cases:
            before = hashlib.sha256(Path(case.path).read_bytes()).hexdigest()
            session = self._load(case)
            self._bind(session, case, self._classes[-1]).outputs(0)
            session.close()
            after = hashlib.sha256(Path(case.path).read_bytes()).hexdigest()
            _require(before == after, "model file", after, before)

    def _queue(self) -> None:
        case = self._cases[0]
        session = self._load(case, one_at_a_time=False)
        if "queue" in self._engine.capabilities.stream_kinds:
            starts, ends = array("q", [0] * _REQUESTS), array("q", [0] * _REQUESTS)
            queue = session.queue(case.feeds, self._classes[-1])
            count = queue.run(1 << 62, memoryview(starts), memoryview(ends))
            queue.close()
            _require(count == _REQUESTS, "requests", count, _REQUESTS)
            ordered = all(0 < start < end for start, end in zip(starts, ends, strict=True))
            _require(ordered, "time stamps", "disordered", "each start before its end")
        session.close()

    def _closed_twice(self) -> None:
        session = self._load(self._cases[0])
        session.close()
        session.close()


def _require(holds: bool, what: str, got: object, wanted: object) -> None:
    if not holds:
        raise _Broken("contract_broken", what=what, got=str(got)[:200], wanted=str(wanted)[:200])


def _compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    _require(list(found) == list(expected), "outputs", list(found), list(expected))
    for name, value in expected.items():
        got = np.asarray(found[name])
        _require(
            (got.dtype, got.shape) == (value.dtype, value.shape),
            name,
            (got.dtype, got.shape),
            (value.dtype, value.shape),
        )
        _require(bool(np.allclose(got, value, rtol=1e-3, atol=1e-4)), name, "other values", "those of the reference")


def _make_cases(work_dir: Path) -> Iterator[_Case]:
    """Yield a perceptron of fixed dims, and a convolution with a symbolic batch."""
    random = np.random.default_rng(0)

    def make(name: str, nodes: list[Any], shapes: tuple[list[Any], list[Any]], fed: list[int], **weights: Any) -> _Case:
        ports = [
            helper.make_tensor_value_info(at, TensorProto.FLOAT, shape) for at, shape in zip("xy", shapes, strict=True)
        ]
        constants = [numpy_helper.from_array(value, key) for key, value in weights.items()]
        graph = helper.make_graph(nodes, name, ports[:1], ports[1:], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
        feeds = [{"x": random.standard_normal(fed, dtype=np.float32)} for _ in range(3)]
        return _save(model, work_dir / f"{name}.onnx", feeds)

    def normal(*shape: int) -> Any:
        return random.standard_normal(shape, dtype=np.float32)

    dense = [
        helper.make_node("MatMul", ["x", "a"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("MatMul", ["c", "d"], ["y"]),
    ]
    yield make("dense", dense, ([1, 8], [1, 4]), [1, 8], a=normal(8, 16), d=normal(16, 4))
    conv = [helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]), helper.make_node("Relu", ["c"], ["y"])]
    yield make("conv", conv, (["batch", 3, 8, 8], ["batch", 2, 6, 6]), [2, 3, 8, 8], w=normal(2, 3, 3, 3))


def _save(model: ModelProto, path: Path, feeds: list[Feed]) -> _Case:
    path.write_bytes(model.SerializeToString())
    outputs = [port.name for port in model.graph.output]
    evaluator = ReferenceEvaluator(model)
    expected = [dict(zip(outputs, evaluator.run(outputs, feed), strict=True)) for feed in feeds]
    return _Case(str(path), feeds, expected)

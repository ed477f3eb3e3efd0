"""Contract of every engine with the measuring loop, compared with ONNX's reference evaluator."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tests.engines import make
from tests.engines.probe import setting
from tests.refusal import refused
from tuibench.core.engine import IO_CLASSES, REGISTRY, is_apart, names
from tuibench.engines import factory
from tuibench.engines.fake import FakeEngine, FakeSession
from tuibench.engines.protocol import Bound, Engine, EngineRefusal, Feed, IoUnavailable, ReadBack, Session
from tuibench.model.engine_contract import check_engine
from tuibench.present.reason import reason_words

ALL = tuple(name for name in names(hidden=True) if not is_apart(name))
REAL = tuple(name for name in names() if not is_apart(name))
"""Engines of this interpreter; those of others have tests of their own."""


def probe(*args: str, **environment: str) -> Any:
    """Return the answer of a fresh interpreter."""
    command = [sys.executable, "-m", "tests.engines.probe", *args]
    env = {k: v for k, v in os.environ.items() if k != "CI"} | environment
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(params=ALL)
def any_engine(request: pytest.FixtureRequest) -> Engine:
    """Every engine, started."""
    engine = factory.make(request.param)
    engine.start()
    return engine


@pytest.fixture(params=REAL)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Every engine that computes, started."""
    engine = factory.make(request.param)
    engine.start()
    return engine


@pytest.fixture
def load(engine: Engine, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Loads a case and closes it at the end."""
    sessions: list[Session] = []

    def loader(case: make.Case, **changes: Any) -> Session:
        sessions.append(engine.load(setting(case.save(tmp_path), **changes)))
        return sessions[-1]

    yield loader
    for session in sessions:
        session.close()


def expect(case: make.Case, sample: int) -> dict[str, Any]:
    """Return the outputs of ONNX's reference evaluator, in the order of the model."""
    outputs = [port.name for port in case.model.graph.output]
    return dict(zip(outputs, ReferenceEvaluator(case.model).run(outputs, case.feeds[sample]), strict=True))


def assert_same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """Assert equal names in order, types, shapes and values."""
    assert list(actual) == list(expected)
    for name, value in expected.items():
        assert actual[name].dtype == np.asarray(value).dtype, name
        assert actual[name].shape == np.shape(value), name
        np.testing.assert_allclose(actual[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("name", names(hidden=True))
def test_capabilities_are_known_without_importing_the_engine(name: str) -> None:
    imported = set(probe("list_modules", name))
    assert "tuibench" in imported
    assert imported - set(sys.stdlib_module_names) == {"tuibench"}


@pytest.mark.parametrize("name", REAL)
def test_version_is_that_of_the_distribution(name: str) -> None:
    version = factory.make(name).start()
    assert version.startswith(metadata.version(REGISTRY[name].package))


@pytest.mark.parametrize("name", ALL)
def test_the_checks_that_ship_pass_for_engines_that_compute(name: str, tmp_path: Path) -> None:
    checks = check_engine(name, tuple(sorted(os.sched_getaffinity(0))), tmp_path)
    failed = {check["check"] for check in checks if check["why"]}
    # The scripted engine computes nothing.
    assert failed == (set() if name in REAL else {
        "ports", "outputs_bound", "outputs_engine_allocated", "outputs_call", "samples_kept", "precision_refused",
        "broken_file_refused",
    })  # fmt: skip


def bind_and_change_the_file(session: FakeSession, feeds: Sequence[Feed], io: str) -> Bound:
    """Bind nothing, and add a byte to the model's file."""
    with open(session._setting.model_path, "ab") as file:
        file.write(b"x")
    return Bound(io, (), lambda _: {})


def close_once(session: FakeSession) -> None:
    """Close the session; raise if it is closed already."""
    if session._closed:
        raise RuntimeError("closed already")
    session._closed = True


FAULTS: dict[str, tuple[type, str, Any]] = {
    "capabilities": (FakeEngine, "capabilities", replace(FakeEngine.capabilities, name="other")),
    "start": (FakeEngine, "start", lambda _: " "),
    "settings_read_back": (FakeSession, "read_back", lambda _: ReadBack("f32", 2, 1, "none", {})),
    "file_unchanged": (FakeSession, "bind", bind_and_change_the_file),
    "queue": (FakeEngine, "capabilities", replace(FakeEngine.capabilities, stream_kinds=("queue",))),
    "closed_twice": (FakeSession, "close", close_once),
}
"""By check, what a broken engine does; the scripted engine breaks the other checks."""


@pytest.mark.parametrize("check", FAULTS)
def test_each_check_finds_the_engine_that_breaks_it(
    check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*FAULTS[check])
    checks = check_engine("fake", tuple(sorted(os.sched_getaffinity(0))), tmp_path)
    assert check in {one["check"] for one in checks if one["why"]}


@pytest.mark.parametrize("build", make.PLAIN)
@pytest.mark.parametrize("io", IO_CLASSES)
def test_each_io_class_computes_each_sample(
    load: Callable[..., Session], build: Callable[[], make.Case], io: str
) -> None:
    case = build()
    session = load(case)
    try:
        bound = session.bind(case.feeds, io)
        outputs = [bound.outputs(i) for i in range(len(case.feeds))]
    except (IoUnavailable, RuntimeError):
        # The caller falls back to another class, but one fallback must work, and fixed shapes can always be bound.
        assert io == "bound" and case.name in ("nonzero", "passed_through", "renamed")
        return
    assert bound.io == io
    for sample, actual in enumerate(outputs):
        assert_same(actual, expect(case, sample))


@pytest.mark.parametrize("io", IO_CLASSES)
def test_calls_rotate_samples_and_keep_fetched_outputs(load: Callable[..., Session], io: str) -> None:
    case = make.mlp()
    bound = load(case).bind(case.feeds, io)
    assert len(bound.calls) == len(case.feeds)
    fetched = [bound.outputs(i)["y"] for i in range(len(case.feeds))]
    for call in (*bound.calls, *reversed(bound.calls)):
        call()
    for sample, actual in enumerate(fetched):
        assert_same({"y": actual}, expect(case, sample))
    assert not np.array_equal(fetched[0], fetched[1])


@pytest.mark.parametrize("io", IO_CLASSES)
def test_inputs_are_copied_or_kept_alive(load: Callable[..., Session], io: str) -> None:
    case = make.ids()
    session = load(case)
    feeds = [{name: array.copy() for name, array in feed.items()} for feed in case.feeds]
    bound = session.bind(feeds, io)
    del feeds
    filler = [np.full((2, 5), 10, dtype=np.int64) for _ in range(64)]
    assert_same(bound.outputs(1), expect(case, 1))
    assert len(filler) == 64


@pytest.mark.parametrize("build", make.ODD)
def test_unusual_types_run_or_are_refused_by_name(load: Callable[..., Session], build: Callable[[], make.Case]) -> None:
    case = build()
    session: Session | None
    try:
        session = load(case)
    except EngineRefusal as refusal:
        message = reason_words(refusal.reason)
        session = None
    if session is None:
        assert len(message) > 10
        assert "\n" not in message
        return
    for io in IO_CLASSES:
        try:
            bound = session.bind(case.feeds, io)
        except IoUnavailable:
            continue
        raw = build is make.bfloat
        expected = (case.feeds[1]["x"].astype(np.uint32) << 16).view(np.float32) if raw else expect(case, 1)["y"]
        assert np.array_equal(bound.outputs(1)["y"], expected)
        return
    pytest.fail("loaded, but no class takes it")


@pytest.mark.parametrize("build", make.PLAIN)
def test_ports_are_those_of_the_file(load: Callable[..., Session], build: Callable[[], make.Case]) -> None:
    case = build()
    session = load(case)
    for ports, declared in (
        (session.inputs(), case.model.graph.input),
        (session.outputs(), case.model.graph.output),
    ):
        assert [port.name for port in ports] == [port.name for port in declared]
        for port, value in zip(ports, declared, strict=True):
            tensor = value.type.tensor_type
            assert port.kind == "tensor"
            assert port.dtype == np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type)).name
            assert port.shape is not None and len(port.shape) == len(tensor.shape.dim)
            for size, dim in zip(port.shape, tensor.shape.dim, strict=True):
                assert not isinstance(size, int) or size == dim.dim_value


@pytest.mark.parametrize("content", [b"", b"\x08\x08\x12", b"<!doctype html>", b"version https://git-lfs"])
def test_invalid_file_raises_an_exception(engine: Engine, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garbage.onnx"
    path.write_bytes(content)
    with pytest.raises(Exception, match=r".{10}"):
        engine.load(setting(str(path)))


def test_unknown_precision_is_refused_and_known_ones_are_used(engine: Engine, tmp_path: Path) -> None:
    path = make.mlp().save(tmp_path)
    with refused(EngineRefusal, "unsupported_precision", precision="f11"):
        engine.load(setting(path, precision="f11"))
    for precision in engine.capabilities.precisions:
        used, code = "", ""
        try:
            used = str(engine.load(setting(path, precision=precision)).read_back().precision)
        except EngineRefusal as refusal:
            code = refusal.reason.code
        # Only missing hardware is a cause for refusal, and every CPU supports f32.
        assert used == precision or (precision != "f32" and code == "other_precision_used")


def test_settings_are_read_back(any_engine: Engine, tmp_path: Path) -> None:
    count = len(os.sched_getaffinity(0))
    session = any_engine.load(setting(make.mlp().save(tmp_path), threads=count, pin="none"))
    back = session.read_back()
    session.close()
    assert (back.threads, back.streams, back.pinned) == (count, 1, "none")


def test_model_file_is_unchanged(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    case = make.ids()
    path = Path(case.save(folder))
    before = hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    for io in IO_CLASSES:
        session = engine.load(setting(str(path), work_dir=str(tmp_path)))
        session.bind(case.feeds, io).outputs(0)
        session.close()
    assert (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before
    assert [item.name for item in folder.iterdir()] == [path.name]


@pytest.mark.parametrize("name", REAL)
def test_threads_stay_on_the_cpus_of_the_process(name: str, tmp_path: Path) -> None:
    model = make.mlp().save(tmp_path)
    for count in (1, 2):
        seen = probe("list_cpus", name, model, str(count))
        assert seen["threads"] == len(seen["cpus"]), seen
        own = set(seen["cpus"])
        assert all(_cpus(text) <= own for text in seen["allowed"]), seen


@pytest.mark.parametrize("name", REAL)
def test_closing_releases_the_memory(name: str, tmp_path: Path) -> None:
    seen = probe("weigh", name, make.mlp(hidden=1 << 21).save(tmp_path))
    taken, kept = seen["loaded"] - seen["before"], seen["closed"] - seen["before"]
    assert taken > 50e6
    assert kept < 0.6 * taken, seen


def test_queue_exists_exactly_if_it_is_claimed(any_engine: Engine, tmp_path: Path) -> None:
    case = make.mlp()
    session = any_engine.load(setting(case.save(tmp_path), one_at_a_time=False))
    if "queue" not in any_engine.capabilities.stream_kinds:
        with refused(EngineRefusal, "engine_without_queue"):
            session.queue(case.feeds, "bound")
        return
    for io in IO_CLASSES:
        starts, ends = array("q", [0] * 20), array("q", [0] * 20)
        queue = session.queue(case.feeds, io)
        assert queue.run(1 << 62, memoryview(starts), memoryview(ends)) == 20
        queue.close()
        assert all(0 < start < end for start, end in zip(starts, ends, strict=True))
    session.close()


def test_closing_twice_is_harmless(any_engine: Engine, tmp_path: Path) -> None:
    session = any_engine.load(setting(make.mlp().save(tmp_path)))
    session.close()
    session.close()


def _cpus(text: str) -> set[int]:
    """Return the CPUs of a kernel list such as 0-2,5."""
    ends = [part.partition("-") for part in text.split(",")]
    return {cpu for first, _, last in ends for cpu in range(int(first), int(last or first) + 1)}

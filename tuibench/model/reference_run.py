"""ONNX Runtime for trial and reference runs: returns outputs or traces shapes; measures no times."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tuibench.core.engine import reader_of, split_id
from tuibench.core.errors import ModelError
from tuibench.core.model import ModelSummary
from tuibench.core.reason import because
from tuibench.engines import factory
from tuibench.engines.error_words import engine_reason
from tuibench.engines.onnxruntime import OnnxRuntimeSession, open_session
from tuibench.engines.protocol import LoadSettings, run_once
from tuibench.model.inputs import RAW_BYTES
from tuibench.model.inspection import Interface, find_twin
from tuibench.model.preparation import RunRefused
from tuibench.worker.interface import ask_interface

_MOST_THREADS = 8
_LOOK_S = 0.05


class ReferenceRun:
    """ONNX Runtime for trial runs; creates each of its two sessions once for all points."""

    def __init__(self, path: str, work_dir: str) -> None:
        self._path = path
        self._work_dir = work_dir
        self._sessions: dict[bool, Any] = {}

    def run(self, feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        """Return the outputs for one feed; RunRefused shows whether loading the model or running the feed failed."""
        return _run_once(self._session(optimize), feed)

    def _session(self, optimize: bool) -> Any:
        found = self._sessions.get(optimize)
        if found is None:
            try:
                found = load_session(self._path, self._work_dir, optimize)
            except Exception as error:  # an engine raises any type; kept, because another point would fail the same way
                found = RunRefused(engine_reason(error, 1000), loading=True)
            self._sessions[optimize] = found
        if isinstance(found, RunRefused):
            raise found
        return found


class TwinRun(ReferenceRun):
    """ONNX Runtime for the ONNX twin of another file, with the outputs under the names of that file."""

    def __init__(self, path: str, work_dir: str, summary: ModelSummary) -> None:
        super().__init__(path, work_dir)
        self._named = [port.name for port in summary.outputs]

    def run(self, feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        """Return the outputs for one feed; a file that names none has numbered ones."""
        values = list(super().run(feed, optimize).values())
        names = self._named if len(self._named) == len(values) else [f"output{at}" for at in range(len(values))]
        return dict(zip(names, values, strict=True))


def make_trial(summary: ModelSummary, work_dir: str) -> ReferenceRun:
    """Return the run of a model, or of its ONNX twin."""
    twin = find_twin(summary)
    return TwinRun(twin, work_dir, summary) if twin else ReferenceRun(summary.path, work_dir)


class TracedRun:
    """ONNX Runtime without optimization and with its profiler on, to trace the shapes of a model's nodes."""

    def __init__(
        self,
        model: str | bytes,
        folder: str,
        work_dir: str,
        tell: Callable[[dict[str, Any]], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tell` is called when a run begins and when it ends; some runs never end."""
        self.max_s: float | None = None
        """Seconds, by `clock`, that all runs may take together; None for no limit."""
        self.is_overdue = False
        """True if that limit ended a run."""
        self._clock = clock
        self._used_s = 0.0
        self._tell = tell or (lambda _: None)
        self._model = model
        """A path, or bytes whose external weights are in `folder`."""
        self._folder = folder
        self._work_dir = work_dir
        self._session: Any = None
        self._profile: Any = None
        self._options: Any = None
        self._refusal: RunRefused | None = None

    def run(self, feed: dict[str, Any], optimize: bool = False) -> dict[str, Any]:
        """Return the outputs for one feed; RunRefused shows whether loading the model or running the feed failed."""
        session = self._load()
        self._tell({"running": True})
        began, done = self._clock(), threading.Event()
        watch = threading.Thread(target=self._watch, args=(began, done), daemon=True)
        watch.start()
        try:
            return _run_once(session, feed)
        finally:
            done.set()
            watch.join()
            self._used_s += self._clock() - began
            self._tell({"running": False})

    def _watch(self, began: float, done: threading.Event) -> None:
        """End the run between two nodes once its time is over."""
        while self.max_s is not None and not done.wait(_LOOK_S):
            if self._used_s + self._clock() - began > self.max_s:
                self.is_overdue = self._options.terminate = True
                return

    def end(self) -> str | None:
        """End the session and return the path of the profile of all runs, or None if nothing was loaded."""
        profile, self._profile, self._session = self._profile, None, None
        return str(profile.end_profiling()) if profile is not None else None

    def _load(self) -> Any:
        if self._refusal is not None:
            raise self._refusal
        if self._session is None:
            try:
                self._session = self._open()
            except Exception as error:  # an engine raises any type; kept, because another feed would fail the same way
                self._refusal = RunRefused(engine_reason(error, 1000), loading=True)
                raise self._refusal from error
        return self._session

    def _open(self) -> Any:
        setting = _plain_setting("", self._work_dir, optimize=False)
        factory.make("onnxruntime").start()
        import onnxruntime as ort  # only after its telemetry is off

        # Prepacked weights would be missing from a kernel's input shapes.
        entries = {"session.disable_prepacking": "1"}
        if isinstance(self._model, bytes):
            entries["session.model_external_initializers_file_folder_path"] = self._folder
        profile = os.path.join(self._work_dir, f"shapes-{os.getpid()}")
        self._profile, _, _ = open_session(setting, self._model, profile=profile, entries=entries)
        self._options = ort.RunOptions()
        return OnnxRuntimeSession(_Endable(self._profile, self._options), setting, "none")


class _Endable:
    """Session whose runs end when their options request it."""

    def __init__(self, session: Any, options: Any) -> None:
        self._session = session
        self._options = options

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, names: Any, feed: Any) -> Any:
        """Run one inference."""
        return self._session.run(names, feed, self._options)

    def run_with_iobinding(self, binding: Any) -> None:
        """Run one inference on bound tensors."""
        self._session.run_with_iobinding(binding, self._options)


def _run_once(session: Any, feed: dict[str, Any]) -> dict[str, Any]:
    try:
        return run_once(session, feed)
    except Exception as error:  # an engine raises any type; its message is the result
        raise _unreadable(session, feed) or RunRefused(engine_reason(error, 1000)) from error


def _unreadable(session: Any, feed: dict[str, Any]) -> Exception | None:
    """Return the error for a model that runs but whose outputs have a type that numpy lacks; None otherwise."""
    lacking = [port for port in session.outputs() if port.dtype in RAW_BYTES]
    if not lacking:
        return None
    try:
        session.bind([feed], "engine-allocated").calls[0]()
    except Exception:  # the run itself fails, so the first error is the better one
        return None
    return RunRefused(because("output_of_other_type", name=lacking[0].name, dtype=lacking[0].dtype), ran=True)


def load_session(path: str, work_dir: str, optimize: bool) -> Any:
    """Load a model into ONNX Runtime on a few CPUs; only its values matter, not its speed."""
    engine = factory.make("onnxruntime")
    engine.start()
    return engine.load(_plain_setting(path, work_dir, optimize))


def _plain_setting(path: str, work_dir: str, optimize: bool) -> LoadSettings:
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:_MOST_THREADS]
    return LoadSettings(
        model_path=path,
        threads=len(cpus),
        streams=1,
        cpus=cpus,
        pin="none",
        precision="engine-default",
        one_at_a_time=True,
        work_dir=work_dir,
        optimize=optimize,
    )


def read_interface(path: str, file_format: str, interpreters: Mapping[str, str] | None = None) -> Interface:
    """Return inputs and outputs of a file that only an engine can parse; ModelError has the engine's message.

    `interpreters` maps ids of engines to their Pythons.
    """
    name = reader_of(file_format)
    if file_format != "ort":
        python = next((one for engine_id, one in (interpreters or {}).items() if split_id(engine_id)[0] == name), "")
        if not python:
            raise ModelError("file_needs_engine", path=path, engine=name)
        return ask_interface(name, path, python)
    try:
        session = load_session(path, os.path.dirname(path), True)
    except Exception as error:  # an engine raises any type; its message is the result
        raise ModelError("engine_cannot_read", path=path, why=engine_reason(error, 1000)) from error
    return session.inputs(), session.outputs()

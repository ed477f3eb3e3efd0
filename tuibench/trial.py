"""ONNX Runtime as the child uses it: to see that a model runs and what it answers, where times do not matter."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuibench.models.inspection import Interface

_MOST_THREADS = 8


class Trial:
    """ONNX Runtime for trial runs: each of its two sessions is made once and serves every point."""

    def __init__(self, path: str, work_dir: str) -> None:
        self._path = path
        self._work_dir = work_dir
        self._sessions: dict[bool, Any] = {}

    def run(self, feed: dict[str, Any], optimize: bool) -> dict[str, Any]:
        """The outputs for one feed; TrialError says whether the model or the feed was refused."""
        from tuibench.engines.protocol import IoUnavailable
        from tuibench.models.reference import TrialError

        session = self._session(optimize)
        try:
            try:
                return dict(session.bind([feed], "call").outputs(0))
            except IoUnavailable:
                return dict(session.bind([feed], "engine-allocated").outputs(0))
        except Exception as error:  # an engine raises whatever it likes; its words are the result
            raise _unreadable(session, feed) or TrialError(first_words(error)) from error

    def _session(self, optimize: bool) -> Any:
        from tuibench.models.reference import TrialError

        found = self._sessions.get(optimize)
        if found is None:
            try:
                found = load_session(self._path, self._work_dir, optimize)
            except Exception as error:  # as above; kept, because another point would only fail the same way
                found = TrialError(first_words(error), loading=True)
            self._sessions[optimize] = found
        if isinstance(found, TrialError):
            raise found
        return found


def _unreadable(session: Any, feed: dict[str, Any]) -> Exception | None:
    """What to raise where the model runs and only its outputs cannot be had, because numpy lacks their type."""
    from tuibench.models.reference import TrialError
    from tuibench.models.sample import RAW_BYTES

    lacking = [port for port in session.outputs() if port.dtype in RAW_BYTES]
    if not lacking:
        return None
    try:
        session.bind([feed], "engine-allocated").calls[0]()
    except Exception:  # then it is no matter of outputs, and the first error says more
        return None
    return TrialError(f"output '{lacking[0].name[:60]}' is {lacking[0].dtype}, which numpy cannot hold", ran=True)


def load_session(path: str, work_dir: str, optimize: bool) -> Any:
    """Load a model into ONNX Runtime on a few CPUs: only values matter here, not times."""
    from tuibench.engines import registry
    from tuibench.engines.protocol import Setting

    cpus = tuple(sorted(os.sched_getaffinity(0)))[:_MOST_THREADS]
    engine = registry.make("onnxruntime")
    engine.start()
    return engine.load(
        Setting(
            model_path=path,
            threads=len(cpus),
            streams=1,
            cpus=cpus,
            pin="none",
            precision="engine-default",
            scenario="sync",
            work_dir=work_dir,
            optimize=optimize,
        )
    )


def read_interface(path: str) -> Interface:
    """Inputs and outputs of a file that only the engine can parse; ModelError in its words where it cannot."""
    from tuibench.core.errors import ModelError
    from tuibench.core.text import show

    try:
        session = load_session(path, os.path.dirname(path), True)
    except Exception as error:  # an engine raises whatever it likes; its words are the result
        raise ModelError(f"{show(path)}: {show(first_words(error))}") from error
    return session.inputs(), session.outputs()


def first_words(error: BaseException) -> str:
    """What an engine said, without what only its developers can read."""
    from tuibench.engines.wording import plain_words

    return (plain_words(str(error)) or type(error).__name__)[:1000]

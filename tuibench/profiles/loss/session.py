"""A model in ONNX Runtime run for its outputs alone, on the given CPUs and threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.engines import registry
from tuibench.engines.protocol import IoUnavailable, Setting
from tuibench.engines.wording import plain_words


class Runs(Protocol):
    """A loaded model."""

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs by name; let the engine's exceptions pass."""

    def close(self) -> None:
        """Free the model."""


Load = Callable[[Path], Runs]
"""Loads a model; raises ModelError with the engine's words if it is refused."""


class _Loaded:
    def __init__(self, session: Any) -> None:
        self._session = session

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return dict(self._session.bind([dict(feed)], "call").outputs(0))
        except IoUnavailable:
            return dict(self._session.bind([dict(feed)], "engine-allocated").outputs(0))

    def close(self) -> None:
        self._session.close()


def loader(work_dir: str, threads: int | None = None, cpus: tuple[int, ...] = ()) -> Load:
    """Return a function that loads models into ONNX Runtime; the process must be pinned to `cpus` already."""
    allowed = cpus or tuple(sorted(os.sched_getaffinity(0)))

    def load(path: Path) -> Runs:
        engine = registry.make("onnxruntime")
        engine.start()
        count = threads or len(allowed)
        setting = Setting(str(path), count, 1, allowed, "none", "engine-default", True, work_dir)
        try:
            return _Loaded(engine.load(setting))
        except MemoryError:
            raise
        except Exception as error:  # an engine raises any type; its words are the result
            raise ModelError(f"ONNX Runtime: {show(engine_words(error))}") from None

    return load


def engine_words(error: BaseException) -> str:
    """Return an engine's error text without details for its developers."""
    return (plain_words(str(error)) or type(error).__name__)[:300]

"""Parts that engines with an interpreter of their own share: imports, refusals, and the pinning that took effect."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from tuibench.core.errors import EngineError
from tuibench.engines.protocol import EngineRefusal, IoUnavailable, LoadSettings


def require_numpy_1(engine: str) -> None:
    """Raise EngineError under numpy 2, with which the old engines return arrays that repeat one element."""
    import numpy as np  # forms ask for the capabilities in a process that has no numpy

    if int(np.__version__.partition(".")[0]) >= 2:
        raise EngineError("numpy_too_new", engine=engine, version=np.__version__)


def require_strides(engine: str, name: str, array: Any) -> None:
    """Raise EngineRefusal for an output in which every element is the first one."""
    if array.size and any(stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True)):
        raise EngineRefusal("output_of_one_element", engine=engine, name=name)


def require_call(io: str) -> None:
    """Raise IoUnavailable unless inputs are passed as arrays in each call."""
    if io != "call":
        raise IoUnavailable("no_way_to_pass_inputs")


def import_without_init(parents: str, module: str) -> Any:
    """Import a module without running the `__init__` of its parent packages, which need packages that are missing."""
    names = parents.split(".")
    for count in range(1, len(names) + 1):
        name, folder = ".".join(names[:count]), Path(sysconfig.get_paths()["platlib"], *names[:count])
        if name in sys.modules:
            continue
        if not folder.is_dir():
            raise ImportError(f"no package {name} in this interpreter")
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]
    return importlib.import_module(f"{parents}.{module}")


def read_pinning(threads: Collection[int], setting: LoadSettings) -> str:
    """Return the pinning that took effect on an engine's threads (0 is the caller).

    With one CPU, or without threads, it is the requested one. Some of the threads may be unpinned: the caller, and one
    that computes nothing.
    """
    bound = list(_masks(threads)) if len(setting.cpus) > 1 else []
    if not bound:
        return setting.pin
    needed = max(1, min(len(bound), setting.threads - 1))
    if setting.pin == "numa" and sum(any(one <= set(node) for node in setting.nodes) for one in bound) >= needed:
        return "numa"
    return "core" if sum(len(one) == 1 for one in bound) >= needed else "none"


def _masks(threads: Collection[int]) -> Iterator[set[int]]:
    """Yield the CPUs of each thread that still runs; an engine ends some of its threads after loading."""
    for thread in threads:
        with suppress(ProcessLookupError):
            yield os.sched_getaffinity(thread)

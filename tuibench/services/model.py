"""Reads a model, and checks its files for changes, in child processes: its content is untrusted and may be large."""

from __future__ import annotations

import os
import stat

from tuibench.core.machine import Places
from tuibench.core.model import CHANGED, GONE, UNCHANGED, ModelState, ModelSummary
from tuibench.core.record import from_plain
from tuibench.core.spec import ModelSource
from tuibench.core.stored import FileStamp, ModelReference
from tuibench.core.text import show
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.kernel_files import Tree
from tuibench.services.child_call import ask_child

_INSPECT_S = 30.0
_HASH_S = 30.0
_SLOWEST_BYTES_PER_S = 20_000_000


def inspect(source: ModelSource, places: Places, timeout_scale: float = 1.0) -> ModelSummary:
    """Return the summary of a model; raise ModelError if the file is no model."""
    tree = Tree()
    request = {
        "path": source.path,
        "cache": str(places.cache),
        "memory_bytes": read_memory(tree, find_groups(tree)).room_bytes,
    }
    limit = _INSPECT_S * timeout_scale
    answer = ask_child("inspect", request, what=f"{show(source.asked)}: reading the model", timeout_s=limit)
    return from_plain(ModelSummary, answer)


def find_state(reference: ModelReference, places: Places) -> ModelState:
    """Return whether a model is unchanged; hash only the files whose times differ."""
    doubtful: list[FileStamp] = []
    for stamp in (reference.file, *reference.external):
        state = _glance(stamp)
        if state in (GONE, CHANGED):
            return ModelState(state, stamp.path)
        if state != UNCHANGED:
            doubtful.append(stamp)
    return _hash(doubtful, places) if doubtful else ModelState(UNCHANGED)


def is_untouched(reference: ModelReference) -> bool:
    """Return whether the files have the same sizes and times; do not hash."""
    return all(_glance(stamp) == UNCHANGED for stamp in (reference.file, *reference.external))


def _glance(stamp: FileStamp) -> str:
    """Return a state by size and time; '' if only the content can decide."""
    try:
        found = os.stat(stamp.path)
    except (OSError, ValueError):
        return GONE
    if not stat.S_ISREG(found.st_mode):
        return GONE
    if found.st_size != stamp.size:
        return CHANGED
    return UNCHANGED if found.st_mtime_ns == stamp.mtime_ns else ""


def _hash(stamps: list[FileStamp], places: Places) -> ModelState:
    request = {"paths": [stamp.path for stamp in stamps], "cache": str(places.cache)}
    limit = _HASH_S + sum(stamp.size for stamp in stamps) / _SLOWEST_BYTES_PER_S
    answer = ask_child("hash", request, what=f"reading {show(stamps[0].path)}", timeout_s=limit)
    for stamp, plain in zip(stamps, answer, strict=True):
        if plain is None:
            return ModelState(GONE, stamp.path)
        if plain["sha256"] != stamp.sha256:
            return ModelState(CHANGED, stamp.path)
    return ModelState(UNCHANGED)

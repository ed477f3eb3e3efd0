"""What a model is, and whether it still is: asked of children, since its bytes are foreign and may be many."""

from __future__ import annotations

import os
import stat

from tuibench.core.model import ModelSummary
from tuibench.core.place import Places
from tuibench.core.project import FileStamp, ModelReference
from tuibench.core.record import from_plain
from tuibench.core.reference import CHANGED, GONE, UNCHANGED, ModelState
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.tree import Tree
from tuibench.workbench.asking import ask_child

_INSPECT_S = 30.0
_HASH_S = 30.0
_SLOWEST_BYTES_PER_S = 20_000_000


def inspect(source: ModelSource, places: Places, timeout_scale: float = 1.0) -> ModelSummary:
    """The summary of a model; ModelError where it is none."""
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
    """Whether a model is what it was: a look at its files, and only where their times differ their checksums."""
    doubtful: list[FileStamp] = []
    for stamp in (reference.file, *reference.external):
        state = _glance(stamp)
        if state in (GONE, CHANGED):
            return ModelState(state, stamp.path)
        if state != UNCHANGED:
            doubtful.append(stamp)
    return _hash(doubtful, places) if doubtful else ModelState(UNCHANGED)


def is_untouched(reference: ModelReference) -> bool:
    """Whether the files are what they were by their sizes and times alone."""
    return all(_glance(stamp) == UNCHANGED for stamp in (reference.file, *reference.external))


def _glance(stamp: FileStamp) -> str:
    """A state; '' where only the content can tell."""
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

"""Checks that the models of a benchmark still exist to be measured again, and accepts replacements."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tuibench.core.errors import ModelError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.machine import Places
from tuibench.core.model import CHANGED, GONE, UNCHANGED, ModelState, ModelSummary, is_remote, refer
from tuibench.core.record import from_plain
from tuibench.core.spec import ModelSource
from tuibench.core.stored import FileStamp, ModelReference, StoredBenchmark
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


Locate = Callable[[str], ModelSource]
"""Resolves a name such as sample:tiny or hf:ORG/REPO to its current file."""


class ModelChanged(ModelError):
    """A model differs from the measured one; it can be measured as a new version."""


class ModelGone(ModelError):
    """A measured file is missing; `file` is its path, if known, for displays with little room."""

    def __init__(self, message: str, hint: str = "", file: str = "") -> None:
        super().__init__(message, hint)
        self.file = file


@dataclass(slots=True)
class _Model:
    """One model of the stored benchmark and its current state."""

    source: ModelSource
    summary: ModelSummary | None
    state: ModelState


class Repetition:
    """The models of one stored benchmark; `locate` finds samples and remote models."""

    def __init__(self, stored: StoredBenchmark, places: Places, locate: Locate) -> None:
        if stored.result.foreign:
            raise UsageError(
                f"{short_id(stored.row.id)} was measured by {show(stored.result.foreign, 80)}: "
                "its settings are not known, so there is nothing to repeat",
                "tuibench benchmark MODEL --compare-to ID measures anew and shows both",
            )
        self._short = short_id(stored.row.id)
        self._places = places
        summaries: list[ModelSummary | None] = list(stored.result.models)
        summaries += [None] * (len(stored.result.spec.models) - len(summaries))
        self._models = [
            self._look(_present(source, locate), summary)
            for source, summary in zip(stored.result.spec.models, summaries, strict=False)
        ]

    def settle(self, stand_ins: Sequence[ModelSource], changed: bool) -> tuple[ModelSource, ...]:
        """Return the models to measure, with `stand_ins` for moved files; raise ModelError if a model differs.

        With `changed`, a model may be another version than the measured one.
        """
        left = [source for source in stand_ins if not self._recognize(source)]
        if left and not changed:
            raise ModelChanged(
                f"{show(left[0].asked)} is not what {self._short} measured: its content is another",
                "--changed measures it as a new version",
            )
        for source in left:
            self._replace(source)
        for model in self._models:
            self._require(model, changed)
        return tuple(model.source for model in self._models)

    def _look(self, source: ModelSource, summary: ModelSummary | None) -> _Model:
        if not os.path.isabs(source.path):
            # Exports omit directories, and an equal name in the current directory may be any file.
            return _Model(source, summary, ModelState(GONE, source.path))
        reference = refer(source.asked, summary) if summary is not None else None
        if reference is None:
            found = os.path.isfile(source.path)
            return _Model(source, summary, ModelState(UNCHANGED) if found else ModelState(GONE, source.path))
        if reference.file.path != source.path:
            # It is at another path, so its time proves nothing: compare by content.
            reference = replace(reference, file=replace(reference.file, path=source.path, mtime_ns=-1))
        return _Model(source, summary, find_state(reference, self._places))

    def _recognize(self, source: ModelSource) -> bool:
        """Use a file in place of the model with the same content; return whether there is one."""
        sha256 = inspect(source, self._places).sha256
        same = [model for model in self._models if model.summary is not None and model.summary.sha256 == sha256]
        for model in sorted(same, key=lambda model: model.state.state == UNCHANGED)[:1]:
            model.source, model.state = source, ModelState(UNCHANGED)
        return bool(same)

    def _replace(self, source: ModelSource) -> None:
        open_places = [model for model in self._models if model.state.state != UNCHANGED]
        if not open_places and len(self._models) > 1:
            raise UsageError(
                f"which model of {self._short} {show(source.asked)} stands in for is not clear: all are as they were",
                "tuibench benchmark measures any models",
            )
        model = (open_places or self._models)[0]
        model.source, model.state = source, ModelState(UNCHANGED)

    def _require(self, model: _Model, changed: bool) -> None:
        file = model.state.file or model.source.path or model.source.asked
        name = show(file)
        elsewhere = f"tuibench rerun {self._short} --model PATH takes it from where it lies now"
        if model.state.state == GONE:
            raise ModelGone(f"{name}, which {self._short} measured, is gone", elsewhere, file)
        if model.state.state == CHANGED and not changed:
            raise ModelChanged(
                f"{name} has changed since {self._short} was measured",
                "--changed measures it as a new version; --model PATH takes the old file from where it lies now",
            )


def _present(source: ModelSource, locate: Locate) -> ModelSource:
    """Return the current source: a sample is part of the installation, a remote model may need fetching again."""
    if source.asked == "sample" or source.asked.startswith("sample:"):
        return locate(source.asked)
    if is_remote(source.asked):
        return source if os.path.isfile(source.path) else locate(source.asked)
    return ModelSource(source.path, source.path)

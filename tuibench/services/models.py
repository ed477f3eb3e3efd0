"""Models by path, name or address: locate, fetch, inspect; child processes read their bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tuibench.core.errors import ModelError, PhaseTimeout, TuibenchError
from tuibench.core.machine import Places
from tuibench.core.model import (
    CHANGED,
    GONE,
    UNCHANGED,
    FetchedModel,
    FetchProgress,
    ModelState,
    ModelSummary,
    public_name,
)
from tuibench.core.record import from_plain
from tuibench.core.settings.model_token import SAMPLES, resolve_model
from tuibench.core.spec import ModelSource
from tuibench.core.stored import FileStamp, ModelReference
from tuibench.engines.installation import interpreter_of, list_installations
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.kernel_files import Tree
from tuibench.runs.task import ChildDeath, StopSwitch, call_child
from tuibench.services.forecast import free_dims

if TYPE_CHECKING:
    from tuibench.services.api import Services


MOST = 50
_MODELS = (".onnx", ".ort", ".pt2", ".pt")
Tell = Callable[[FetchProgress], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A model that was inspected: its source, its summary, and the project that has it already."""

    source: ModelSource
    summary: ModelSummary
    project: str
    """ULID; '' for none."""
    name: str
    """Suggested name of a project for it."""
    dims: tuple[str, ...] = ()
    """Free dims other than its batch: requested once and remembered in the project."""


class Models:
    """Finds models; `tell` is called with the progress of a download, from the calling thread."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def fetch(self, token: str, tell: Tell = lambda _: None) -> ModelSource:
        """Fetch a remote model unless it is cached, and return its file."""

        return ModelFetch(token, self._services.settings.places).carry_out(tell).source

    def locate(self, token: str, tell: Tell = lambda _: None) -> ModelSource:
        """Return the file of a path, a name such as sample:tiny, or an address, which is fetched."""
        return resolve_model(token.strip(), fetch=lambda address: self.fetch(address, tell))

    def find(self, text: str, tell: Tell = lambda _: None) -> Found:
        """Return a model, read by a child; raise ModelError or UsageError if it is not a model."""
        source = self.locate(os.path.expanduser(text.strip()), tell)
        summary, project, name = self._services.projects.look(source)
        return Found(source, summary, project.id if project else "", name, free_dims(summary))

    def complete(self, text: str) -> tuple[str, ...]:
        """Return completions of a path: directories with a slash, models, samples; at most fifty."""
        return complete_path(text, SAMPLES)


def complete_path(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return at most fifty completions as typed: directories first, with a slash; `names` are no paths."""
    known = [name for name in names if text and name.startswith(text)]
    folder, begun = os.path.split(text)
    try:
        entries = os.scandir(os.path.expanduser(folder) or os.curdir)
    except (OSError, ValueError):
        return tuple(known[:MOST])
    with entries:
        # Hidden entries only if the typed name begins with a dot.
        fitting = [e for e in entries if e.name.startswith(begun) and (begun[:1] == "." or e.name[:1] != ".")]
    folders = sorted(os.path.join(folder, entry.name, "") for entry in fitting if _is(entry.is_dir))
    models = sorted(os.path.join(folder, e.name) for e in fitting if e.name.endswith(_MODELS) and _is(e.is_file))
    # A name that cannot be displayed cannot be typed either.
    found = [path for path in (*known, *folders, *models) if path.isprintable()]
    return tuple(found[:MOST])


def _is(question: Callable[[], bool]) -> bool:
    """Return whether an entry is of a kind; False if stat fails, as for a link to itself."""
    try:
        return question()
    except OSError:
        return False


def ask_child(
    task: str,
    request: dict[str, Any],
    *,
    file: str,
    timeout_s: float,
    hear: Callable[[dict[str, Any]], float | None] | None = None,
    kind: type[TuibenchError] = ModelError,
    stop: StopSwitch | None = None,
) -> Any:
    """Return the answer of a child task; raise `kind` if the child dies, or PhaseTimeout after `timeout_s`.

    `file` names the file of the task in these errors. Tripping `stop` from another thread ends the child and raises
    Cancelled here.
    """
    switch = stop or StopSwitch()
    log = os.memfd_create(f"{task}.log")
    try:
        return call_child(
            task,
            {**request, "parent": os.getpid()},
            timeout_s=timeout_s,
            stop=switch,
            log_path=f"/proc/self/fd/{log}",
            on_line=hear,
        )
    except ChildDeath as death:
        error = PhaseTimeout if death.kind == "timeout" else kind
        raise error("child_died", task=task, file=file, why=death.reason, tail=death.log_tail) from death
    finally:
        os.close(log)
        if stop is None:
            switch.close()


_SILENCE_S = 150.0
"""Limit for a hung child; the child itself gives up sooner on a silent server."""


class ModelFetch:
    """One download of a model; an interrupted download leaves no file."""

    def __init__(self, token: str, places: Places, *, bounds: Mapping[str, Any] | None = None) -> None:
        self._token = token
        # `bounds` override the child's limits: stall_s, most_bytes, spare_bytes.
        self._request = {"address": token, "cache": str(places.cache), **(bounds or {})}

    def carry_out(self, tell: Callable[[FetchProgress], None]) -> FetchedModel:
        """Fetch the model; call `tell` with the progress a few times a second; an exception from `tell` ends the
        download.
        """

        def hear(line: dict[str, Any]) -> float:
            if "fetched" in line:
                tell(FetchProgress(int(line["fetched"]), line.get("total")))
            return _SILENCE_S

        file = public_name(self._token)
        answer = ask_child("fetch", self._request, file=file, timeout_s=_SILENCE_S, hear=hear)
        source = ModelSource(public_name(self._token), str(answer["path"]))
        return FetchedModel(
            source, str(answer["name"]), str(answer["sha256"]), int(answer["bytes"]), int(answer["fetched"])
        )


_INSPECT_S, _LOAD_S = 30.0, 120.0
_HASH_S = 30.0
_SLOWEST_BYTES_PER_S = 20_000_000


def inspect(source: ModelSource, places: Places, timeout_scale: float = 1.0) -> ModelSummary:
    """Return the summary of a model; raise ModelError if the file is not a model."""
    tree, installed = Tree(), list_installations(places.engines)
    request = {
        "path": source.path,
        "cache": str(places.cache),
        "memory_bytes": read_memory(tree, find_groups(tree)).room_bytes,
        "interpreters": {one.id: str(interpreter_of(places.engines, one.id)) for one in installed},
    }
    # Other files are loaded by their engine to read their inputs.
    limit = (_INSPECT_S if source.path.endswith((".onnx", ".ort")) else _LOAD_S) * timeout_scale
    answer = ask_child("inspect", request, file=source.asked, timeout_s=limit)
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
    answer = ask_child("hash", request, file=stamps[0].path, timeout_s=limit)
    for stamp, plain in zip(stamps, answer, strict=True):
        if plain is None:
            return ModelState(GONE, stamp.path)
        if plain["sha256"] != stamp.sha256:
            return ModelState(CHANGED, stamp.path)
    return ModelState(UNCHANGED)

"""A run's directory on disk: its request, journal, log and lock."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.errors import StoreError
from tuibench.core.record import from_plain
from tuibench.core.schema import require_form, require_kind
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.stored import Metadata
from tuibench.host.system import is_remote
from tuibench.runs.journal import NAME, open_regular, read_history

REQUEST = "request.json"
LOCK = "runner.lock"
LOG = "runner.log"
CANCEL = "cancel"
_WORK = ("logs", "inputs", "samples", "work")
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_LASTING = frozenset({REQUEST, LOCK, LOG, NAME, "logs"})
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_LOCK_TRIES = 40
_LOCK_PAUSE_S = 0.025
_KEEP_NEWEST = 30
_KEEP_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The paths of a run and simple operations on them; journal.py handles the journal."""

    path: Path

    @property
    def id(self) -> str:
        """Return the run's id, which is the name of its directory."""
        return self.path.name

    @property
    def log(self) -> Path:
        """Return the file for output of the runner's process."""
        return self.path / LOG

    @property
    def work(self) -> Path:
        """Return the directory for copies of models and other temporary files."""
        return self.path / "work"

    @property
    def samples(self) -> Path:
        """Return the directory for the workers' samples."""
        return self.path / "samples"

    def make(self, request: dict[str, Any]) -> None:
        """Create the directory and write the request into it."""
        self.path.mkdir(mode=0o700)
        self.fill(request)

    def fill(self, request: dict[str, Any]) -> None:
        """Write the request durably before anything is measured."""
        self.make_places()
        write_whole(self.path / REQUEST, json.dumps(request).encode("ascii"))
        _sync(self.path.parent)

    def make_places(self) -> None:
        """Create the subdirectories of a run; keep existing ones."""
        for name in _WORK:
            (self.path / name).mkdir(mode=0o700, exist_ok=True)

    def request(self) -> dict[str, Any]:
        """Return the validated request; raise StoreError if it cannot be read."""
        try:
            with os.fdopen(open_regular(self.path / REQUEST), "rb") as handle:
                found = json.load(handle)
            require_form(found.get("v"))
            require_kind(found["spec"])
            from_plain(BenchmarkSpec, found["spec"])
            from_plain(Metadata, found.get("card") or {})
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if isinstance(error, OSError):
                raise StoreError("request_unreadable", run=self.id, text=error.strerror) from error
            raise StoreError("request_damaged", run=self.id) from error
        return dict(found)

    def lock(self, pause: Callable[[float], None] = time.sleep) -> int | None:
        """Lock the run for this process while the descriptor is open; return None if another runner holds the lock.

        Readers hold the lock for an instant, so retry for a second.
        """
        descriptor = open_regular(self.path / LOCK, os.O_RDWR | os.O_CREAT)
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pause(_LOCK_PAUSE_S)
                continue
            return descriptor
        os.close(descriptor)
        return None

    def is_held(self) -> bool:
        """Return whether a runner is alive; the kernel frees its lock when it dies."""
        try:
            descriptor = open_regular(self.path / LOCK)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def ask_to_cancel(self) -> None:
        """Leave a cancel request in a file, for runners that no signal reaches."""
        (self.path / CANCEL).touch(mode=0o600)

    @property
    def cancel_asked(self) -> bool:
        """Return whether a cancel request exists."""
        return (self.path / CANCEL).exists()

    def forget_cancel(self) -> None:
        """Remove the cancel request when the run is resumed."""
        (self.path / CANCEL).unlink(missing_ok=True)

    def thin(self) -> None:
        """Keep only journal and logs of a saved run."""
        empty(self.path, _LASTING)

    def remove(self) -> None:
        """Remove the run's directory."""
        shutil.rmtree(self.path, ignore_errors=True)


def empty(folder: Path, kept: Collection[str] = ()) -> None:
    """Remove everything in a directory, if there is one, except the names that are kept."""
    for name in set(os.listdir(folder) if folder.is_dir() else ()).difference(kept):
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            shutil.rmtree(folder / name, ignore_errors=True)
        else:
            (folder / name).unlink(missing_ok=True)


def list_runs(root: Path) -> list[RunDirectory]:
    """Return every run below `root`, newest first: their names sort by time."""
    try:
        names = sorted(os.listdir(root), reverse=True)
    except OSError:
        return []
    return [RunDirectory(root / name) for name in names if _ID.fullmatch(name) and (root / name).is_dir()]


def prune(root: Path, now: float, is_saved: Callable[[str], bool | None]) -> None:
    """Remove ended runs without unsaved data that are older than a week or beyond the newest thirty.

    Ask the store, not the journal, if a run is saved: after a lost record the journal is the only copy.
    """
    for place, run in enumerate(list_runs(root)):
        if run.is_held() or (place < _KEEP_NEWEST and _age_s(run, now) < _KEEP_S):
            continue
        try:
            history = read_history(run.path)
        except StoreError:
            continue
        last = history.events[-1] if history.events else {}
        if last.get("ev") != "run_end":
            continue
        if is_saved(run.id) if last.get("saved") else _has_nothing(last):
            run.remove()


def _has_nothing(end: dict[str, Any]) -> bool:
    """Return whether a run ended without anything to save."""
    return end.get("status") in ("failed", "cancelled", "finished") and "saved" not in end


def _age_s(run: RunDirectory, now: float) -> float:
    try:
        return now - os.stat(run.path / NAME).st_mtime
    except OSError:
        return 0.0


def write_whole(path: Path, data: bytes) -> None:
    """Write a new file atomically: either with all of its content or not at all."""
    partial = path.with_name(f".{path.name}.part")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, _NEW, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(partial, path)
    _sync(path.parent)


def make_private(path: Path) -> None:
    """Create missing directories of a path for their owner alone."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_PREFIX = "tuibench-tmp-"
_NAME = re.compile(re.escape(_PREFIX) + r"[0-9a-f]{12}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def draw_path(root: Path) -> Path:
    """Return an unused name for a temporary directory."""
    return root / f"{_PREFIX}{secrets.token_hex(6)}"


def make_scratch(path: Path) -> int:
    """Make a temporary directory; the descriptor returned holds its lock until it is closed."""
    while True:
        path.mkdir(mode=0o700)
        lock = hold_scratch(path)
        if lock is not None:
            return lock
        # Another start swept it before it was locked.


def hold_scratch(path: Path) -> int | None:
    """Lock a directory as one of its owners; None if it is gone."""
    try:
        lock = os.open(path, _DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        if _is_at(path, lock):
            return lock
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None


def sweep(root: Path) -> None:
    """Remove this user's temporary directories that no process holds: their owners were killed.

    Directories on a network file system stay: locks of other machines may not be visible there.
    """
    if is_remote(str(root)):
        return
    try:
        names = os.listdir(root)
    except OSError:
        return  # nothing can be made there either, and the next attempt reports it
    for name in filter(_NAME.fullmatch, names):
        _remove_unheld(root / name)


def _remove_unheld(path: Path) -> None:
    try:
        lock = os.open(path, _DIRECTORY)
    except OSError:
        return  # removed since it was listed, a link, or another user's
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return  # an owner is alive, or this file system has no locks
    finally:
        os.close(lock)


def _is_at(path: Path, lock: int) -> bool:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(lock))

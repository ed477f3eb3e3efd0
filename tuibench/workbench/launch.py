"""Starting a runner: a process of its own session, told by one line what to do, watched through two pipes."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from tuibench.core.errors import TooManyFiles, WriteError
from tuibench.core.text import show
from tuibench.host.place import is_private
from tuibench.runs.directory import RunDirectory, list_runs, make_private
from tuibench.runs.scratch import draw_path, sweep
from tuibench.runs.task import child_environment, python_command

_LEAST_ROOM = 16 << 20
"""Bytes that a run's directory should have to itself before a run begins there."""


def start_runner(run_dir: Path, log: int) -> subprocess.Popen[bytes]:
    """The runner makes the directory itself: what it has made it also removes, even when this process is killed."""
    sweep_temporary()
    return subprocess.Popen(
        python_command("tuibench.runner", str(run_dir), str(os.getpid())),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd="/",
        env=child_environment(),
        start_new_session=True,
    )


def send_request(lifeline: IO[bytes], line: bytes) -> None:
    """Tell a runner what to do; the pipe may take the line in parts, and its runner may be dead already."""
    while line:
        try:
            line = line[lifeline.write(line) :]
        except BrokenPipeError:
            return  # how it died is found by waiting for it


def engine_probe() -> tuple[list[str], dict[str, str]]:
    """Command and environment of the child that tells which engines can be imported."""
    return python_command("tuibench.child", "engines"), child_environment()


def passing_directory() -> Path:
    """A name that nobody has; a TMPDIR that was asked for is not silently replaced by another place."""
    return draw_path(_temporary())


def sweep_temporary() -> None:
    """Remove the temporary directories that killed processes of this user left."""
    with suppress(WriteError):  # there is no such place, and so nothing in it
        sweep(_temporary())


def spare_root() -> Path:
    """Where runs are kept while the user's own place for them cannot be written."""
    return _temporary() / f"tuibench-{os.getuid()}" / "runs"


def usable_root(root: Path) -> tuple[Path, str]:
    """A place where a run can write, and why it is not `root` where it is another."""
    why = why_unusable(root)
    if not why:
        return root, ""
    spare = spare_root()
    problem = why_unusable(spare)
    if problem:
        raise no_room(spare, problem)
    return spare, f"{show(str(root), 120)}: {why}"


def why_unusable(root: Path) -> str:
    """Why no run can be kept below `root`; '' where one can. It is made where it is not there."""
    try:
        make_private(root)
        if not is_own(root):
            return "it belongs to somebody else, or others may write there"
        if not os.access(root, os.W_OK | os.X_OK):
            return os.strerror(errno.EACCES).lower()
        room = os.statvfs(root)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    if room.f_flag & os.ST_RDONLY:
        return os.strerror(errno.EROFS).lower()
    return "the disk is full" if room.f_bavail * room.f_frsize < _LEAST_ROOM else ""


def is_own(root: Path) -> bool:
    """Whether it and the directory above are this user's: where everybody may write, a name could be anybody's."""
    return is_private(root) and is_private(root.parent)


def spare_runs() -> list[RunDirectory]:
    """Runs that were kept in the spare place."""
    try:
        root = spare_root()
        return list_runs(root) if is_own(root) else []
    except (OSError, WriteError):
        return []  # there is no such place, and so nothing in it


def no_room(where: object, reason: str | None) -> WriteError:
    """Nothing can be measured where nothing can be written."""
    if reason is not None and reason.lower() == os.strerror(errno.EMFILE).lower():
        return TooManyFiles()
    what = f"no directory for the run can be made in {show(where)}: {reason or 'no reason is known'}"
    return WriteError(what, "set TMPDIR to a directory that can be written to")


def _temporary() -> Path:
    try:
        return Path(os.path.abspath(os.environ.get("TMPDIR") or tempfile.gettempdir()))
    except FileNotFoundError as error:
        raise no_room("any temporary directory", error.strerror) from error

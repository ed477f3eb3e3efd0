"""Starts a runner in its own session; one request line tells it what to do, two pipes watch it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tuibench.core.errors import ExitCode, HostBusy, TooManyFiles, TuibenchError, WriteError, signal_name
from tuibench.core.reason import Reason, because, error_text
from tuibench.runs.directory import LOG, RunDirectory, draw_path, list_runs, make_private, sweep
from tuibench.runs.task import child_environment, python_command, read_tail
from tuibench.store.directories import is_private

_LEAST_ROOM = 16 << 20
"""Least free bytes for a new run's directory."""


def start_runner(run_dir: Path, log: int) -> subprocess.Popen[bytes]:
    """Start the runner, which creates and removes its directory itself, even if this process is killed."""
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
    """Send the request; the pipe may accept it in parts, and the runner may be dead already."""
    while line:
        try:
            line = line[lifeline.write(line) :]
        except BrokenPipeError:
            return  # waiting for the runner reports how it died


def engine_probe() -> tuple[list[str], dict[str, str]]:
    """Return command and environment of the child that tests which engines can be imported."""
    return python_command("tuibench.child", "engines"), child_environment()


def passing_directory() -> Path:
    """Return an unused temporary path; a TMPDIR set by the user is never silently replaced."""
    return draw_path(_temporary())


def sweep_temporary() -> None:
    """Remove temporary directories left by this user's killed processes."""
    with suppress(WriteError):  # no such directory: nothing to remove
        sweep(_temporary())


def spare_root() -> Path:
    """Return the directory for runs while the user's own one cannot be written."""
    return _temporary() / f"tuibench-{os.getuid()}" / "runs"


def usable_root(root: Path) -> tuple[Path, Reason | None]:
    """Return a writable directory for runs, and why it is not `root` if it differs."""
    why = why_unusable(root)
    if why is None:
        return root, None
    spare = spare_root()
    problem = why_unusable(spare)
    if problem is not None:
        raise directory_error(str(spare), problem)
    return spare, why


def why_unusable(root: Path) -> Reason | None:
    """Return why runs cannot be kept below `root`, None if they can; create it if it is missing."""
    try:
        make_private(root)
        if not is_own(root):
            return Reason("directory_shared")
        if not os.access(root, os.W_OK | os.X_OK):
            return error_text(os.strerror(errno.EACCES).lower())
        room = os.statvfs(root)
    except OSError as error:
        return error_text((error.strerror or str(error)).lower())
    if room.f_flag & os.ST_RDONLY:
        return error_text(os.strerror(errno.EROFS).lower())
    return Reason("disk_full") if room.f_bavail * room.f_frsize < _LEAST_ROOM else None


def is_own(root: Path) -> bool:
    """Return whether it and its parent are this user's: in a shared directory anyone could have created the name."""
    return is_private(root) and is_private(root.parent)


def spare_runs() -> list[RunDirectory]:
    """Return the runs in the spare directory."""
    try:
        root = spare_root()
        return list_runs(root) if is_own(root) else []
    except (OSError, WriteError):
        return []  # no such directory: no runs


def directory_error(where: str, why: Reason | str | None) -> WriteError:
    """Return the error of a run's directory that cannot be created or written; `why` may be a text of the system."""
    if isinstance(why, str):
        why = error_text(why)
    if why is not None and str(why.fields.get("text", "")).lower() == os.strerror(errno.EMFILE).lower():
        return TooManyFiles()
    return WriteError("no_run_directory", where=where, why=why)


def _temporary() -> Path:
    try:
        return Path(os.path.abspath(os.environ.get("TMPDIR") or tempfile.gettempdir()))
    except FileNotFoundError as error:
        raise directory_error("", error.strerror) from error


def start_detached_runner(run_dir: Path, request: dict[str, Any]) -> None:
    """Return when the run can be found; raise if its runner died first. A thread reaps the runner."""
    log = os.memfd_create(LOG)
    try:
        process = start_runner(run_dir, log)
        if _hand_over(process, json.dumps({**request, "detached": True}).encode("ascii") + b"\n"):
            # Nothing else waits for it, and a long-lived dashboard must not accumulate zombies.
            threading.Thread(target=process.wait, name="reaper", daemon=True).start()
            return
        raise _why_dead(run_dir, process.wait(), read_tail(f"/proc/self/fd/{log}"))
    finally:
        os.close(log)


def _hand_over(process: subprocess.Popen[bytes], line: bytes) -> bool:
    """Return whether the runner accepted the run: it answers, or closes its pipe by dying."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the runner has no channel")
    with process.stdin as lifeline, process.stdout as answer:
        send_request(lifeline, line)
        return bool(answer.read(1))


def _why_dead(run_dir: Path, code: int, words: str | None) -> TuibenchError:
    if code == ExitCode.BUSY:
        return HostBusy("runner_exists", run=run_dir.name)
    if code == ExitCode.STORE:
        return directory_error(str(run_dir.parent), words)
    killed = because("runner_killed", signal=signal_name(-code)) if code < 0 else None
    why = killed or because("runner_exited", exit_code=code, output=None)
    return TuibenchError("ended_before_start", why=why, output=words)

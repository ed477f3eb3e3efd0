"""Starts a detached runner, which no client can end by closing its pipe."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from tuibench.core.errors import ExitCode, HostBusy, TuibenchError
from tuibench.core.short_id import short_id
from tuibench.core.signal_name import signal_name
from tuibench.runs.directory import LOG
from tuibench.runs.task import read_tail
from tuibench.workbench.launch import no_room, send_request, start_runner


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
    short = short_id(run_dir.name)
    if code == ExitCode.BUSY:
        return HostBusy(f"run {short} has a runner already", f"tuibench attach {short} follows it")
    if code == ExitCode.STORE:
        return no_room(run_dir.parent, words)
    how = f"died by {signal_name(-code)}" if code < 0 else f"ended with code {code}"
    return TuibenchError(f"the runner {how} before the run began" + (f" ({words})" if words else ""))

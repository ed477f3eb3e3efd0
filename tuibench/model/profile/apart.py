"""Calls an engine's own interpreter for the times of layers; any end of that process becomes an answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO, Any, cast

from tuibench.core.errors import EngineError, TuibenchError, signal_name
from tuibench.core.reason import Failure, because
from tuibench.core.record import from_plain, to_plain
from tuibench.engines.protocol import BadSetting, EngineRefusal, LayerJob, Tell
from tuibench.worker.job import Assembler, find_assertion, send
from tuibench.worker.start import start_command, start_environment

_PAGE = 1 << 16
_KINDS: dict[str, type[TuibenchError]] = {"refused": EngineRefusal, "setting": BadSetting, "engine": EngineError}


def call_apart(interpreter: str, job: LayerJob, tell: Tell) -> dict[str, Any]:
    """Return the engine's answer; raise EngineError if its process ended without one. No log is left behind."""
    process = subprocess.Popen(
        start_command("tuibench.worker.layer_process", interpreter),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=start_environment(interpreter),
    )
    try:
        with cast(IO[bytes], process.stdin) as inbox:
            send(inbox.fileno(), {"job": to_plain(job), "parent": os.getpid()})
        found = _listen(cast(IO[bytes], process.stdout).fileno(), tell)
        code = process.wait()
        if found is None:
            raise _death(code, job)
        return found
    finally:
        process.kill()
        process.wait()
        cast(IO[bytes], process.stdout).close()
        Path(job.log_path).unlink(missing_ok=True)


def _listen(frames: int, tell: Tell) -> dict[str, Any] | None:
    """Read frames until the process closes them; return its result, raise its failure."""
    assembler, found = Assembler(), None
    while data := os.read(frames, _PAGE):
        for frame in assembler.feed(data):
            if frame["f"] == "stage":
                tell(frame["stage"], frame["done"], frame["of"])
            elif frame["f"] == "failure":
                failure = from_plain(Failure, frame["failure"])
                raise _KINDS.get(failure.kind, TuibenchError).from_reason(failure.as_reason())
            else:
                found = dict(frame["result"])
    return found


def _death(code: int, job: LayerJob) -> TuibenchError:
    if code < 0:
        return EngineError("engine_process_died", engine=job.engine, signal=signal_name(-code))
    said = because("error", text=find_assertion(job.log_path) or "no reason given").fields["text"]
    return EngineError("engine_ended_process", engine=job.engine, exit_code=code, text=said)

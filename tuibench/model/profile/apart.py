"""Times layers in an engine's own interpreter, on a copy of the model; any end of that process becomes an answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import onnx

from tuibench.core.engine import entry_of, install_command
from tuibench.core.errors import EngineError, TuibenchError, signal_name
from tuibench.core.reason import Failure, because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.value import dataclass
from tuibench.engines.protocol import BadSetting, EngineRefusal, LayerJob, LayerOrder, Tell
from tuibench.model.adaptation import write_copy
from tuibench.model.profile.events import Flat
from tuibench.model.profile.layers import open_timed, setting_for
from tuibench.worker.job import Assembler, find_assertion, send
from tuibench.worker.start import start_command, start_environment

_COPY = "copy.onnx"
_PAGE = 1 << 16
_KINDS: dict[str, type[TuibenchError]] = {"refused": EngineRefusal, "setting": BadSetting, "engine": EngineError}


@dataclass(frozen=True, slots=True)
class CopiedModel:
    """A model's copy, with what is needed to measure it and to name its nodes."""

    order: LayerOrder
    model: onnx.ModelProto
    job: LayerJob
    original: Flat
    copy: Flat

    def call(self, function: str, tell: Tell, **changes: Any) -> dict[str, Any]:
        """Run a function of the engine in its interpreter."""
        return call_apart(self.order.interpreter, replace(self.job, function=function, **changes), tell)


@contextmanager
def copied_model(order: LayerOrder, engine: str) -> Iterator[CopiedModel]:
    """Yield a copy of the order's model in the form that an engine takes; delete it afterwards."""
    model, bundle = open_timed(order)
    entry = entry_of(engine)
    if entry is None or entry.model_form is None or not order.interpreter:
        raise EngineError("engine_apart_missing", engine=engine, command=install_command(engine))
    work = Path(order.work_dir)
    copy = work / _COPY
    try:
        write_copy(order.path, entry.model_form, bundle, copy)
        setting = setting_for(str(copy), order.cpus, order.threads, order.work_dir)
        job = LayerJob(engine, "", setting, bundle, order.runs, order.max_s, str(work / f"{engine}.log"))
        changed = onnx.load(copy, load_external_data=False)
        yield CopiedModel(order, model, job, Flat(model.graph), Flat(changed.graph))
    finally:
        for path in work.glob(f"{_COPY}*"):
            path.unlink(missing_ok=True)


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

"""Reads inputs and outputs of a model that only an engine with its own interpreter can read, in that interpreter."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import IO, cast

from tuibench.core.errors import ModelError
from tuibench.core.model import Port
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.engines.error_words import exception_reason
from tuibench.engines.protocol import LoadSettings
from tuibench.worker import isolation
from tuibench.worker.job import receive, send
from tuibench.worker.start import start_command, start_environment

Interface = tuple[tuple[Port, ...], tuple[Port, ...]]


def ask_interface(engine: str, path: str, interpreter: str) -> Interface:
    """Return inputs and outputs of a model; raise ModelError if its process refuses the file or dies.

    It ends with this process and shares its limit of memory; the caller limits the time.
    """
    # Made here, because an engine may end its process; engines leave files where they run.
    with tempfile.TemporaryDirectory() as work_dir:
        return _ask(engine, os.path.abspath(path), interpreter, work_dir)


def _ask(engine: str, path: str, interpreter: str, work_dir: str) -> Interface:
    process = subprocess.Popen(
        start_command("tuibench.worker.interface", interpreter),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=start_environment(interpreter),
        cwd=work_dir,
    )
    with process:
        inbox, outbox = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            send(inbox.fileno(), {"engine": engine, "path": path, "parent": os.getpid()})
            answer = receive(outbox.fileno())
        except (BrokenPipeError, EOFError):
            reason = because("ended_without_answer", exit_code=process.wait())
            raise ModelError("engine_cannot_read", path=path, why=reason) from None
    if "error" in answer:
        raise ModelError("engine_cannot_read", path=path, why=from_plain(Reason, answer["error"]))
    inputs, outputs = (tuple(from_plain(Port, port) for port in answer[role]) for role in ("inputs", "outputs"))
    return inputs, outputs


def main() -> None:
    """Answer one request from stdin; engines cannot reach the answer's descriptor."""
    outbox = os.dup(1)
    os.dup2(2, 1)
    request = receive(0)
    isolation.die_with_parent(int(request["parent"]))
    isolation.ignore_interrupts()
    try:
        engine = factory.make(str(request["engine"]))
        setting = _plain_setting(str(request["path"]), os.getcwd())
        isolation.apply_environment({**isolation.thread_variables(1), **engine.environment(setting)})
        engine.start()
        session = engine.load(setting)
        send(outbox, {"inputs": to_plain(session.inputs()), "outputs": to_plain(session.outputs())})
    except Exception as error:  # process boundary: an engine raises any type
        send(outbox, {"error": to_plain(exception_reason(error, 1000))})
    os._exit(0)


def _plain_setting(path: str, work_dir: str) -> LoadSettings:
    return LoadSettings(
        model_path=path,
        threads=1,
        streams=1,
        cpus=tuple(sorted(os.sched_getaffinity(0)))[:1],
        pin="none",
        precision="engine-default",
        one_at_a_time=True,
        work_dir=work_dir,
    )

"""Times layers in the interpreter of an engine that has its own; a child task starts it and reads its frames."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib import import_module
from typing import Any

from tuibench.core.record import from_plain, to_plain
from tuibench.engines import factory
from tuibench.engines.protocol import LayerJob
from tuibench.host.noise import Witness
from tuibench.worker import isolation
from tuibench.worker.bundle import read_bundle
from tuibench.worker.job import receive, send
from tuibench.worker.main import describe


def main() -> None:
    """Run the job received on stdin; frames leave on stdout, which engines cannot reach."""
    frames = os.dup(1)
    message = receive(0)
    isolation.die_with_parent(message["parent"])
    isolation.ignore_interrupts()
    job = from_plain(LayerJob, message["job"])
    isolation.redirect_output(job.log_path)
    isolation.prefer_oom_kill()
    stage = ["start"]

    def tell(name: str, done: int, of: int) -> None:
        stage[0] = name
        send(frames, {"f": "stage", "stage": name, "done": done, "of": of})

    try:
        send(frames, {"f": "result", "result": carry_out(job, tell)})
    except BaseException as error:  # process boundary: any error becomes the answer
        send(frames, {"f": "failure", "failure": to_plain(describe(error, stage[0]))})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def carry_out(job: LayerJob, tell: Any) -> dict[str, Any]:
    """Pin, set the environment, import the engine and measure; add its version and the readings of the machine."""
    setting = job.setting
    if job.zeros is None:
        # Pretending zeros compiles without an end if the process may use one CPU only: it is pinned after that.
        isolation.pin_process(setting.cpus)
    engine = factory.make(job.engine)
    isolation.apply_environment({**isolation.thread_variables(setting.threads), **engine.environment(setting)})
    version = engine.start()
    feed = read_bundle(job.bundle)[0]
    setting = replace(setting, shapes={name: tuple(value.shape) for name, value in feed.items()})
    witness = Witness(setting.cpus)
    witness.start()
    module, _, function = job.function.partition(":")
    found: dict[str, Any] = getattr(import_module(module), function)(replace(job, setting=setting), feed, tell, witness)
    return {**found, "version": version, "noise": to_plain(witness.finish())}

"""Calls a child process for one answer and turns its death into an error."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tuibench.core.errors import ModelError, PhaseTimeout, TuibenchError
from tuibench.runs.stopping import StopSwitch
from tuibench.runs.task import ChildDeath, call_child


def ask_child(
    task: str,
    request: dict[str, Any],
    *,
    what: str,
    timeout_s: float,
    hint: str = "",
    hear: Callable[[dict[str, Any]], float | None] | None = None,
    kind: type[TuibenchError] = ModelError,
    stop: StopSwitch | None = None,
) -> Any:
    """Return a child's answer; raise `kind` if it dies, with `what` in the message and `hint` if its log is empty.

    Tripping `stop` from another thread ends the child and raises Cancelled here.
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
        raise error(f"{what} {death.message}", death.log_tail or hint) from death
    finally:
        os.close(log)
        if stop is None:
            switch.close()

"""Calls a child process for one answer and turns its death into an error; fetches models in one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tuibench.core.errors import ModelError, PhaseTimeout, TuibenchError
from tuibench.core.machine import Places
from tuibench.core.model import FetchedModel, FetchProgress, public_name
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.runs.task import ChildDeath, StopSwitch, call_child


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


_SILENCE_S = 150.0
"""Limit for a hung child; the child itself gives up sooner on a silent server."""


class ModelFetch:
    """One download of a model; an interrupted download leaves no file."""

    def __init__(self, token: str, places: Places, *, bounds: Mapping[str, Any] | None = None) -> None:
        self._token = token
        self._shown = show(public_name(token), 120)
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

        what = f"fetching {self._shown}"
        answer = ask_child("fetch", self._request, what=what, timeout_s=_SILENCE_S, hint="try it again", hear=hear)
        source = ModelSource(public_name(self._token), str(answer["path"]))
        return FetchedModel(
            source, str(answer["name"]), str(answer["sha256"]), int(answer["bytes"]), int(answer["fetched"])
        )

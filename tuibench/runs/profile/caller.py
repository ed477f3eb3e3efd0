"""Calls the child processes that make the parts of a profile: requests, time limits and failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.model import Point
from tuibench.core.reason import Failure
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.supervision import Bounds, OutOfTime, count_oom_kills
from tuibench.runs.task import Call, ChildDeath, StopSwitch

Hear = Callable[[dict[str, Any]], object]

_PHASES = {
    "loading": "load",
    "first": "first",
    "checking": "check",
    "profiling": "timed",
    "timing": "timed",
    "changing": "timed",
}
"""Maps a child's stage to a benchmark phase."""
_KINDS = {ExitCode.MODEL: "model", ExitCode.ENGINE: "engine", ExitCode.TIMEOUT: "timeout", ExitCode.USAGE: "inputs"}


def _ignore(_: dict[str, Any]) -> None:
    """Ignore a line."""


def _phase_of(line: Mapping[str, Any]) -> str:
    """Return the benchmark phase that a line announces; '' if it announces none."""
    if "stage" in line:
        return _PHASES.get(str(line["stage"]), str(line["stage"]))
    if "running" in line:
        return "first" if line["running"] else "start"
    return ""


@dataclass(slots=True)
class Caller:
    """Calls the children of one session; a child's death becomes a Failure."""

    spec: BenchmarkSpec
    run_dir: Path
    stop: StopSwitch
    bounds: Bounds
    memory_room: Callable[[], int | None]
    call: Call
    point: Point | None = None
    """Set once inputs are prepared."""

    def ask(
        self,
        task: str,
        told: Mapping[str, Any],
        *,
        log: str = "",
        expected_s: float | None = None,
        hear: Hear = _ignore,
    ) -> Any:
        """Return the child's answer or its Failure; raise OutOfTime if the command's time is over.

        `expected_s` is the longest expected silence of the child.
        """
        phase = ["start"]

        def on_line(line: dict[str, Any]) -> float:
            phase[0] = _phase_of(line) or phase[0]
            hear(line)
            return self._limit_s(phase[0], expected_s)

        oom_before = count_oom_kills()
        try:
            return self.call(
                task,
                self._request() | dict(told),
                timeout_s=self._limit_s("load", expected_s),
                stop=self.stop,
                log_path=str(self.run_dir / "logs" / f"{(log or task).replace(' ', '-')}.log"),
                on_line=on_line,
            )
        except ChildDeath as death:
            if death.kind == "timeout" and self.bounds.over:
                raise OutOfTime from death
            if death.signal == "SIGKILL" and count_oom_kills() > oom_before:
                return Failure("memory", phase[0], "killed by the kernel: out of memory", death.signal, death.log_tail)
            return Failure(death.kind, phase[0], death.message, death.signal, death.log_tail)
        except TuibenchError as error:
            kind = _KINDS.get(error.exit_code, "exception")
            return Failure(kind, "load" if kind == "model" else phase[0], error.message, None, error.hint or None)

    def _request(self) -> dict[str, Any]:
        """Return the fields of every child's request."""
        return {
            "path": self.spec.models[0].path,
            "engine": self.spec.engines[0],
            "point": None if self.point is None else to_plain(self.point),
            "run_dir": str(self.run_dir),
            "memory_bytes": self.spec.limits.memory_bytes or self.memory_room(),
            "parent": os.getpid(),
            "spec": to_plain(self.spec),
        }

    def _limit_s(self, phase: str, expected_s: float | None) -> float:
        """Return the limit of a phase; loading gets the larger of its own limit and the expected time.

        A first inference always has its own limit: waiting longer for a hung one gains nothing.
        """
        if phase == "first":
            return self.bounds.limit_s("first", None)
        if expected_s is None or phase in ("load", "check"):
            return max(self.bounds.limit_s("load", None), self.bounds.limit_s("load", expected_s))
        return self.bounds.limit_s("timed", expected_s)

"""The children that make the parts of a profile: what each is told, how long it may take, what its end means."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuibench.core.cell import Failure
from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.model import Point
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.stopping import StopSwitch
from tuibench.runs.supervision import Bounds, OutOfTime, count_oom_kills
from tuibench.runs.task import Call, ChildDeath

Hear = Callable[[dict[str, Any]], object]

_PHASES = {
    "loading": "load",
    "first": "first",
    "checking": "check",
    "profiling": "timed",
    "timing": "timed",
    "changing": "timed",
}
"""What a child says it is at, and the phase that this is of a benchmark."""
_KINDS = {ExitCode.MODEL: "model", ExitCode.ENGINE: "engine", ExitCode.TIMEOUT: "timeout", ExitCode.USAGE: "inputs"}


def _ignore(_: dict[str, Any]) -> None:
    """What nobody asked to hear."""


def _phase_of(line: Mapping[str, Any]) -> str:
    """Which phase of a benchmark it is that a child says it is at; '' where it says none."""
    if "stage" in line:
        return _PHASES.get(str(line["stage"]), str(line["stage"]))
    if "running" in line:
        return "first" if line["running"] else "start"
    return ""


@dataclass(slots=True)
class Caller:
    """Calls the children of one sitting; a death is an answer, too."""

    spec: BenchmarkSpec
    run_dir: Path
    stop: StopSwitch
    bounds: Bounds
    memory_room: Callable[[], int | None]
    call: Call
    point: Point | None = None
    """Once it is known."""

    def ask(
        self,
        task: str,
        told: Mapping[str, Any],
        *,
        log: str = "",
        expected_s: float | None = None,
        hear: Hear = _ignore,
    ) -> Any:
        """What the child answers, or the Failure that it ended with; OutOfTime where the command's time was over.

        `expected_s` is how long it is silent at most, as it was told.
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
        """What every child is told."""
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
        """A child that loads has what loading may take, and what it was told to take in either case.

        A first inference has its own limit whatever was expected: one without an end tells no more in longer.
        """
        if phase == "first":
            return self.bounds.limit_s("first", None)
        if expected_s is None or phase in ("load", "check"):
            return max(self.bounds.limit_s("load", None), self.bounds.limit_s("load", expected_s))
        return self.bounds.limit_s("timed", expected_s)

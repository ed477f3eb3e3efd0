"""Calls the child processes that make the parts of a profile: requests, time limits and failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tuibench.core.errors import ExitCode, TuibenchError
from tuibench.core.failure import Failure, failure_words
from tuibench.core.model import Point
from tuibench.core.record import to_compact, to_plain
from tuibench.core.spec import BenchmarkSpec, ProfileSpec
from tuibench.runs.control import ControlPoller
from tuibench.runs.journal import require_room
from tuibench.runs.outcome import code_of
from tuibench.runs.profile.parts import Pace, Parts, name_part
from tuibench.runs.profile.roof_cache import MachineCache
from tuibench.runs.run import Setup
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


_MORE_TIME = "--timeout 2 waits twice as long"


class NothingMeasured(TuibenchError):
    """No layer could be measured; the exit code is that of the cause."""

    @classmethod
    def because(cls, failure: Failure, before: str = "") -> Self:
        """Return the error for an empty profile; `before` prefixes the failure's words."""
        hint = _MORE_TIME if failure.kind == "timeout" else failure.log_tail or ""
        error = cls(f"{before}{failure_words(failure)}", hint)
        error.exit_code = code_of(failure)
        return error


class WindUp(Exception):
    """The user asked to finish the profile early; nothing failed."""


@dataclass(frozen=True, slots=True)
class ProfileSession:
    """One session of a profile run."""

    spec: BenchmarkSpec
    setup: Setup
    parts: Parts
    caller: Caller
    pace: Pace
    cache: MachineCache
    control: ControlPoller
    bounds: Bounds

    @property
    def asked(self) -> ProfileSpec:
        """Return the profile specification."""
        if self.spec.profile is None:
            raise ValueError("a specification without a profile")
        return self.spec.profile

    @property
    def cores(self) -> int:
        """Return the profiled core count."""
        return self.spec.cores[0]

    def listen(self) -> None:
        """Apply control requests."""
        self.control.poll(None)

    def pass_between(self) -> None:
        """Check between parts and pieces: raise if the profile is to end now."""
        self.setup.stop.check()
        self.listen()
        if self.control.finishing and self.parts.worth(self.asked):
            raise WindUp
        if self.bounds.over:
            raise OutOfTime
        require_room(self.setup.run_dir)

    def placed(self) -> dict[str, Any]:
        """Return the currently idlest CPUs and the thread count."""
        return {"cpus": list(self.setup.machine.choose(self.cores)), "threads": self.cores}

    def keep(self, part: str, result: Any, n: int = 0, **more: Any) -> None:
        """Write a finished part durably."""
        self._append({"part": part, "n": n, "result": to_compact(result), **more})

    def keep_piece(self, part: str, one: str, result: Any, level: str = "") -> None:
        """Write one of many results of a part."""
        self._append({"part": part, "id": one, "level": level, "result": to_plain(result)})

    def fail(self, part: str, failure: Failure, n: int = 0) -> None:
        """Record the failure of a part; other parts continue."""
        # A failure for lack of disk space says nothing about the model and can be retried.
        require_room(self.setup.run_dir)
        self._append({"part": part, "n": n, "failure": to_plain(failure)})
        self.setup.journal.append("warning", message=f"{name_part(part, n)}: {failure_words(failure)}")

    def note(self, part: str, begin: Mapping[str, Any]) -> None:
        """Record a child's first line."""
        self._append({"part": part, "begin": dict(begin)})

    def _append(self, fields: dict[str, Any]) -> None:
        self.setup.journal.append("profile_part", **fields)
        self.parts.take(fields)

"""The shared context of a profile's part makers: journal, children, and checks between parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tuibench.core.errors import TuibenchError
from tuibench.core.failure import Failure, failure_words
from tuibench.core.profile_spec import ProfileSpec
from tuibench.core.record import to_compact, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.hearing import ControlPoller
from tuibench.runs.journal import require_room
from tuibench.runs.outcome import code_of
from tuibench.runs.profile_call import Caller
from tuibench.runs.profile_pace import Pace
from tuibench.runs.profile_part import Parts, name_part
from tuibench.runs.roof_shelf import MachineCache
from tuibench.runs.run import Setup
from tuibench.runs.supervision import Bounds, OutOfTime

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

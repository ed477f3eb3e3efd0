"""What the makers of a profile's parts share: its journal, its children, and what is between two parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tuibench.core.cell import Failure
from tuibench.core.errors import TuibenchError
from tuibench.core.failure import failure_words
from tuibench.core.profile_spec import ProfileSpec
from tuibench.core.record import to_compact, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.hearing import Hearing
from tuibench.runs.journal import require_room
from tuibench.runs.outcome import code_of
from tuibench.runs.profile_call import Caller
from tuibench.runs.profile_pace import Pace
from tuibench.runs.profile_part import Parts, name_part
from tuibench.runs.roof_shelf import RoofShelf
from tuibench.runs.run import Setup
from tuibench.runs.supervision import Bounds, OutOfTime

_MORE_TIME = "--timeout 2 waits twice as long"


class NothingMeasured(TuibenchError):
    """No layer could be measured; the exit code is that of the reason."""

    @classmethod
    def because(cls, failure: Failure, before: str = "") -> Self:
        """The end of a profile with nothing in it, `before` the words of the failure."""
        hint = _MORE_TIME if failure.kind == "timeout" else failure.log_tail or ""
        error = cls(f"{before}{failure_words(failure)}", hint)
        error.exit_code = code_of(failure)
        return error


class WindUp(Exception):
    """Somebody wants the profile as it is; nothing failed."""


@dataclass(frozen=True, slots=True)
class ProfileSitting:
    """One sitting of a run that makes a profile."""

    spec: BenchmarkSpec
    setup: Setup
    parts: Parts
    caller: Caller
    pace: Pace
    shelf: RoofShelf
    hearing: Hearing
    bounds: Bounds

    @property
    def asked(self) -> ProfileSpec:
        """What is asked of the profile."""
        if self.spec.profile is None:
            raise ValueError("a specification without a profile")
        return self.spec.profile

    @property
    def cores(self) -> int:
        """The one count of them that is profiled."""
        return self.spec.cores[0]

    def listen(self) -> None:
        """Take up wishes."""
        self.hearing.listen(None)

    def pass_between(self) -> None:
        """Before each part, and before each of many pieces: end here where that is wanted or must be."""
        self.setup.stop.check()
        self.listen()
        if self.hearing.finishing and self.parts.worth(self.asked):
            raise WindUp
        if self.bounds.over:
            raise OutOfTime
        require_room(self.setup.run_dir)

    def placed(self) -> dict[str, Any]:
        """The CPUs that are idlest now, and as many threads."""
        return {"cpus": list(self.setup.machine.choose(self.cores)), "threads": self.cores}

    def keep(self, part: str, result: Any, n: int = 0, **more: Any) -> None:
        """Write a part down and wait until the disk has it."""
        self._append({"part": part, "n": n, "result": to_compact(result), **more})

    def keep_piece(self, part: str, one: str, result: Any, level: str = "") -> None:
        """One of many results of the same part."""
        self._append({"part": part, "id": one, "level": level, "result": to_plain(result)})

    def fail(self, part: str, failure: Failure, n: int = 0) -> None:
        """Write down that a part could not be made; the others go on."""
        # What fails for want of disk says nothing about the model, and can be made later.
        require_room(self.setup.run_dir)
        self._append({"part": part, "n": n, "failure": to_plain(failure)})
        self.setup.journal.append("warning", message=f"{name_part(part, n)}: {failure_words(failure)}")

    def note(self, part: str, begin: Mapping[str, Any]) -> None:
        """What a child said before it began."""
        self._append({"part": part, "begin": dict(begin)})

    def _append(self, fields: dict[str, Any]) -> None:
        self.setup.journal.append("profile_part", **fields)
        self.parts.take(fields)

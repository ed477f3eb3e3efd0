"""Progress of a profile and its estimated time left, as journal events."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tuibench.core.profile_spec import ProfileSpec
from tuibench.runs.journal import Journal
from tuibench.runs.profile_part import LAYERS, LOSSES, Parts, list_parts

_USUAL_S = {"costs": 1.5, "roofline": 2.0, "zeros": 1.0, "layers": 4.0, "what_if": 12.0, "weights": 2.0}
"""Used until a part of the kind has been made."""
_WORDS = {
    "costs": "counting what each layer costs",
    "roofline": "measuring what this machine can do",
    "zeros": "measuring what zeros gain here",
    "layers": "timing layers",
    "what_if": "timing layers alone",
    "weights": "looking at the weights",
    "loss": "changing one layer at a time",
}
_STAGES = {
    "loading": "loading",
    "first": "first inference",
    "checking": "checking",
    "profiling": "profiled runs",
    "timing": "runs without the profiler",
}


class Pace:
    """Reports the progress of one session."""

    def __init__(
        self, journal: Journal, spec: ProfileSpec, parts: Parts, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._journal = journal
        self._spec = spec
        self._parts = parts
        self._clock = clock
        self._walls: dict[str, list[float]] = {}
        self._began = clock()
        self._kind = ""

    def begin(self, name: str, of: int = 0) -> None:
        """Start a part."""
        self._began, self._kind = self._clock(), name.partition(" ")[0]
        done, total = self._steps(name, 0, of)
        self.say(self._words(done, total), done, total)

    def hear(self, name: str, line: dict[str, Any]) -> None:
        """Report a child's stage."""
        if "stage" in line:
            done, total = self._steps(name, int(line.get("done") or 0), int(line.get("of") or 0))
            stage = _STAGES.get(str(line["stage"]), str(line["stage"])[:40])
            self.say(f"{self._words(done, total)}: {stage}", done, total)

    def piece(self, done: int, of: int) -> None:
        """Report one more piece of the current part."""
        self.say(self._words(done, of), done, of)

    def end(self) -> None:
        """Finish a part and record its duration."""
        self._walls.setdefault(self._kind, []).append(self._clock() - self._began)

    def say(self, activity: str, done: int = 0, of: int = 0) -> None:
        """Write a progress event."""
        self._journal.append(
            "progress", cell=None, activity=activity, stage=self._kind, done=done, of=of, eta_s=self._eta_s(done, of)
        )

    def _words(self, done: int, of: int) -> str:
        words = _WORDS.get(self._kind, self._kind)
        if self._kind == LAYERS:
            return f"{words}, process {min(done + 1, of)} of {of}"
        return f"{words}, {done} of {of}" if of else words

    def _steps(self, name: str, done: int, of: int) -> tuple[int, int]:
        """Return the step and the total; for layers these are processes, whatever the child reports."""
        return (int(name.partition(" ")[2]) - 1, self._spec.processes) if self._kind == LAYERS else (done, of)

    def _eta_s(self, done: int, of: int) -> float | None:
        """Return the estimated seconds left, None if unknown."""
        ahead = [name for name in list_parts(self._spec) if name not in self._parts.done | self._parts.failures.keys()]
        kinds = [name.partition(" ")[0] for name in ahead]
        spent = self._clock() - self._began if self._kind else 0.0
        total = 0.0
        for place, kind in enumerate(kinds):
            if kind == LOSSES:
                each = self._parts.begin.get("ms_each")
                if each is None or of <= 0:
                    return None
                total += max(0, of - done) * float(each) / 1000
                continue
            expected = _middle(self._walls.get(kind, ())) or _USUAL_S[kind]
            total += max(0.0, expected - spent) if place == 0 and kind == self._kind else expected
        return total


def _middle(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None

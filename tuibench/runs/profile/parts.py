"""The parts of a profile in its journal: each is durable before the next begins, and none is made twice."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tuibench.core.profile import (
    COSTS,
    INT8,
    LAYERS,
    LOSS,
    LOSSES,
    ROOFLINE,
    WEIGHTS,
    WHAT_IF,
    ZEROS,
    CostProfile,
    LayerLoss,
    LayerRun,
    LossPoint,
    PrunedPoint,
    Roofline,
    WhatIf,
    ZeroEffect,
    name_part,
    split_part,
)
from tuibench.core.reason import Failure, Reason, because
from tuibench.core.record import strictly, to_plain
from tuibench.core.spec import ProfileSpec
from tuibench.runs.journal import Journal

_OF_THE_MACHINE = frozenset({ROOFLINE, ZEROS})
"""Optional parts: they describe the machine, and layers can be timed without them."""


def list_parts(spec: ProfileSpec) -> tuple[str, ...]:
    """Return the names of all parts of the profile, in the order of their making."""
    if spec.kind == LOSS:
        return (COSTS, WEIGHTS) if spec.approximate else (COSTS, WEIGHTS, LOSSES)
    layers = [name_part(LAYERS, n) for n in range(1, spec.processes + 1)]
    return (COSTS, ROOFLINE, ZEROS, *layers, *([WHAT_IF] if spec.what_if else []))


def order_levels(spec: ProfileSpec) -> tuple[str, ...]:
    """Return the requested levels; with a budget the level measured on every layer comes first."""
    first = INT8 if spec.budget and INT8 in spec.levels else spec.levels[0]
    return (first, *(level for level in spec.levels if level != first))


@dataclass(slots=True)
class Parts:
    """The parts of a profile so far."""

    counts_only: bool = False
    """True to count results instead of building them."""
    costs: CostProfile | None = None
    roofline: Roofline | None = None
    zeros: ZeroEffect | None = None
    pruned: dict[tuple[str, str, float], PrunedPoint] = field(default_factory=dict)
    """Keyed by (operator, layer, share of zeros); the first two are '' for the whole model."""
    runs: dict[int, LayerRun] = field(default_factory=dict)
    what_if: dict[tuple[str, str], WhatIf] = field(default_factory=dict)
    """Keyed by (main node of a row, form)."""
    weights: tuple[LayerLoss, ...] | None = None
    begin: dict[str, Any] = field(default_factory=dict)
    """The line that the loss child sends before its first change."""
    points: dict[tuple[str, str], LossPoint] = field(default_factory=dict)
    """Keyed by (layer, level), in the order of measurement."""
    answer: dict[str, Any] = field(default_factory=dict)
    """The final answer of the loss child."""
    notes: tuple[Reason, ...] = ()
    """Its notes, which both have."""
    done: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    """Keyed by the name of the part."""
    pieces: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    """Keys of the measured pieces of each part: processes, layers alone, changed layers."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Apply one `profile_part` event; later events win."""
        part, n = str(event["part"]), int(event.get("n") or 0)
        name = name_part(part, n)
        if event.get("failure") is not None:
            self.failures[name] = strictly(Failure)(event["failure"])
        elif event.get("id") is not None:
            key = str(event["id"]), str(event.get("level") or event["result"].get("form") or "")
            self.pieces.setdefault(part, set()).add(key)
            if not self.counts_only:
                self._take_piece(part, str(event["id"]), event)
        elif event.get("begin") is not None:
            self.begin = dict(event["begin"])
            self.notes = _read_notes(self.begin)
        else:
            if part == LAYERS:
                self.pieces.setdefault(part, set()).add((str(n),))
            if not self.counts_only:
                self._take_whole(part, n, event.get("result"))
            self.failures.pop(name, None)
            self.done.add(name)

    def _take_piece(self, part: str, one: str, event: Mapping[str, Any]) -> None:
        if part == ZEROS or (part == WHAT_IF and "zeros" in event["result"]):
            point = strictly(PrunedPoint)(event["result"])
            self.pruned[point.operator, point.layer, point.zeros] = point
        elif part == WHAT_IF:
            found = strictly(WhatIf)(event["result"])
            self.what_if[one, found.form] = found
        elif part == LOSSES:
            self.points[one, str(event["level"])] = strictly(LossPoint)(event["result"])

    def _take_whole(self, part: str, n: int, result: Any) -> None:
        if part == COSTS:
            self.costs = strictly(CostProfile)(result)
        elif part == ROOFLINE:
            self.roofline = strictly(Roofline)(result)
        elif part == ZEROS:
            self.zeros = strictly(ZeroEffect)(result)
        elif part == LAYERS:
            self.runs[n] = strictly(LayerRun)(result)
        elif part == WEIGHTS:
            self.weights = strictly(tuple[LayerLoss, ...])(result)
        elif part == LOSSES:
            self.answer = dict(result or {})
            self.notes = _read_notes(self.begin | self.answer)

    @property
    def measured(self) -> int:
        """Return the number of measured pieces: processes, layers alone and changed layers."""
        return sum(map(len, self.pieces.values()))

    @property
    def changes(self) -> int:
        """Return the total number of layer changes, 0 while unknown."""
        done = LOSSES in self.done
        return len(self.pieces.get(LOSSES, ())) if done else int(self.begin.get("points") or 0)

    def worth(self, spec: ProfileSpec) -> bool:
        """Return whether there is anything to show."""
        if spec.kind == LOSS:
            return self.weights is not None and bool(spec.approximate or self.points)
        return bool(self.runs)

    def lacking(self, spec: ProfileSpec) -> dict[str, Failure]:
        """Return the failures of requested parts, without the optional machine parts."""
        named = list_parts(spec)
        return {name: self.failures[name] for name in named if name in self.failures and name not in _OF_THE_MACHINE}

    def counts(self, spec: ProfileSpec) -> dict[str, int]:
        """Return the progress in the counts of a run list.

        For a loss profile count layer changes once their number is known: they are one part, but nearly all of its
        time.
        """
        if spec.kind == LOSS and self.changes > 0:
            done = min(self.measured, self.changes)
            return {"cells": self.changes, "cells_done": done, "executions": self.measured}
        named = list_parts(spec)
        over = self.done | self.failures.keys()
        return {"cells": len(named), "cells_done": sum(name in over for name in named), "executions": self.measured}


def _read_notes(line: Mapping[str, Any]) -> tuple[Reason, ...]:
    notes = line.get("notes")
    return strictly(tuple[Reason, ...])([note for note in notes if note]) if isinstance(notes, list) else ()


_USUAL_S = {"costs": 1.5, "roofline": 2.0, "zeros": 1.0, "layers": 4.0, "what_if": 12.0, "weights": 2.0}
"""Used until a part of the kind has been made."""


class Pace:
    """Reports the progress of one session."""

    def __init__(self, journal: Journal, spec: ProfileSpec, parts: Parts) -> None:
        self._journal = journal
        self._spec = spec
        self._parts = parts
        self._walls: dict[str, list[float]] = {}
        self._began = time.monotonic()
        self._kind = ""
        self._done_before: int | None = None
        """Pieces of the current part from earlier sessions; None before its first piece."""

    def begin(self, name: str, of: int = 0) -> None:
        """Start a part."""
        self._done_before = None
        self._began, (self._kind, _) = time.monotonic(), split_part(name)
        done, total = self._steps(name, 0, of)
        self._say(done, total)

    def hear(self, name: str, line: dict[str, Any]) -> None:
        """Report a child's stage."""
        if "stage" in line:
            done, total = self._steps(name, int(line.get("done") or 0), int(line.get("of") or 0))
            self._say(done, total, stage=str(line["stage"])[:40])

    def piece(self, done: int, of: int) -> None:
        """Report the pieces of the current part."""
        if self._done_before is None:
            self._done_before = done
        self._say(done, of)

    def end(self) -> None:
        """Finish a part and record its duration."""
        self._walls.setdefault(self._kind, []).append(time.monotonic() - self._began)

    def say(self, activity: Reason, done: int = 0, of: int = 0) -> None:
        """Write a progress event."""
        eta_s = self._eta_s(done, of)
        self._journal.append(
            "progress", cell=None, activity=to_plain(activity), stage=self._kind, done=done, of=of, eta_s=eta_s
        )

    def _say(self, done: int, of: int, **stage: str) -> None:
        self.say(because("making_part", part=self._kind, done=done, of=of, **stage), done, of)

    def _steps(self, name: str, done: int, of: int) -> tuple[int, int]:
        """Return the step and the total; for layers these are processes, whatever the child reports."""
        return (split_part(name)[1] - 1, self._spec.processes) if self._kind == LAYERS else (done, of)

    def _eta_s(self, done: int, of: int) -> float | None:
        """Return the estimated seconds left, None if unknown."""
        ahead = [name for name in list_parts(self._spec) if name not in self._parts.done | self._parts.failures.keys()]
        kinds = [split_part(name)[0] for name in ahead]
        spent = time.monotonic() - self._began if self._kind else 0.0
        total = 0.0
        for place, kind in enumerate(kinds):
            if kind == LOSSES:
                each = self._parts.begin.get("ms_each")
                if each is None or of <= 0:
                    return None
                total += max(0, of - done) * float(each) / 1000
                continue
            expected = _middle(self._walls.get(kind, ())) or _USUAL_S[kind]
            is_current = place == 0 and kind == self._kind
            if is_current and self._done_before is not None and done > self._done_before:
                expected = spent * (of - self._done_before) / (done - self._done_before)
            total += max(0.0, expected - spent) if is_current else expected
        return total


def _middle(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None

"""The parts of a profile as its journal has them: each is durable before the next begins, and none is made twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tuibench.core.cell import Failure
from tuibench.core.profile import (
    INT8,
    LOSS,
    CostProfile,
    LayerLoss,
    LayerRun,
    LossPoint,
    ProfileSpec,
    Roofline,
    WhatIf,
    ZeroEffect,
)
from tuibench.core.strict import strictly

COSTS, ROOFLINE, ZEROS, LAYERS, WHAT_IF = "costs", "roofline", "zeros", "layers", "what_if"
WEIGHTS, LOSSES = "weights", "loss"

_OF_THE_MACHINE = frozenset({ROOFLINE, ZEROS})
"""What a profile can do without: it is about the machine, and the layers are timed all the same."""


def name_part(part: str, n: int = 0) -> str:
    """What a part is called in words and in sets: those that come several times have a number."""
    return f"{part} {n}" if n else part


def list_parts(spec: ProfileSpec) -> tuple[str, ...]:
    """The names of all parts that make the profile, in the order in which they are made."""
    if spec.kind == LOSS:
        return (COSTS, WEIGHTS) if spec.approximate else (COSTS, WEIGHTS, LOSSES)
    layers = [name_part(LAYERS, n) for n in range(1, spec.processes + 1)]
    return (COSTS, ROOFLINE, ZEROS, *layers, *([WHAT_IF] if spec.what_if else []))


def order_levels(spec: ProfileSpec) -> tuple[str, ...]:
    """As they were asked for; of a budget first the one at which it looks at every layer."""
    first = INT8 if spec.budget and INT8 in spec.levels else spec.levels[0]
    return (first, *(level for level in spec.levels if level != first))


@dataclass(slots=True)
class Parts:
    """What there is of a profile so far."""

    costs: CostProfile | None = None
    roofline: Roofline | None = None
    zeros: ZeroEffect | None = None
    runs: dict[int, LayerRun] = field(default_factory=dict)
    what_if: dict[tuple[str, str], WhatIf] = field(default_factory=dict)
    """By the node that a row goes by, and form."""
    weights: tuple[LayerLoss, ...] | None = None
    begin: dict[str, Any] = field(default_factory=dict)
    """What the loss child said before its first variant."""
    points: dict[tuple[str, str], LossPoint] = field(default_factory=dict)
    """By layer and level, in the order in which they were made."""
    answer: dict[str, Any] = field(default_factory=dict)
    """What the loss child said at its end."""
    done: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    """By the name of the part."""

    def take(self, event: Mapping[str, Any]) -> None:
        """One `profile_part` of the journal; what came later stands."""
        part, n = str(event["part"]), int(event.get("n") or 0)
        name = name_part(part, n)
        if event.get("failure") is not None:
            self.failures[name] = strictly(Failure)(event["failure"])
        elif event.get("id") is not None:
            self._take_piece(part, str(event["id"]), event)
        elif event.get("begin") is not None:
            self.begin = dict(event["begin"])
        else:
            self._take_whole(part, n, event.get("result"))
            self.failures.pop(name, None)
            self.done.add(name)

    def _take_piece(self, part: str, one: str, event: Mapping[str, Any]) -> None:
        if part == WHAT_IF:
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

    @property
    def measured(self) -> int:
        """How much there is that took measuring: processes, layers alone, changed layers."""
        return len(self.runs) + len(self.what_if) + len(self.points)

    @property
    def changes(self) -> int:
        """Of layers, as many as there will be; 0 until that is known."""
        return len(self.points) if LOSSES in self.done else int(self.begin.get("points") or 0)

    def worth(self, spec: ProfileSpec) -> bool:
        """Whether there is anything to show."""
        if spec.kind == LOSS:
            return self.weights is not None and bool(spec.approximate or self.points)
        return bool(self.runs)

    def lacking(self, spec: ProfileSpec) -> dict[str, Failure]:
        """What failed of that which was asked for; the machine's own figures are an addition."""
        named = list_parts(spec)
        return {name: self.failures[name] for name in named if name in self.failures and name not in _OF_THE_MACHINE}


@dataclass(slots=True)
class PartTally:
    """The same for lists, which only show how far it is."""

    done: set[str] = field(default_factory=set)
    measured: int = 0
    changes: int = 0
    """Of layers, as many as there will be once that is known."""

    def take(self, event: Mapping[str, Any]) -> None:
        """One `profile_part`."""
        part, n = str(event["part"]), int(event.get("n") or 0)
        piece, begin = event.get("id") is not None, event.get("begin") is not None
        if event.get("failure") is not None or not (piece or begin):
            self.done.add(name_part(part, n))
        if begin:
            self.changes = int(event["begin"].get("points") or 0)
        elif event.get("failure") is None and (piece or part == LAYERS):
            self.measured += 1
        elif event.get("failure") is None and part == LOSSES:
            self.changes = self.measured


def count_parts(spec: ProfileSpec, done: set[str], measured: int, changes: int = 0) -> dict[str, int]:
    """How far a profile is, in the numbers by which runs are listed.

    Of a loss profile changes of layers, once it is known how many: they are nearly all of its time, and one part.
    """
    named = list_parts(spec)
    if spec.kind == LOSS and changes > 0:
        return {"cells": changes, "cells_done": min(measured, changes), "executions": measured}
    return {"cells": len(named), "cells_done": sum(name in done for name in named), "executions": measured}

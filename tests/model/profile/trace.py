"""Handmade profile files: kernels with their times, some inside others, as ONNX Runtime writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Made:
    """A kernel, its own time, and the kernels inside it."""

    name: str
    us: int
    op: str = "Relu"
    inside: tuple[Made, ...] = ()

    @property
    def whole_us(self) -> int:
        return self.us + sum(kernel.whole_us for kernel in self.inside)


def lines(runs: Sequence[Sequence[Made]], gap_us: int = 3) -> list[str]:
    """Return the file of some runs; events are written at their end, so a run follows its kernels."""
    events: list[dict[str, object]] = [_event("Session", "model_loading_uri", 0, 5)]
    now = 10
    for run in runs:
        begin = now
        for kernel in run:
            now = _write(events, kernel, now) + gap_us
        events.append(_event("Session", "SequentialExecutor::Execute", begin, now - begin))
        events.append(_event("Session", "model_run", begin, now - begin))
        now += gap_us
    return ["[\n", *(json.dumps(event) + ",\n" for event in events), "]\n"]


def _write(events: list[dict[str, object]], kernel: Made, begin: int) -> int:
    now = begin
    for inner in kernel.inside:
        now = _write(events, inner, now)
    if kernel.inside:
        events.append(_event("Session", "SequentialExecutor::Execute", begin, now - begin))
    sizes = {"activation_size": "8", "output_size": "4"}
    end = begin + kernel.whole_us
    args = {"op_name": kernel.op, **sizes}
    events.append(_event("Node", f"{kernel.name}_kernel_time", begin, kernel.whole_us, args))
    return end


def _event(cat: str, name: str, start: int, us: int, args: dict[str, str] | None = None) -> dict[str, object]:
    return {"cat": cat, "pid": 1, "tid": 1, "dur": us, "ts": start, "ph": "X", "name": name, "args": args or {}}

"""Scripted children of a profile: each task returns its scripted answer and is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.build import QUIET, make_spec
from tests.store.data import START, make_id
from tuibench.core.cell import Estimate, Grade
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.profile import (
    LAYER,
    LOSS,
    PERFORMANCE,
    CostProfile,
    KernelRow,
    LayerLoss,
    LayerRun,
    LossPoint,
    NodeCost,
    ProfileSpec,
    Roofline,
    ZeroEffect,
)
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.base import Setup
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.journal import NAME, Journal, cut_tail, read_events, read_history
from tuibench.runs.replay import Replay, replay
from tuibench.runs.session import choose_run
from tuibench.runs.task import ChildDeath, StopSwitch

Say = Callable[[dict[str, Any]], Any]
Answer = Callable[[dict[str, Any], Say], Any]
"""Maps a request and a listener for its lines to the result; may raise as `call_child` does."""

MODEL = Path("/nowhere/model.onnx")
WHAT_IF = ProfileSpec(PERFORMANCE, what_if=("int8",))
LOSSY = ProfileSpec(LOSS, levels=("pruned 0.5", "int8"))
NODES = (
    NodeCost("conv_out", 0, "Conv", "conv", weight="conv.weight", macs=1_000_000, parameters=432, weight_bytes=1728),
    NodeCost("relu_out", 1, "Relu", "relu", element_flops=1000),
    NodeCost("fc_out", 2, "Gemm", "fc", weight="fc.weight", macs=100_000, parameters=1000, weight_bytes=4000),
)
COSTS = CostProfile(NODES, 1, 1, {}, 1_100_000, 1000, 1432, 0, 5728, 4000, 4000, 0, Reason("traced"))
CALM = Grade("A", legacy_text("quiet"), 0.001, 0.0, False)
ROOFLINE = Roofline(1, 50.0, 100.0, 10.0, ((32768, 200.0),), "a CPU", "2026-11-18T00:00:00Z", grade=CALM)
ZEROS = ZeroEffect("onnxruntime", "1.26.0", Estimate(1.0, 0.98, 1.02, 5), False, legacy_text("no gain"), grade=CALM)
LOSSES = (
    LayerLoss("conv_out", "Conv", "conv", "conv.weight", (16, 3, 3, 3), 432, 0, (0.0, 1.0), {"int8": 40.0}),
    LayerLoss("fc_out", "Gemm", "fc", "fc.weight", (10, 100), 1000, 0, (0.0, 1.0), {"int8": 42.0}),
)


def make_run(unprofiled_us: float = 1000.0, **changes: Any) -> LayerRun:
    """Return one process with two rows that take nine tenths of the time."""
    rows = (
        KernelRow("conv_out", LAYER, "Conv", ("conv_out", "relu_out"), ("conv_kernel",), "FusedConv", 0.82e-3, 0.82e-3),
        KernelRow("fc_out", LAYER, "Gemm", ("fc_out",), ("fc_kernel",), "Gemm", 0.1e-3, 0.1e-3),
    )
    scaled = tuple(
        replace(row, raw_us=row.raw_us * unprofiled_us * 1e3, us=row.us * unprofiled_us * 1e3) for row in rows
    )
    run = LayerRun(
        scaled, unprofiled_us, unprofiled_us * 1.05, 0.5, 10, 100, 2, 5.0, 2.0, 50_000_000, QUIET, "1.26.0", 1, (0,),
        ("avx2",),
    )  # fmt: skip
    return replace(run, **changes)


def make_profile_spec(model: Path, *, profile: ProfileSpec | None = None, **changes: Any) -> BenchmarkSpec:
    """Return a performance profile of one core by an engine with layer times."""
    asked = profile or ProfileSpec(PERFORMANCE)
    return make_spec(model, engines=("onnxruntime",), check=False, profile=asked, **changes)


def say_losses(request: dict[str, Any], say: Callable[[dict[str, Any]], Any], *notes: str) -> Any:
    """Return every layer at every level that is not skipped, each slightly worse than the one before."""
    skip = {tuple(one) for one in request["skip"]}
    wanted = request["layers"] if request["layers"] is not None else [layer.id for layer in LOSSES]
    pairs = [(one, level) for one in wanted for level in request["levels"] if (one, level) not in skip]
    known = {"classes": True, "float32_db": 120.0, "notes": list(notes)}
    say({"begin": known | {"points": len(pairs), "ms_each": 5.0, "samples": 2}})
    for one, level in pairs:
        say({"at": {"id": one, "level": level}})
        db = 30.0 - 10 * (one == "fc_out")
        say({"loss": {"id": one, "point": to_plain(LossPoint(level, db, 0.999, 0.01, 1.0, request["samples"]))}})
    return known


def say_what_if(request: dict[str, Any], say: Callable[[dict[str, Any]], Any]) -> Any:
    """Return half the time for every layer."""
    for one in request["rows"]:
        say({"at": {"id": one}})
        say({"what_if": {"id": one, "ratio": to_plain(Estimate(0.5, 0.48, 0.52, 5)), "reason": ""}})


def plain(value: Any) -> Answer:
    """Return a child without progress messages."""
    return lambda request, say: to_plain(value)


@dataclass
class Scripted:
    """Replaces `call_child`; `answers` override those of single tasks."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, task: str, request: dict[str, Any], **options: Any) -> Any:
        json.dumps(request)  # as it crosses to a process
        self.asked.append((task, request))
        say = options.get("on_line") or (lambda line: None)
        answer: Answer = self.answers.get(task) or USUAL[task]
        return answer(request, say)

    @property
    def tasks(self) -> list[str]:
        """The requested tasks, in order."""
        return [task for task, _ in self.asked]


def _inspect(request: dict[str, Any], say: Callable[[dict[str, Any]], Any]) -> Any:
    return to_plain(ModelSummary(request["path"], "a" * 64, 6000, 0, (), (), nodes=3))


def _prepare(request: dict[str, Any], say: Callable[[dict[str, Any]], Any]) -> Any:
    reference = Reference(None, None, None, legacy_text("not made"))
    say({"point": to_plain(Point("m0p0", 0, 1, 1, {}, {}, (), "inputs.npz", 8, reference))})
    return {}


USUAL: dict[str, Answer] = {
    "inspect": _inspect,
    "prepare": _prepare,
    "cost": plain(COSTS),
    "roofline": lambda request, say: (
        to_plain(ROOFLINE) | ({"zeros": to_plain(ZEROS)} if request.get("zeros_s") else {})
    ),
    "zeros": plain(ZEROS),
    "layers": lambda request, say: to_plain(make_run()),
    "what_if": say_what_if,
    "weights": plain(LOSSES),
    "loss": say_losses,
}


class Bench:
    """A run directory in which profiles are made and resumed."""

    def __init__(self, run_dir: Path, cache: str | None = None) -> None:
        self.run_dir = run_dir
        self.cache = cache
        self.stop = StopSwitch()
        self.saved: list[dict[str, Any]] = []

    def run(self, spec: BenchmarkSpec, call: Scripted, **changes: Any) -> Replay:
        """Run one session from the beginning or from the end of the journal."""
        earlier = self._open(spec)
        seq = read_history(self.run_dir).next_seq if earlier is not None else 0
        journal = Journal(self.run_dir, seq)
        first = {"spec": to_plain(spec), "host": {}, "versions": {}, "started_utc": "now"}
        journal.append("run_start" if earlier is None else "sitting", run="R", **first)

        def save(end: dict[str, Any]) -> dict[str, Any]:
            self.saved.append(end)
            return {"saved": True}

        setup = Setup(
            self.run_dir, journal, CpuChoice(lambda _: None), self.stop, lambda: 8 << 30, 1, earlier=earlier,
            cache=self.cache, save=save, call=call, cpu="a CPU", **changes,
        )  # fmt: skip
        choose_run(spec, setup).carry_out()
        journal.close()
        return replay(read_events(self.run_dir))

    def _open(self, spec: BenchmarkSpec) -> Replay | None:
        if not (self.run_dir / NAME).exists():
            for name in ("logs", "inputs", "samples", "work"):
                (self.run_dir / name).mkdir(parents=True)
            return None
        history = read_history(self.run_dir)
        cut_tail(self.run_dir, history)
        return replay(history.events)

    def cut_after(self, place: int) -> None:
        """Truncate the journal as a crash after its `place`th part would."""
        path = self.run_dir / NAME
        lines = path.read_bytes().splitlines(keepends=True)
        parts = [number for number, line in enumerate(lines) if b'"ev":"profile_part"' in line]
        path.write_bytes(b"".join(lines[: parts[place - 1] + 1] if place else lines[: parts[0]]))


def make_profile_result(number: int, profile: ProfileSpec | None = None, *, us: float = 1000.0) -> RunResult:
    """Return a complete profile with the id of that number; `us` is the time of one inference."""
    spec = make_profile_spec(Path("/models/m.onnx"), profile=profile)
    events: list[dict[str, Any]] = [
        {
            "ev": "run_start",
            "run": make_id(number),
            "spec": to_plain(spec),
            "host_id": "",
            "started_utc": START.isoformat(),
        }
    ]
    said: list[dict[str, Any]] = []
    model, _ = _inspect({"path": "/models/m.onnx"}, said.append), _prepare({}, said.append)
    events.append({"ev": "plan", "cells": [], "models": [model], "points": [said.pop()["point"]]})
    asked = profile or ProfileSpec(PERFORMANCE)
    events.append({"ev": "profile_part", "part": "costs", "result": to_plain(COSTS)})
    if asked.kind == PERFORMANCE:
        events.append({"ev": "profile_part", "part": "roofline", "result": to_plain(ROOFLINE)})
        events.append({"ev": "profile_part", "part": "zeros", "result": to_plain(ZEROS)})
        for n in range(1, asked.processes + 1):
            run = to_plain(make_run(us * (1 + n / 1000)))
            events.append({"ev": "profile_part", "part": "layers", "n": n, "result": run})
    else:
        events.append({"ev": "profile_part", "part": "weights", "result": to_plain(LOSSES)})
        say_losses({"skip": [], "layers": None, "levels": asked.levels, "samples": asked.samples}, said.append)
        for told in (line["loss"] for line in said if "loss" in line):
            piece = {"id": told["id"], "level": told["point"]["level"], "result": told["point"]}
            events.append({"ev": "profile_part", "part": "loss", **piece})
    events.append({"ev": "run_end", "status": "finished"})
    return replay({"seq": seq, "t_ns": seq, **event} for seq, event in enumerate(events)).result()


def dies(request: dict[str, Any], say: Say) -> Any:
    """Return a child that its own task kills."""
    raise ChildDeath("signal", because("died", signal="SIGSEGV"), "SIGSEGV", "its last words")

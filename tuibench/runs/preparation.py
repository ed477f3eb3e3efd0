"""Inspects models and makes their inputs in child processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tuibench.core.drift import reason_against
from tuibench.core.errors import ModelError, PhaseTimeout, TuibenchError, UsageError
from tuibench.core.model import ModelSummary, Point, Reference
from tuibench.core.reason import Drift, Failure, Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.supervision import Bounds
from tuibench.runs.task import Call, ChildDeath, StopSwitch, call_child

Tell = Callable[[Reason], None]


@dataclass(slots=True)
class Prepared:
    """Models and inputs, with the points that hung in ONNX Runtime."""

    models: list[ModelSummary] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)
    """Differences of the outputs of further models from those of the first."""
    hung: dict[str, Reason] = field(default_factory=dict)
    """Maps a point id to the error message; ONNX Runtime is not tried again."""


class Preparation:
    """Prepares one benchmark's models, one child after the other."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        run_dir: Path,
        stop: StopSwitch,
        bounds: Bounds,
        memory_bytes: int | None,
        tell: Tell,
        cache: str | None = None,
        call: Call = call_child,
        interpreters: Mapping[str, str] | None = None,
    ) -> None:
        self._interpreters = dict(interpreters or {})
        self._call = call
        self._cache = cache
        self._spec = spec
        self._run_dir = run_dir
        self._stop = stop
        self._bounds = bounds
        self._memory_bytes = memory_bytes
        self._tell = tell

    def carry_out(self) -> Prepared:
        """Prepare all models in order; among several, an unreadable model gives failed cells instead of an error."""
        prepared = Prepared()
        for index, source in enumerate(self._spec.models):
            try:
                self._tell(because("inspecting", model=source.asked))
                summary = self._inspect(index)
                self._tell(because("making_inputs", model=source.asked))
                points = self._prepare(index, summary, prepared)
            except UsageError:
                raise
            except TuibenchError as error:
                if len(self._spec.models) == 1:
                    raise
                summary = _unread(source.path, error)
                points = [_failed_point(index, error)]
            prepared.models.append(summary)
            prepared.points += points
        prepared.drifts += self._drifts(prepared)
        return prepared

    def _drifts(self, prepared: Prepared) -> Iterator[Drift]:
        """Yield how far the outputs of each further model are from those of the first, at each size of the inputs."""
        for index, new in enumerate(prepared.models[1:], 1):
            base = prepared.models[0]
            if base.sha256 == new.sha256:
                continue
            against = reason_against(base, new) if self._spec.check else Reason("not_asked_for")
            others = {
                (point.batch, *sorted(point.dims.items())): point for point in prepared.points if point.model == index
            }
            for point in prepared.points:
                other = others.get((point.batch, *sorted(point.dims.items())))
                if point.model == 0 and other is not None and point.bundle and other.bundle:
                    yield self._drift(base, new, point, against)

    def _drift(self, base: ModelSummary, new: ModelSummary, point: Point, against: Reason | None) -> Drift:
        generated = self._spec.inputs.file is None
        drift = Drift(base.sha256, new.sha256, point.batch, point.dims, 0, generated, reason=against)
        if against is not None:
            return drift
        self._tell(because("comparing_outputs", base=base.path, new=new.path))
        request: dict[str, Any] = {
            "base": base.path,
            "new": new.path,
            "bundle": point.bundle,
            "run_dir": str(self._run_dir),
        }
        request |= {"is_generated": generated, "memory_bytes": self._memory_bytes, "parent": os.getpid()}
        limit, log = self._bounds.limit_s("first", None), self._log(f"drift-{point.id}")
        try:
            answer = self._call("drift", request, timeout_s=limit, stop=self._stop, log_path=log)
        except (ChildDeath, TuibenchError) as error:
            if self._bounds.over:
                raise
            return replace(drift, reason=because("drift_failed", why=error.reason))
        return replace(drift, **answer)

    def _inspect(self, index: int) -> ModelSummary:
        source = self._spec.models[index]
        request: dict[str, Any] = {"path": source.path, "memory_bytes": self._memory_bytes, "parent": os.getpid()}
        request |= {"cache": self._cache, "interpreters": self._interpreters}
        # Other files are loaded by their engine to read their inputs.
        phase = "inspect" if source.path.endswith((".onnx", ".ort")) else "load"
        try:
            answer = self._call(
                "inspect",
                request,
                timeout_s=self._bounds.limit_s(phase, None),
                stop=self._stop,
                log_path=self._log(f"inspect-{index}"),
            )
        except ChildDeath as death:
            raise self._ended("reading_died", source.asked, death) from death
        return from_plain(ModelSummary, answer)

    def _prepare(self, index: int, summary: ModelSummary, prepared: Prepared) -> list[Point]:
        done: dict[str, Point] = {}
        skipped: list[str] = []
        while True:
            candidate: dict[str, Any] = {}

            def hear(line: dict[str, Any], candidate: dict[str, Any] = candidate) -> float | None:
                for stage in ("candidate", "tried"):
                    if stage in line:
                        candidate.update(point=line[stage], stage=stage)
                if "point" in line:
                    point = from_plain(Point, line["point"])
                    done[point.id] = point
                    candidate.clear()
                return self._bounds.limit_s("first", None)

            try:
                self._ask(index, summary, skipped, hear)
                return list(done.values())
            except ChildDeath as death:
                last = candidate.get("point")
                if self._bounds.over or last is None or last["id"] in skipped:
                    asked = self._spec.models[index].asked
                    raise self._ended("making_inputs_died", asked, death) from death
                skipped.append(last["id"])
                # A timeout of the reference alone does not mean that the model hangs.
                if death.kind == "timeout" and candidate["stage"] == "candidate":
                    prepared.hung[last["id"]] = death.reason

    def _ask(
        self, index: int, summary: ModelSummary, skipped: list[str], hear: Callable[[dict[str, Any]], float | None]
    ) -> None:
        request = {
            "spec": to_plain(self._spec),
            "model": index,
            "summary": to_plain(summary),
            "run_dir": str(self._run_dir),
            "skip_trial": skipped,
            "only": None,
            "reference": self._spec.check,
            "memory_bytes": self._memory_bytes,
            "parent": os.getpid(),
        }
        limit = self._bounds.limit_s("load", None)
        log = self._log(f"prepare-{index}")
        self._call("prepare", request, timeout_s=limit, stop=self._stop, log_path=log, on_line=hear)

    def _ended(self, code: str, model: str, death: ChildDeath) -> TuibenchError:
        """Return the error for a dead child; a timeout of the command is not the model's fault."""
        is_late = death.kind == "timeout"
        reason = because(code, model=model, why=death.reason, late=is_late, tail=death.log_tail or "")
        if self._bounds.over:
            return PhaseTimeout("no_time_for_a_plan", why=reason)
        return (PhaseTimeout if is_late else ModelError).from_reason(reason)

    def _log(self, name: str) -> str:
        return str(self._run_dir / "logs" / f"{name}.log")


def _unread(path: str, error: TuibenchError) -> ModelSummary:
    return ModelSummary(path, f"unread:{path}", 0, 0, (), (), reason=error.reason)


def _failed_point(index: int, error: TuibenchError) -> Point:
    nothing, failure = Reference(None, None, None, error.reason), Failure("model", "inspect", error.reason)
    return Point(f"m{index}", index, None, 1, {}, {}, (), None, 0, nothing, failure=failure)

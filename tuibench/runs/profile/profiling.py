"""One whole profile: prepare, then make its parts in child processes, each durable before the next begins."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tuibench.core.activity import ON_REQUEST
from tuibench.core.errors import EngineError, ModelError, PhaseTimeout, TuibenchError
from tuibench.core.failure import Failure
from tuibench.core.profile import LOSS, ProfileSpec
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.engines import registry
from tuibench.runs.control import ControlPoller
from tuibench.runs.outcome import carry_to_the_end
from tuibench.runs.preparation import Preparation, Prepared
from tuibench.runs.profile.loss import LossMaker
from tuibench.runs.profile.parts import LAYERS, Pace, Parts, count_parts, list_parts
from tuibench.runs.profile.performance import PerformanceMaker
from tuibench.runs.profile.roof_cache import MachineCache
from tuibench.runs.profile.session import Caller, NothingMeasured, ProfileSession, WindUp
from tuibench.runs.resumption import check_plan, hash_inputs
from tuibench.runs.run import Setup
from tuibench.runs.supervision import Bounds
from tuibench.runs.task import Call, call_child

_OUT_OF_TIME = "--max-time was reached; the profile has what was made until then"


@dataclass(frozen=True, slots=True)
class ProfileSetup:
    """The setup of a profile beyond that of every run."""

    machine: str = ""
    """CPU model and engine version, the cache key of machine measurements."""
    call: Call = call_child


class ProfileRun:
    """Runs a profile specification; writes all results to the journal."""

    def __init__(self, spec: BenchmarkSpec, setup: Setup, more: ProfileSetup | None = None) -> None:
        if spec.profile is None:
            raise ValueError("a specification without a profile")
        more = more or ProfileSetup()
        self._spec, self._setup = spec, setup
        self._asked: ProfileSpec = spec.profile
        self._journal = setup.journal
        earlier = setup.earlier
        limits = spec.limits
        deadline = None if limits.max_time_s is None else time.monotonic() + limits.max_time_s
        bounds = Bounds(limits.timeout_scale, deadline)
        self._control = ControlPoller(setup.run_dir, setup.journal, bounds)
        self._parts = earlier.parts if earlier is not None else Parts()
        self._session = ProfileSession(
            spec=spec,
            setup=setup,
            parts=self._parts,
            caller=Caller(spec, setup.run_dir, setup.stop, bounds, setup.memory_room, more.call),
            pace=Pace(setup.journal, self._asked, self._parts),
            cache=MachineCache(setup.cache, more.machine),
            control=self._control,
            bounds=bounds,
        )
        self._planned = False

    def carry_out(self) -> str:
        """Run the profile; return its final status: finished, cancelled, interrupted or failed."""
        self._setup.stop.beat_with(self._session.listen)
        earlier = self._setup.earlier
        end = carry_to_the_end(self._make, self._journal, resumed=earlier is not None, out_of_time=_OUT_OF_TIME)
        if end["status"] == "finished" and not self._setup.plan_only and not self._parts.worth(self._asked):
            end = self._failed()
        if end["status"] in ("finished", "cancelled") and (self._planned or earlier is not None):
            end |= self._setup.save(dict(end))
        self._journal.append("run_end", **end, **self._count())
        return str(end["status"])

    def _count(self) -> dict[str, int]:
        over = self._parts.done | self._parts.failures.keys()
        return count_parts(self._asked, over, self._parts.measured, self._parts.changes)

    def _failed(self) -> dict[str, Any]:
        """Return the end fields of a run without results before its time was over."""
        error = PhaseTimeout("--max-time was over before anything was measured", "give it more time")
        problem = {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
        return {"status": "failed", "reason": error.message, "error": problem}

    def _make(self) -> dict[str, Any]:
        self._prepare()
        if self._setup.plan_only:
            return {"status": "finished"}
        maker = LossMaker(self._session) if self._asked.kind == LOSS else PerformanceMaker(self._session)
        cut_short = False
        try:
            for name in list_parts(self._asked):
                if name not in self._parts.done:
                    self._session.pass_between()
                    maker.make(name)
        except WindUp:
            cut_short = True
        if not self._parts.worth(self._asked):
            raise self._nothing()
        return {"status": "finished"} | ({"reason": ON_REQUEST} if cut_short else {})

    def _nothing(self) -> TuibenchError:
        """Return the error for an empty profile, with the exit code of its cause."""
        lacking = self._parts.lacking(self._asked)
        if not lacking:
            return ModelError("this model has no layer with weights that could be changed", "a loss profile needs one")
        name, failure = next(reversed(lacking.items()))
        part, _, number = name.partition(" ")
        place = f"process {number}" if part == LAYERS and number else name
        return NothingMeasured.because(failure, f"no layer was measured: {place} ")

    def _prepare(self) -> None:
        setup, spec = self._setup, self._spec
        for engine in spec.engines:
            registry.check_timed(engine)
            if self._asked.kind == LOSS and not registry.runs_ours(engine):
                raise EngineError(f"layers are not changed with {engine}", "a loss profile is made without -e")
        memory = spec.limits.memory_bytes or setup.memory_room()
        preparation = Preparation(
            spec,
            setup.run_dir,
            setup.stop,
            self._session.bounds,
            memory,
            self._session.pace.say,
            setup.cache,
            self._session.caller.call,
        )
        prepared = preparation.carry_out()
        if prepared.models[0].format == "ort":
            raise ModelError(
                f"{show(spec.models[0].asked)}: an .ort file has no nodes by which layers could be told",
                "profile the .onnx file that it was made from",
            )
        inputs_sha256 = hash_inputs(spec.inputs.file)
        earlier = setup.earlier
        if earlier is not None and earlier.points:
            check_plan(earlier, prepared, (), inputs_sha256)
        else:
            self._journal.append(
                "plan",
                cells=[],
                models=to_plain(prepared.models),
                points=to_plain(prepared.points),
                seed=setup.seed,
                inputs_sha256=inputs_sha256,
            )
        self._planned = True
        self._refuse_early(prepared)
        self._session.caller.point = prepared.points[0]

    def _refuse_early(self, prepared: Prepared) -> None:
        """Raise NothingMeasured if inputs failed or the model's first inference hung."""
        point = prepared.points[0]
        failure = Failure(*point.failure) if point.failure is not None else None
        if failure is None and point.id in prepared.hung:
            failure = Failure("timeout", "first", prepared.hung[point.id])
        if failure is not None:
            raise NothingMeasured.because(failure)

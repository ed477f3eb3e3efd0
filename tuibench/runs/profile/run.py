"""One whole profile: prepare, then make its parts in child processes, each durable before the next begins."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tuibench.core.errors import EngineError, ExitCode, ModelError, PhaseTimeout, TuibenchError
from tuibench.core.model import Point
from tuibench.core.profile import COSTS, LAYERS, LOSS, CostProfile, ProfileSpec, name_part, split_part
from tuibench.core.reason import FINISHED_ON_REQUEST, KILLED_BY_KERNEL, Failure, Reason, because
from tuibench.core.record import from_plain, to_compact, to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.engines import factory
from tuibench.runs.base import BaseRun, Setup
from tuibench.runs.directory import RunDirectory, empty
from tuibench.runs.journal import plain_error, require_room
from tuibench.runs.preparation import Prepared
from tuibench.runs.profile.parts import Pace, Parts, list_parts
from tuibench.runs.result import code_of
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
        fields: Mapping[str, Any],
        *,
        log: str = "",
        expected_s: float | None = None,
        hear: Hear = _ignore,
    ) -> Any:
        """Return the child's answer or its Failure; raise OutOfTime if the command's time is over.

        `expected_s` is the longest expected silence of the child.
        """
        phase, oom_before = ["start"], count_oom_kills()

        def on_line(line: dict[str, Any]) -> float:
            phase[0] = _phase_of(line) or phase[0]
            hear(line)
            return self._limit_s(phase[0], expected_s)

        try:
            return self.call(
                task,
                self._request() | dict(fields),
                timeout_s=self._limit_s("load", expected_s),
                stop=self.stop,
                log_path=str(self.run_dir / "logs" / f"{(log or task).replace(' ', '-')}.log"),
                on_line=on_line,
            )
        except ChildDeath as death:
            if death.kind == "timeout" and self.bounds.over:
                raise OutOfTime from death
            if death.signal == "SIGKILL" and count_oom_kills() > oom_before:
                return Failure("memory", phase[0], Reason(KILLED_BY_KERNEL), death.signal, death.log_tail)
            return Failure(death.kind, phase[0], death.reason, death.signal, death.log_tail)
        except TuibenchError as error:
            kind = _KINDS.get(error.exit_code, "exception")
            return Failure(kind, "load" if kind == "model" else phase[0], error.reason)
        finally:
            empty(self._work)  # a killed child leaves its copies of the model

    @property
    def _work(self) -> Path:
        return RunDirectory(self.run_dir).work

    def _request(self) -> dict[str, Any]:
        """Return the fields of every child's request."""
        return {
            "path": self.spec.models[0].path,
            "engine": self.spec.engines[0],
            "point": None if self.point is None else to_plain(self.point),
            "run_dir": str(self._work),
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


_COST_S = 30.0


class NothingMeasured(TuibenchError):
    """No layer could be measured; the exit code is that of the cause."""

    @classmethod
    def because(cls, failure: Failure, part: str = "") -> Self:
        """Return the error for an empty profile; `part` is the one that failed, '' for all."""
        kind, process = split_part(part)
        facts = {"late": failure.kind == "timeout", "tail": failure.log_tail or "", "why": failure.as_reason()}
        error = cls("no_layer_measured", part=part, process=process if kind == LAYERS else None, **facts)
        error.exit_code = code_of(failure)
        return error


class WindUp(Exception):
    """The user asked to finish the profile early; nothing failed."""


class ProfileRun(BaseRun):
    """One session of a profile: makes its parts in child processes, each durable before the next begins."""

    out_of_time = Reason("parts_skipped")

    def __init__(self, spec: BenchmarkSpec, setup: Setup) -> None:
        super().__init__(spec, setup)
        self.parts = setup.earlier.parts if setup.earlier is not None else Parts()
        self.caller = Caller(spec, setup.run_dir, setup.stop, self.bounds, setup.memory_room, setup.call)
        self.pace = Pace(setup.journal, self.asked, self.parts)

    @abstractmethod
    def make(self, name: str) -> None:
        """Make the part with this name."""

    @property
    def counts(self) -> dict[str, int]:
        """The run's counts so far, earlier sessions included."""
        return self.parts.counts(self.asked)

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

    def poll(self) -> None:
        """Apply control requests."""
        self.control.poll(None)

    def pass_between(self) -> None:
        """Check between parts and pieces: raise if the profile is to end now."""
        self.setup.stop.check()
        self.poll()
        if self.control.finishing and self.parts.worth(self.asked):
            raise WindUp
        if self.bounds.over:
            raise OutOfTime
        require_room(self.setup.run_dir)

    def placed(self) -> dict[str, Any]:
        """Return the currently idlest CPUs and the thread count."""
        return {"cpus": list(self.setup.cpu_choice.choose(self.cores)), "threads": self.cores}

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
        self.journal.append("warning", message=because("part_failed", part=name_part(part, n), why=failure.as_reason()))

    def note(self, part: str, begin: Mapping[str, Any]) -> None:
        """Record a child's first line."""
        self._append({"part": part, "begin": dict(begin)})

    def _append(self, fields: dict[str, Any]) -> None:
        self.journal.append("profile_part", **fields)
        self.parts.take(fields)

    def make_costs(self) -> None:
        """Make the costs of each node by its shapes."""
        self.pace.begin(COSTS)
        answer = self.caller.ask("cost", {}, expected_s=_COST_S)
        if isinstance(answer, Failure):
            self._refuse_endless(answer)
            # The costs of a model that cannot run unoptimized can still be inferred.
            why = answer.as_reason()
            self.journal.append("warning", message=because("shapes_inferred", why=why))
            inferred = because("unoptimized_failed", why=why)
            answer = self.caller.ask("cost", {"static": to_plain(inferred)}, expected_s=_COST_S)
        if isinstance(answer, Failure):
            self.fail(COSTS, answer)
        else:
            self.keep(COSTS, from_plain(CostProfile, answer))
        self.pace.end()

    def _refuse_endless(self, failure: Failure) -> None:
        """Raise NothingMeasured if the first inference hung and every later part would hang, too."""
        is_endless = (failure.kind, failure.phase) == ("timeout", "first")
        if is_endless and factory.runs_ours(self.spec.engines[0]) and not self.asked.approximate:
            raise NothingMeasured.because(failure)

    def checked(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return the end, or that of a run without results before its time was over."""
        if end["status"] != "finished" or self.setup.plan_only or self.parts.worth(self.asked):
            return end
        error = PhaseTimeout("no_time_to_measure")
        return {"status": "failed", "reason": error.reason, "error": plain_error(error)}

    def measure(self) -> dict[str, Any]:
        """Prepare, then make each missing part; return the fields of the end."""
        self._prepare()
        if self.setup.plan_only:
            return {"status": "finished"}
        cut_short = False
        try:
            for name in list_parts(self.asked):
                if name not in self.parts.done:
                    self.pass_between()
                    self.make(name)
        except WindUp:
            cut_short = True
        if not self.parts.worth(self.asked):
            raise self._nothing()
        return {"status": "finished"} | ({"reason": Reason(FINISHED_ON_REQUEST)} if cut_short else {})

    def _nothing(self) -> TuibenchError:
        """Return the error for an empty profile, with the exit code of its cause."""
        lacking = self.parts.lacking(self.asked)
        if not lacking:
            return ModelError("no_weights_to_change")
        name, failure = next(reversed(lacking.items()))
        return NothingMeasured.because(failure, name)

    def _prepare(self) -> None:
        spec = self.spec
        for engine in spec.engines:
            factory.check_timed(engine)
            if self.asked.kind == LOSS and not factory.runs_ours(engine):
                raise EngineError("layers_not_changed_with", engine=engine)
        prepared = self.prepare(self.pace.say)
        if prepared.models[0].format == "ort":
            raise ModelError("ort_file_has_no_layers", model=spec.models[0].asked)
        earlier, inputs_sha256 = self.check_plan(prepared, ())
        if earlier is None:
            self.write_plan(prepared, (), inputs_sha256)
        self.planned = True
        self._refuse_early(prepared)
        self.caller.point = prepared.points[0]

    def _refuse_early(self, prepared: Prepared) -> None:
        """Raise NothingMeasured if inputs failed or the model's first inference hung."""
        point = prepared.points[0]
        failure = point.failure
        if failure is None and point.id in prepared.hung:
            failure = Failure("timeout", "first", prepared.hung[point.id])
        if failure is not None:
            raise NothingMeasured.because(failure)

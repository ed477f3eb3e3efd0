"""Base of benchmarks and profiles in the runner: preparing, the plan, limits, and the end of a session."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tuibench.core.cell import Cell, Execution
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import CANCELLED_ON_REQUEST, MAX_TIME, Failure, Reason
from tuibench.core.record import to_plain
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.control import ControlPoller
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.journal import Journal, JournalBroken, plain_error
from tuibench.runs.preparation import Preparation, Prepared
from tuibench.runs.replay import Replay
from tuibench.runs.resumption import Disagreement, check_plan, hash_inputs
from tuibench.runs.supervision import Bounds, OutOfTime, Supervision
from tuibench.runs.task import Call, Cancelled, StopSwitch, call_child
from tuibench.worker.job import Job

Save = Callable[[dict[str, Any]], dict[str, Any]]
Execute = Callable[[Job, Bounds, StopSwitch, Callable[[Mapping[str, Any]], None], int], Execution | Failure]


def execute(
    job: Job, bounds: Bounds, stop: StopSwitch, listen: Callable[[Mapping[str, Any]], None], pad: int
) -> Execution | Failure:
    """Run one execution in a real worker."""
    return Supervision(job, bounds, stop, listen, pad).carry_out()


@dataclass(frozen=True, slots=True)
class Setup:
    """The context of a run beside its specification."""

    run_dir: Path
    journal: Journal
    cpu_choice: CpuChoice
    stop: StopSwitch
    memory_room: Callable[[], int | None]
    """Returns the bytes that may be allocated now."""
    seed: int
    execute: Execute = execute
    plan_only: bool = False
    """For --dry-run: stop after the plan."""
    earlier: Replay | None = None
    """The replay of earlier sessions."""
    mixed: bool = False
    """True to resume although the machine may have changed."""
    cache: str | None = None
    """Cache directory for model checksums; None for no cache."""
    save: Save = dict
    """Called when all is measured, before the end event; its result is merged into that event."""
    call: Call = call_child
    """Calls a child process to read the model and to make its inputs."""
    interpreters: Mapping[str, str] = field(default_factory=dict)
    """The Python of each engine that has its own."""
    cpu: str = ""
    """CPU model and engine version, the cache key of machine measurements; '' to read them."""


class BaseRun(ABC):
    """One session of a run: prepares, measures, saves the result and writes the end."""

    out_of_time: ClassVar[Reason]
    """The warning when --max-time was reached."""

    def __init__(self, spec: BenchmarkSpec, setup: Setup) -> None:
        self.spec, self.setup, self.journal = spec, setup, setup.journal
        earlier, limits = setup.earlier, spec.limits
        extended_s = earlier.extended_s if earlier is not None else 0.0
        deadline = None if limits.max_time_s is None else time.monotonic() + limits.max_time_s + extended_s
        self.bounds = Bounds(limits.timeout_scale, deadline)
        self.control = ControlPoller(setup.run_dir, setup.journal, self.bounds, earlier.granted if earlier else ())
        self.planned = False

    @abstractmethod
    def measure(self) -> dict[str, Any]:
        """Prepare and measure everything; return the fields of the end."""

    @abstractmethod
    def poll(self) -> None:
        """Apply control requests."""

    @property
    @abstractmethod
    def counts(self) -> dict[str, int]:
        """The run's counts so far, earlier sessions included."""

    def carry_out(self) -> str:
        """Carry out the session; return its final status: finished, cancelled, interrupted or failed."""
        self.setup.stop.beat_with(self.poll)
        end = self.checked(self._measure())
        if end["status"] in ("finished", "cancelled") and (self.planned or self.setup.earlier is not None):
            end |= self.setup.save(dict(end))
        self.journal.append("run_end", **end, **self.counts)
        return str(end["status"])

    def checked(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return the end, or that of a run without results."""
        return end

    def _measure(self) -> dict[str, Any]:
        """Return the end fields of the session, or those of the exception that ended it."""
        resumed = self.setup.earlier is not None
        try:
            return self.measure()
        except OutOfTime:
            self.journal.append("warning", message=self.out_of_time)
            return {"status": "finished", "reason": Reason(MAX_TIME)}
        except Cancelled as cancelled:
            # A resumed run that is aborted stays interrupted, unless the user cancelled the run itself.
            again = resumed and cancelled.reason.code != CANCELLED_ON_REQUEST
            return {"status": "interrupted" if again else "cancelled", "reason": cancelled.reason}
        except (JournalBroken, Disagreement) as error:
            # No result is lost or wrong: the rest can be measured later.
            return {"status": "interrupted", "reason": error.reason, "exit_code": int(error.exit_code)}
        except TuibenchError as error:
            # A failure in this session does not lose the results of earlier ones.
            return {
                "status": "interrupted" if resumed else "failed",
                "reason": error.reason,
                "error": plain_error(error),
            }

    def prepare(self, tell: Callable[[Reason], None]) -> Prepared:
        """Inspect the models and make their inputs; `tell` reports each step."""
        setup = self.setup
        memory = self.spec.limits.memory_bytes or setup.memory_room()
        return Preparation(
            self.spec,
            setup.run_dir,
            setup.stop,
            self.bounds,
            memory,
            tell,
            setup.cache,
            setup.call,
            setup.interpreters,
        ).carry_out()

    def check_plan(self, prepared: Prepared, cells: Sequence[Cell]) -> tuple[Replay | None, str | None]:
        """Return the earlier sessions, if they had a plan, which must be the same; and the sha256 of the inputs."""
        inputs_sha256 = hash_inputs(self.spec.inputs.file)
        earlier = self.setup.earlier
        if earlier is None or not earlier.planned:
            return None, inputs_sha256
        check_plan(earlier, prepared, cells, inputs_sha256)
        return earlier, inputs_sha256

    def write_plan(self, prepared: Prepared, cells: Sequence[Cell], inputs_sha256: str | None) -> None:
        """Write the plan of the first session."""
        self.journal.append(
            "plan",
            cells=to_plain(cells),
            models=to_plain(prepared.models),
            points=to_plain(prepared.points),
            drifts=to_plain(prepared.drifts),
            seed=self.setup.seed,
            inputs_sha256=inputs_sha256,
        )

"""Services with one scripted run: they record control requests and are real otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

from tests.present.build import OTHER_SHA, SHA, asked, estimate, execution, failed_cell, model, ok_cell, spec
from tests.store.build import NOW, make_id
from tests.tui.pilot import replace_methods
from tuibench.core import activity
from tuibench.core.activity import Holder, Live, RunInfo, RunRow, RunView, Snapshot
from tuibench.core.cell import CellResult, Estimate, Noise
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason, legacy_text
from tuibench.core.spec import ModelSource
from tuibench.core.stored import Removal
from tuibench.services.api import Services

RUN = make_id(7)
CORES, BATCHES = (1, 2, 4, 8, 16), (1, 8, 32)
QUIET = Noise(1000, 200_000_000, 0.0, 0, 0.001, 3, 0, 40, frequency_mhz=(2900.0, 2900.0))


class RunServices(Services):
    """Services with a list of views: each poll takes the next one and then repeats the last."""

    def __init__(self, *views: RunView | TuibenchError, log: Sequence[str] = ()) -> None:
        super().__init__()
        self.views = list(views)
        self.looks = 0
        self.asked: list[tuple[Any, ...]] = []
        """Control requests, in their order."""
        self.answers: dict[str, Any] = {}
        """Answers that a test replaces: a value, or an error to raise."""
        self.closed = 0
        replace_methods(
            self,
            monitor__look=self._snapshot,
            runs__watch=self._watch,
            runs__log=lambda run: tuple(log),
            runs__command=lambda run: self._request("command", "tuibench benchmark", run),
            library__remove=self._remove,
        )
        for name in ("cancel", "finish", "extend"):
            replace_methods(self, **{f"runs__{name}": partial(self._request, name, make_info())})
        replace_methods(
            self,
            runs__resume_detached=lambda run, mixed=False, finish=False: self._request(
                "resume", run, run, mixed, finish
            ),
        )

    def look(self) -> RunView:
        """Return the next view."""
        self.looks += 1
        view = self.views[0]
        if len(self.views) > 1:
            self.views.pop(0)
        if isinstance(view, TuibenchError):
            raise view
        return view

    def _snapshot(self) -> Snapshot:
        """Return the run until it is in the list of results."""
        view = self.views[0]
        if isinstance(view, TuibenchError):
            return Snapshot("1", ())
        if view.saved or view.info.state == activity.CANCELLED:
            return Snapshot("1", (), ended=(view.info,))
        return Snapshot("1", (RunRow(view.info, "", "onnxruntime", "sync", "1", "1"),))

    def _watch(self, run: str) -> _Feed:
        self.asked.append(("watch", run))
        return _Feed(self)

    def _resume(self, run: str, *, mixed: bool = False, finish: bool = False) -> Any:
        return self._request("resume", run, run, mixed, finish)

    def _remove(self, ids: Sequence[str], *, cancel: bool = False, discard: bool = False) -> Removal:
        removed: Removal = self._request("remove", Removal(None), tuple(ids), cancel, discard)
        return removed

    def _request(self, name: str, usual: Any, *given: Any) -> Any:
        self.asked.append((name, *given))
        answered = self.answers.get(name, usual)
        if isinstance(answered, list):
            answered = answered.pop(0)
        if isinstance(answered, TuibenchError):
            raise answered
        return answered


class _Feed:
    def __init__(self, services: RunServices) -> None:
        self._services = services

    def look(self) -> RunView:
        return self._services.look()

    def close(self) -> None:
        self._services.closed += 1


def make_info(state: str = activity.RUNNING, **changes: Any) -> RunInfo:
    """Return the run as listed among runs."""
    started = datetime.fromtimestamp(NOW - 112, UTC).isoformat()
    base = RunInfo(RUN, state, None, started, ("resnet50.onnx",), "after AMX fix", "", 4711, 15, 9, 45, 190.0)
    return replace(base, **changes)


def make_view(cells: Iterable[CellResult], **changes: Any) -> RunView:
    """Return a run of these cells, active by default."""
    every = tuple(cells)
    asks = [cell.asked for cell in every]
    base = RunView(
        info=make_info(),
        project="",
        spec=spec(
            models=(ModelSource("dir/resnet50.onnx", "/models/resnet50.onnx"),),
            engines=tuple(dict.fromkeys(a.engine for a in asks)) or ("openvino",),
            scenarios=tuple(dict.fromkeys(a.scenario for a in asks)) or ("sync",),
        ),
        models=(model(path="/models/resnet50.onnx"),),
        names={SHA: "resnet50.onnx", OTHER_SHA: "resnet18.onnx"},
        cells=every,
        live=None,
        executions_min=5,
        half_widths={cell.key: (0.09, 0.07, 0.05, 0.04, 0.031) for cell in every if cell.executions},
        waiting_shares=(0.01, 0.01, 0.02, 0.12, 0.01, 0.004),
        log=(
            "12:41:03  sync, 1 core, batch 32: 473 ms ±1.9 %, grade A (reached ±2 %)",
            "12:41:09  sync, 16 cores, batch 32: worker died: SIGSEGV while loading",
            "12:41:10  round 3",
        ),
        warnings=(),
        drift=0.004,
        elapsed_s=112.0,
        eta_s=190.0,
        limit_s=360.0,
        status="",
    )
    return replace(base, **changes)


def done_cell(cores: int, batch: int | None = 1, half: float = 0.007, **asks: Any) -> CellResult:
    """Return a cell that is measured and precise enough."""
    time = 16.2 * (batch or 1) * (0.93 + 0.07 / (batch or 1)) * (0.056 + 0.944 / cores)
    cell = ok_cell(time, 1000 * (batch or 1) / time, {"engine": "openvino", "cores": cores, "batch": batch, **asks})
    latency = {name: estimate(e.value or 0.0, half) for name, e in cell.latency_ms.items()}
    return replace(
        cell, latency_ms=latency, executions=(execution(noise=QUIET),) * 5, stopped_by=legacy_text("reached ±2 %")
    )


def going_cell(cores: int, batch: int | None = 1, runs: int = 3, half: float = 0.031, **asks: Any) -> CellResult:
    """Return a cell with some executions done and more to come."""
    cell = done_cell(cores, batch, half, **asks)
    latency = cell.latency_ms
    if runs < 3:
        latency = {name: Estimate(e.value, n=runs, reason=legacy_text("too few")) for name, e in latency.items()}
    return replace(cell, status="partial", latency_ms=latency, executions=cell.executions[:runs],
                   stopped_by=legacy_text(f"going on, {runs} executions"))  # fmt: skip


def lost_cell(cores: int, batch: int | None = 1, **asks: Any) -> CellResult:
    """Return a cell whose worker died."""
    return failed_cell({"engine": "openvino", "cores": cores, "batch": batch, **asks})


def new_cell(cores: int, batch: int | None = 1, **asks: Any) -> CellResult:
    """Return a cell without executions."""
    what = asked(engine="openvino", cores=cores, batch=batch, **asks)
    return CellResult(what.key, what, "skipped", stopped_by=legacy_text("going on, 0 executions"))


@cache
def sketch_cells() -> tuple[CellResult, ...]:
    """Return the cells of a sweep in its second round: two columns done, one begun, one cell lost."""
    cells = [done_cell(c, b, 0.006 + 0.003 * math.log2(c)) for b in BATCHES[:2] for c in CORES[:4]]
    cells[-1] = going_cell(8, 8, 4, 0.031)
    cells += [
        done_cell(16, 1, 0.017),
        going_cell(16, 8, 1),
        *(going_cell(c, 32, 1) for c in CORES[:4]),
        lost_cell(16, 32),
    ]
    return tuple(sorted(cells, key=lambda cell: ((cell.asked.batch or 0), cell.asked.cores)))


def sketch_view(**changes: Any) -> RunView:
    """Return the run of the sketch, which is measuring 8 cores at batch 8."""
    cells = sketch_cells()
    here = next(cell for cell in cells if (cell.asked.cores, cell.asked.batch) == (8, 8))
    live = Live(here.key, 3, 2, "measuring", 17.1, 0.031, "A")
    return make_view(cells, **{"live": live, **changes})


@cache
def many_cells(count: int = 200) -> tuple[CellResult, ...]:
    """Return cells of several models, engines and scenarios times cores and batches."""
    sides = [(sha, engine, scenario) for sha in (SHA, OTHER_SHA) for engine in ("onnxruntime", "openvino")
             for scenario in ("sync", "async")]  # fmt: skip
    cells = [
        done_cell(c, b, engine=engine, scenario=scenario, model_sha256=sha)
        for sha, engine, scenario in sides for c in CORES for b in (1, 2, 4, 8, 16)
    ]  # fmt: skip
    return tuple(cells[:count])


def make_waiting(**changes: Any) -> RunView:
    """Return a queued run in second place."""
    holder = Holder(4242, "ann", make_id(9), 190.0)
    info = make_info(activity.WAITING, detail=Reason("machine_busy"), place=2, eta_s=None, holder=holder)
    return make_view((), info=info, eta_s=None, limit_s=None, elapsed_s=0.0, log=(), waiting_shares=(), **changes)


def make_broken(**changes: Any) -> RunView:
    """Return an interrupted run whose runner was killed."""
    info = make_info(activity.INTERRUPTED, detail=Reason("runner_died"), resumable=True, eta_s=None, pid=None)
    ended = {"status": "interrupted", "reason": Reason("runner_died"), "saved": False, "live": None, "eta_s": None}
    return sketch_view(**{"info": info, **ended, **changes})


def make_done(**changes: Any) -> RunView:
    """Return a finished, saved run."""
    info = make_info(activity.FINISHED, eta_s=None, pid=None)
    return sketch_view(**{"info": info, "status": "finished", "saved": True, "live": None, "eta_s": None, **changes})


def make_cancelled(**changes: Any) -> RunView:
    """Return a run cancelled in the queue: unmeasured and in no list."""
    why = Reason("cancelled_on_request")
    info = make_info(activity.CANCELLED, detail=why, cells=0, cells_done=0, executions=0, pid=None)
    waiting = make_waiting(**changes)
    return replace(waiting, info=info, status="cancelled", reason=why, saved=False)

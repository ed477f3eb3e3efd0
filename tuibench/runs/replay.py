"""Rebuilds the whole result from the journal alone, independent of the process that ran it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tuibench.core.cell import Cell, CellResult, Execution, Pooled
from tuibench.core.errors import StoreDamaged
from tuibench.core.label import model_names
from tuibench.core.model import ModelSummary, Point
from tuibench.core.reason import FINISHED_ON_REQUEST, MAX_TIME, Drift, Failure, Reason, because, upgrade_end
from tuibench.core.record import strictly
from tuibench.core.result import RunResult, RunSession
from tuibench.core.schema import NEWEST, require_form, require_kind
from tuibench.core.spec import BenchmarkSpec
from tuibench.runs.journal import NONSENSE, check_execution, check_fields, check_plan, check_spec
from tuibench.runs.profile.parts import Parts
from tuibench.runs.track import Done, Track, count_cells, new_tracks, pool, summarize
from tuibench.stats.interval import log_interval

_MODEL, _POINT, _CELL = strictly(ModelSummary), strictly(Point), strictly(Cell)
_SPEC, _EXECUTION, _DRIFTS = strictly(BenchmarkSpec), strictly(Execution), strictly(tuple[Drift, ...])
_FAILURE, _POOLED, _REASON = strictly(Failure), strictly(Pooled), strictly(Reason)


class Replay:
    """Applies events in order; the result is available at any time."""

    inputs_sha256: str | None = None
    """Hash of the inputs file, if there is one."""
    anchors = 0
    """Number of anchor executions started."""
    boot_id = ""
    pid: int | None = None
    pid_start: int | None = None
    """The last session's runner; its start in ticks since boot identifies it if the pid is reused."""
    finishing = False
    """True if the current execution is to be the last."""
    extended_s = 0.0
    """Total extension of the --max-time limit."""
    waited_s = 0.0
    """Time waited for the machine."""
    shared = False
    """True if another run was measured at the same time."""
    events = 0
    """Number of events so far."""
    damaged = 0
    """Number of unreadable journal lines."""

    def __init__(self, *, counts_only: bool = False) -> None:
        """With `counts_only` count executions instead of building them, as lists need no more."""
        self._counts_only = counts_only
        self.start: dict[str, Any] = {}
        self.end: dict[str, Any] = {}
        self.models: tuple[ModelSummary, ...] = ()
        self.points: tuple[Point, ...] = ()
        self.warnings: list[Reason] = []
        self.tracks: dict[str, Track] = {}
        self.drifts: tuple[Drift, ...] = ()
        """Differences between the outputs of the models."""
        self.waiting: dict[str, Any] = {}
        """The run's place in the queue; empty once it measures."""
        self.latest: dict[str, Any] = {}
        """The last progress event of this session."""
        self.parts = Parts(counts_only)
        """The parts of a profile."""
        self.granted: set[str] = set()
        """Ids of granted requests for more time."""
        self._spec: BenchmarkSpec | None = None
        self._anchor: list[tuple[str, Execution]] = []
        self.walls_s: list[float] = []
        """Wall time of each execution."""
        self.sessions: list[RunSession] = []
        self._first_ns = self._last_ns = 0
        self._before_s = 0.0

    def take(self, event: dict[str, Any]) -> None:
        """Apply one event; raise StoreNewer if it needs a newer version, StoreDamaged if it is invalid."""
        if event.get("v", NEWEST) != NEWEST:
            require_form(event["v"], event.get("versions"))
        with _nonsense_as_damage("event_damaged", number=event["seq"], event=event["ev"]):
            check_fields(event)
            self._apply(event)

    def _apply(self, event: dict[str, Any]) -> None:
        if event["ev"] in ("run_start", "sitting", "granted"):
            # Clocks of two boots are unrelated, and time in the queue is no measuring time.
            self._before_s += 0.0 if event["ev"] == "granted" else (self._last_ns - self._first_ns) / 1e9
            self._first_ns = int(event["t_ns"])
        if event["ev"] != "run_end":
            # A later process may write the end when it saves the run.
            self._last_ns = int(event["t_ns"])
        self.events = int(event["seq"]) + 1
        handler = getattr(self, f"_on_{event['ev']}", None)
        # Skip events on cells whose plan was lost to damage.
        if handler is not None and (event.get("cell") is None or event["cell"] in self.tracks):
            handler(event)

    @property
    def spec(self) -> BenchmarkSpec:
        """Return the specification."""
        if self._spec is None:
            self._spec = check_spec(_SPEC(self.start["spec"]))
        return self._spec

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the planned cells, empty before the plan."""
        return tuple(track.cell for track in self.tracks.values())

    @property
    def planned(self) -> bool:
        """Return whether the run reached its plan."""
        return bool(self.points)

    @property
    def has_something(self) -> bool:
        """Return whether anything was measured."""
        profile = self.spec.profile if self.start else None
        if profile is not None:
            return self.parts.worth(profile)
        return any(track.count for track in self.tracks.values())

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts of cells and executions; for a profile, those of its parts."""
        profile = self.spec.profile if self.start else None
        return self.parts.counts(profile) if profile is not None else count_cells(self.tracks.values())

    @property
    def seconds(self) -> float:
        """Return the measuring time so far, over all sessions."""
        return self._before_s + (self._last_ns - self._first_ns) / 1e9

    def cell(self, key: str, *, pooling: bool = True) -> CellResult:
        """Return a cell's current result; without `pooling` omit the pooled figures, which take most of the time."""
        return self._summarize(self.tracks[key], pooling)

    def result(self) -> RunResult:
        """Return everything measured so far."""
        from tuibench.runs.result import make_result  # 6 ms that a list of runs does not need

        with _nonsense_as_damage("events_without_result"):
            return make_result(self)

    @property
    def anchor(self) -> str | None:
        """Return the key of the cell with the most anchor executions."""
        keys = [key for key, _ in self._anchor]
        return max(keys, key=keys.count, default=None)

    def drift(self) -> dict[str, Any]:
        """Return the drift of the anchor cell since the start; {} with fewer than two executions."""
        anchor = self.anchor
        return _drift([execution.p50_ns / 1e6 for key, execution in self._anchor if key == anchor])

    @property
    def damage(self) -> Reason | None:
        """Return the reason for missing events; None if every journal line was read."""
        return because("lines_unreadable", lines=self.damaged) if self.damaged else None

    def _summarize(self, track: Track, pooling: bool = True) -> CellResult:
        executions = track.executions
        point = next(p for p in self.points if p.id == track.cell.point)
        status, stopped_by = _status(track, self.end)
        pooled = track.pooled
        if pooled is None and executions and pooling:
            pooled = pool(executions, items=point.items)
        return summarize(
            track.cell,
            executions,
            status=status,
            failure=track.failure,
            stopped_by=stopped_by,
            pooled=pooled,
            items=point.items,
            sittings=max(1, len({done.session for done in track.done})),
        )

    def _on_run_start(self, event: dict[str, Any]) -> None:
        require_kind(event["spec"])
        self.start, self._spec = event, check_spec(_SPEC(event["spec"]))
        self._on_sitting(event)

    def _on_sitting(self, event: dict[str, Any]) -> None:
        self.sessions.append(_session(event))
        self.boot_id, self.pid = str(event.get("boot_id", "")), event.get("pid")
        self.pid_start = event.get("pid_start")
        self.end, self.waiting, self.latest, self.finishing = {}, {}, {}, False

    def _on_progress(self, event: dict[str, Any]) -> None:
        self.latest = event

    def _on_waiting(self, event: dict[str, Any]) -> None:
        self.waiting = event

    def _on_granted(self, event: dict[str, Any]) -> None:
        self.waiting = {}
        self.waited_s += float(event["waited_s"])
        self.shared = self.shared or bool(event["shared"])

    def _on_plan(self, event: dict[str, Any]) -> None:
        self.models, self.points, cells = _read_plan(event)
        self.drifts = _DRIFTS(event.get("drifts") or [])
        self.inputs_sha256 = event.get("inputs_sha256")
        self.tracks = new_tracks(cells)

    def _on_execution_start(self, event: dict[str, Any]) -> None:
        if event.get("anchor"):
            self.anchors += 1
        else:
            track = self.tracks[event["cell"]]
            track.turns = max(track.turns, int(event["n"]))

    def _on_execution_done(self, event: dict[str, Any]) -> None:
        if self._counts_only:
            if not event.get("anchor"):
                self.tracks[event["cell"]].counted.append(str(event["result"]["used"]["io"]))
            return
        execution = check_execution(_EXECUTION(event["result"]))
        wall_s = float(event["wall_s"])
        self.walls_s.append(wall_s)
        place = self._count_in_session()
        if event.get("anchor"):
            self._anchor.append((str(event["cell"]), execution))
            return
        self.tracks[event["cell"]].record(Done(execution, wall_s, int(event["round"]), place))

    def _count_in_session(self) -> int:
        """Count one more measurement in the current session; return the session's index."""
        if not self.sessions:
            # The start of the journal was lost to damage.
            self.sessions.append(_session({}))
        place = len(self.sessions) - 1
        self.sessions[place] = replace(self.sessions[place], executions=self.sessions[place].executions + 1)
        return place

    def _on_profile_part(self, event: dict[str, Any]) -> None:
        before = self.parts.measured
        self.parts.take(event)
        if self.parts.measured > before:
            self._count_in_session()

    def _on_execution_failed(self, event: dict[str, Any]) -> None:
        if event.get("anchor"):
            return
        failure = None if event.get("again") else _FAILURE(event["failure"])
        self.tracks[event["cell"]].crash(float(event["wall_s"]), failure)

    def _on_cell_done(self, event: dict[str, Any]) -> None:
        track = self.tracks[event["cell"]]
        track.stopped_by = read_reason(event["stopped_by"])
        if event.get("pooled"):
            track.pooled = _POOLED(event["pooled"])

    def _on_warning(self, event: dict[str, Any]) -> None:
        if (warning := read_reason(event["message"])) is not None:
            self.warnings.append(warning)
        if event.get("keep_io"):
            self.tracks[event["cell"]].keep_io(str(event["keep_io"]))

    def _on_finish_asked(self, _: dict[str, Any]) -> None:
        self.finishing = True

    def _on_extended(self, event: dict[str, Any]) -> None:
        self.granted.add(str(event["wish"]))
        self.extended_s += float(event["limit_s"])
        self.warnings.append(because("extended", limit_s=float(event["limit_s"]), executions=int(event["executions"])))
        for key, bounds in event["cells"].items():
            if (track := self.tracks.get(key)) is not None:
                track.extend(float(bounds["limit_s"]), int(bounds["executions"]))

    def _on_run_end(self, event: dict[str, Any]) -> None:
        self.end = {**event, "reason": upgrade_end(read_reason(event.get("reason")))}


def display_names(replay: Replay) -> dict[str, str]:
    """Map each model's sha256 to its display name."""
    names: dict[str, str] = {}
    for model, name in zip(replay.models, model_names(replay.spec.models), strict=False):
        # Two files with the same content share cells; the first file names them.
        names.setdefault(model.sha256, name)
    return names


def all_warnings(earlier: Replay) -> tuple[Reason, ...]:
    """Return the run's warnings and a note on lost journal lines."""
    return (*earlier.warnings, earlier.damage) if earlier.damage is not None else tuple(earlier.warnings)


def read_reason(plain: Any) -> Reason | None:
    """Return the reason in an event; None for none, raise TypeError for nonsense."""
    return _REASON(plain) if plain else None


@contextmanager
def _nonsense_as_damage(code: str, **fields: Any) -> Iterator[None]:
    """Raise StoreDamaged for errors caused by invalid events."""
    try:
        yield
    except NONSENSE as error:
        raise StoreDamaged(code, **fields, text=str(error)) from error


def _status(track: Track, end: Mapping[str, Any]) -> tuple[str, Reason | None]:
    """Return a cell's status, and the reason why it has no more executions."""
    if track.failure is not None:
        return "partial" if track.count else "failed", track.stopped_by
    if track.stopped_by:
        return "ok", track.stopped_by
    return "partial" if track.count else "skipped", _why_early(end, track.count)


def _read_plan(event: Mapping[str, Any]) -> tuple[tuple[ModelSummary, ...], tuple[Point, ...], tuple[Cell, ...]]:
    models = tuple(map(_MODEL, event["models"]))
    points = tuple(map(_POINT, event["points"]))
    cells = tuple(map(_CELL, event["cells"]))
    check_plan(len(models), points, cells)
    return models, points, cells


def _drift(p50_ms: Sequence[float]) -> dict[str, Any]:
    """Return the drift over a cell's executions in a run; {} with fewer than two."""
    if len(p50_ms) < 2:
        return {}
    spread = log_interval(p50_ms)
    return {
        "executions": len(p50_ms),
        "p50_ms": list(p50_ms),
        "drift": p50_ms[-1] / p50_ms[0] - 1,
        "low": spread.low,
        "high": spread.high,
    }


def _why_early(end: Mapping[str, Any], count: int) -> Reason:
    """Return the reason for a cell's early end, from the end of its run."""
    why: Reason | None = end.get("reason")
    if end.get("status") == "cancelled":
        return because("cancelled", executions=count)
    if end.get("status") == "interrupted":
        return because("interrupted", executions=count, why=why)
    if why is not None and why.code == FINISHED_ON_REQUEST:
        return because(FINISHED_ON_REQUEST, executions=count)
    return because(MAX_TIME if end else "measuring", executions=count)


def _session(event: Mapping[str, Any]) -> RunSession:
    changes = tuple(map(_REASON, event.get("mixed", ())))
    return RunSession(str(event.get("started_utc", "")), str(event.get("boot_id", "")), 0, changes)


def replay(events: Iterable[dict[str, Any]], state: Replay | None = None) -> Replay:
    """Apply all events of a journal, after those in `state`."""
    state = state or Replay()
    for event in events:
        state.take(event)
    return state

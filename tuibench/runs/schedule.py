"""Scheduling of cells and the stop rule; pure, so that tests need no clock."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tuibench.core.cell import Asked, Cell, Execution
from tuibench.core.model import ModelSummary, Point
from tuibench.core.reason import Failure, Reason
from tuibench.core.scenario import find
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings.setting import identity_options
from tuibench.core.spec import BenchmarkSpec, Effort
from tuibench.runs.track import Done, Track
from tuibench.stats.stopping import Decision, decide

SLOW_NS = 1e9
_SLOW_EXECUTIONS = 3
_CRASHES = frozenset({"signal", "exit"})


@dataclass(frozen=True, slots=True)
class Turn:
    """One execution to run."""

    cell: Cell
    n: int
    round: int
    anchor: bool


class Schedule:
    """Rounds in random order; a cell leaves when its interval is narrow enough, or it failed, or its time is over."""

    def __init__(self, tracks: Mapping[str, Track], effort: Effort, rng: random.Random, session: int = 0) -> None:
        """`tracks` are those of a replayed journal, or empty ones; `session` is the index of the present one."""
        self.tracks = tracks
        self._session = session
        self._effort = effort
        self._rng = rng
        self.round = 0
        self.anchor: Cell | None = None
        self.anchor_turns = 0

    @property
    def live(self) -> list[Track]:
        """Return the cells that need more executions."""
        return [t for t in self.tracks.values() if t.live]

    def next_round(self) -> list[Turn]:
        """Return every live cell once in random order; add an anchor execution at either end if a sweep may drift."""
        self.round += 1
        cells = [t.cell for t in self.live]
        if not cells:
            return []
        self._rng.shuffle(cells)
        turns = [Turn(c, self._next_n(c), self.round, False) for c in cells]
        anchor = self._pick_anchor()
        if anchor is not None:
            turns.insert(self._rng.randrange(2) * len(turns), self.anchor_turn(anchor))
        return turns

    def anchor_turn(self, cell: Cell) -> Turn:
        """Return one more execution of a cell, to compare the machine with its earlier state."""
        self.anchor_turns += 1
        return Turn(cell, -self.anchor_turns, self.round, True)

    def _next_n(self, cell: Cell) -> int:
        track = self.tracks[cell.key]
        track.turns += 1
        return track.turns

    def _pick_anchor(self) -> Cell | None:
        """Return the cheapest cell from round two on; None with up to two cells, which show drift themselves."""
        if len(self.tracks) <= 2 or self.round < 2:
            return None
        if self.anchor is None or self.tracks[self.anchor.key].failure is not None:
            self.anchor = None
            timed = [t for t in self.tracks.values() if t.count and not t.failure]
            if timed:
                self.anchor = min(timed, key=lambda t: t.execution_s).cell
        return self.anchor

    def record(self, turn: Turn, execution: Execution, wall_s: float) -> Decision:
        """Record a result and decide about its cell."""
        track = self.tracks[turn.cell.key]
        track.record(Done(execution, wall_s, turn.round, self._session))
        decision = self._decide(track)
        if decision.stop:
            track.stopped_by = decision.reason
        return decision

    def _decide(self, track: Track) -> Decision:
        """Decide about a cell; do not give up one with extended time before that is over."""
        decision = decide(track.logs, self.effort_for(track), track.spent_s, track.execution_s)
        if decision.reason.code == "hopeless" and track.limit_s is not None:
            return replace(decision, reason=replace(decision.reason, code=""))
        return decision

    def extend(self, more_s: float) -> tuple[int, dict[str, dict[str, float]]]:
        """Give every unfinished cell, and each that reached its limit, this much more time and executions in
        proportion.

        Skip cells that failed or reached their target. Return the added executions and each extended cell's new bounds.
        """
        extended = {}
        for key, track in self.tracks.items():
            if track.failure is not None or not (track.live or self._wants_more(track)):
                continue
            now, more = self.effort_for(track), self._share(self._base(track), more_s)
            limit_s, most = max(now.limit_s, track.spent_s) + more_s, max(now.max_executions, track.count) + more
            track.extend(limit_s, most)
            extended[key] = {"limit_s": limit_s, "executions": most}
        return self._share(self._effort, more_s), extended

    def _share(self, effort: Effort, more_s: float) -> int:
        """Return the number of executions for some time, in proportion to the effort."""
        return math.ceil(effort.max_executions * more_s / self._effort.limit_s)

    def _wants_more(self, track: Track) -> bool:
        return bool(track.count) and self._decide(track).reason.code != "target"

    def record_failure(self, turn: Turn, failure: Failure, wall_s: float) -> bool:
        """Record a failure; return True for one retry, only after a crash while timing."""
        track = self.tracks[turn.cell.key]
        again = failure.phase == "timed" and failure.kind in _CRASHES and not track.crashes
        track.crash(wall_s, None if again else failure)
        if not again:
            track.stopped_by = Reason("failed")
        return again

    def effort_for(self, track: Track) -> Effort:
        """Return a cell's effort: three executions if a call takes over a second, plus extensions."""
        base = self._base(track)
        if track.limit_s is None or track.most is None:
            return base
        least = track.most if base.target is None else base.min_executions
        return replace(base, limit_s=track.limit_s, min_executions=least, max_executions=track.most)

    def _base(self, track: Track) -> Effort:
        if track.done and track.done[0].execution.p50_ns > SLOW_NS:
            return slow_executions(self._effort)
        return self._effort

    def force_io(self, group: Sequence[str], io: str) -> None:
        """Force the group to one I/O class; results in another are dropped after the first one in the new class."""
        for key in group:
            track = self.tracks[key]
            track.io = io
            if any(e.used.io != io for e in track.executions):
                track.reopen()

    def start_anew(self, key: str, io: str) -> bool:
        """Drop a cell's executions in other I/O classes; return whether there were any."""
        track = self.tracks[key]
        if all(e.used.io == io for e in track.executions):
            return False
        track.keep_io(io)
        return True

    def give_way(self, turn: Turn) -> bool:
        """Return whether a cell that fails in a forced class may keep its own, with its results."""
        track = self.tracks[turn.cell.key]
        if track.io is None or not track.count:
            return False
        track.io = track.executions[-1].used.io
        track.unlevel = True
        return True

    def decide_again(self, key: str) -> Decision:
        """Decide about a cell again after some of its executions were dropped."""
        track = self.tracks[key]
        decision = self._decide(track)
        track.stopped_by = decision.reason if decision.stop else None
        return decision

    def eta_s(self, default_s: float) -> float:
        """Estimate the seconds left from the cost of executions and their spread."""
        total = 0.0
        for track in self.live:
            cost = track.execution_s if track.count else default_s
            total += self._left_s(track, cost)
        return total

    def _left_s(self, track: Track, cost_s: float) -> float:
        effort, done = self.effort_for(track), track.count
        wanted = effort.min_executions
        if done >= 2:
            more = self._decide(track).more
            wanted = wanted if more is None else min(done + max(1, more), effort.max_executions)
        return min(max(1, wanted - done) * cost_s, max(cost_s, effort.limit_s - track.spent_s))


def slow_executions(effort: Effort) -> Effort:
    """Return an effort of three executions without a target, unless a fixed number or time was requested."""
    if effort.target is None:
        return effort
    count = min(_SLOW_EXECUTIONS, effort.max_executions)
    return replace(effort, min_executions=count, max_executions=count, target=None)


LIMITS_S = {"start": 30.0, "inspect": 30.0, "load": 120.0, "first": 60.0}


def make_cells(
    spec: BenchmarkSpec,
    models: Sequence[ModelSummary],
    points: Sequence[Point],
    nodes_for: Callable[[int], int] = lambda _: 1,
) -> list[Cell]:
    """Return the product of the axes in display order: model, shape, engine, scenario, cores.

    `nodes_for` returns the NUMA nodes of a number of cores.
    """
    cells: dict[str, Cell] = {}
    for index, model in enumerate(models):
        for point in (p for p in points if p.model == index):
            for engine in spec.engines:
                for scenario in spec.scenarios:
                    for cores in spec.cores:
                        asked = _asked(spec, model.sha256, point, engine, scenario, cores, nodes_for(cores))
                        cells.setdefault(asked.key, Cell(asked.key, asked, index, point.id))
    return list(cells.values())


def _asked(spec: BenchmarkSpec, sha256: str, point: Point, engine: str, scenario: str, cores: int, nodes: int) -> Asked:
    found = find(scenario)
    streams = found.streams(spec.streams, cores, nodes)
    options = identity_options(benchmark_setting.settings(), spec, found)
    return Asked(
        engine=engine,
        model_sha256=sha256,
        version="original",
        scenario=scenario,
        cores=cores,
        batch=point.batch,
        dims=point.dims,
        streams=streams,
        pin=spec.pin,
        precision=spec.precision,
        options=options,
    )


def matching_cells(cells: Sequence[Cell]) -> dict[str, tuple[str, ...]]:
    """Map each cell to all cells it is compared with, itself included: only engine or model differ."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for cell in cells:
        asked = cell.asked
        dims = tuple(sorted(asked.dims.items()))
        groups.setdefault((asked.scenario, asked.cores, asked.batch, dims), []).append(cell.key)
    return {key: tuple(group) for group in groups.values() for key in group}

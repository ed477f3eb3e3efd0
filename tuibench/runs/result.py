"""The conclusions of a sweep: one sentence per question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tuibench.core.cell import (
    CellResult,
    Choice,
    Estimate,
    by_work,
    choose,
    is_clean,
    latency,
    measured,
    throughput,
    throughput_per_core,
)
from tuibench.core.label import model_names
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.schema import PROFILE
from tuibench.core.text import show
from tuibench.core.units import ms, percent, short
from tuibench.runs.comparison import Names, compare_cells, describe, explain_missing, varying
from tuibench.runs.replay import Replay, all_warnings, display_names

_MOST_TIED = 3


def conclude(cells: Sequence[CellResult], names: Names) -> tuple[str, ...]:
    """Return a sentence for least latency, most items/s and most items/s per core, if there is a choice.

    Cells with a smaller model or a shorter sequence do less work, so each group of equal work has its own sentences.
    """
    able = measured(cells)
    return tuple(sentence for group in by_work(able) for sentence in _conclude(group, able, names))


def _conclude(able: Sequence[CellResult], among: Sequence[CellResult], names: Names) -> list[str]:
    # Streams trade the latency of one request for throughput, so they are not compared by latency.
    alone = [c for c in able if find(c.asked.scenario).is_latency] or able
    sentences = [_sentence("Least latency", choose(alone, latency, most=False), alone, among, names, "ms")]
    sentences.append(_sentence("Most items/s", choose(able, throughput, most=True), able, among, names, "items/s"))
    if "cores" in varying(able):
        best = choose(able, throughput_per_core, most=True)
        sentences.append(_sentence("Most items/s per core", best, able, among, names, "items/s per core"))
    return [s for s in sentences if s]


def _sentence(
    title: str, best: Choice | None, cells: Sequence[CellResult], among: Sequence[CellResult], names: Names, unit: str
) -> str:
    if best is None or len(cells) < 2:
        return ""
    words = [f"{title}: {_amount(best.estimate, unit)} ({describe(best.cell, among, names)})"]
    if best.cell.grade is not None:
        words.append(f"grade {best.cell.grade.letter}")
    if best.estimate.low is None and best.estimate.reason:
        words.append(show(best.estimate.reason))
    if not is_clean(best.cell):
        words.append("no cell is clean" if not _differs(best.cell) else "outputs differ, and no cell is clean")
    return ", ".join(words) + _ties(best, among, names) + "."


def _ties(best: Choice, cells: Sequence[CellResult], names: Names) -> str:
    if not best.tied:
        return ""
    shown = [describe(c, cells, names) for c in best.tied[:_MOST_TIED]]
    rest = len(best.tied) - len(shown)
    return "; tied with " + " / ".join(shown) + (f" and {rest} more" if rest else "")


def _amount(estimate: Estimate, unit: str) -> str:
    value = estimate.value or 0.0
    half = estimate.half_width
    amount = ms(value) if unit == "ms" else f"{short(value)} {unit}"
    return amount if half is None else f"{amount} ±{percent(half)}"


def _differs(cell: CellResult) -> bool:
    return cell.check is not None and cell.check.state == "differs"


def make_result(replay: Replay) -> RunResult:
    """Return the whole result of a replayed journal."""
    frame = _frame(replay)
    return _with_cells(replay, frame) if replay.spec.profile is None else _with_profile(replay, frame)


def _with_profile(replay: Replay, frame: RunResult) -> RunResult:
    from tuibench.runs.profile.result import make_profile  # not needed for benchmarks

    profile = make_profile(frame.spec, replay.parts, replay.points, replay.inputs_sha256)
    return replace(frame, schema=PROFILE, profile=profile)


def _with_cells(replay: Replay, frame: RunResult) -> RunResult:
    cells = tuple(replay.cell(key) for key in replay.tracks)
    rounds = {t.cell.key: [(d.round, d.execution) for d in t.done] for t in replay.tracks.values()}
    names = display_names(replay)
    pair_s = 2 * sum(replay.walls_s) / len(replay.walls_s) if replay.walls_s else None
    comparisons = compare_cells(cells, rounds, names, pair_s=pair_s)
    missing = explain_missing(replay.models, model_names(frame.spec.models), cells, comparisons)
    return replace(
        frame,
        cells=cells,
        comparisons=comparisons,
        conclusions=(*conclude(cells, names), *missing),
        anchor=replay.drift(),
    )


def _frame(replay: Replay) -> RunResult:
    """Return the fields that every result has."""
    return RunResult(
        id=str(replay.start.get("run", "")),
        status=str(replay.end.get("status", "interrupted")),
        spec=replay.spec,
        models=replay.models,
        points=replay.points,
        cells=(),
        environment=dict(replay.start.get("host", {})),
        versions=dict(replay.start.get("versions", {})),
        started_utc=str(replay.start.get("started_utc", "")),
        seconds=replay.seconds,
        warnings=all_warnings(replay),
        host=str(replay.start.get("host_id", "")),
        sittings=tuple(s for place, s in enumerate(replay.sessions) if s.executions or not place),
        waited_s=replay.waited_s,
        shared_host=replay.shared,
    )

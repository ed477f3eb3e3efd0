"""The preview of the record under a list's cursor: measurements, scaling and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tuibench.core import activity
from tuibench.core.activity import RunRow
from tuibench.core.cell import CellResult, Estimate, p50_latency
from tuibench.core.engine import with_version
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.stored import StoredBenchmark
from tuibench.core.text import width_of
from tuibench.core.units import count_of, percent, seconds, short
from tuibench.present.amount import amount
from tuibench.present.cells import describe, failure_text
from tuibench.present.headline import conclusions
from tuibench.present.plots.depth import sparkline
from tuibench.present.plots.drawing import wrapped
from tuibench.present.plots.scaling import Scaling, axes_of, scaling
from tuibench.present.plots.selection import Line, ScalingPoint, Selection
from tuibench.present.reason import all_words
from tuibench.present.run_list import why_words
from tuibench.tui.widgets.painted import Glyphs, LineLike
from tuibench.tui.widgets.painted import shown as made_safe

_LETTERS = {"cores": "c", "batch": "b"}
_MOST_LINES = 2


def preview_of(stored: StoredBenchmark, width: int, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
    """Return the four most important lines first, then those for taller screens."""
    run = stored.result
    lines: list[LineLike] = [_what(stored, glyphs)]
    lines += [(text, "") for text in _numbers(run, width, glyphs, ascii_only)]
    lines += fold([(_state(run, glyphs), _kind(run))], width)
    lines += [(f"note: {stored.metadata.note}", "")] if stored.metadata.note else []
    lines += (
        [(f"re-run of {short_id(stored.metadata.rerun_of)}: c compares", "dim")] if stored.metadata.rerun_of else []
    )
    lines += [(found.sentence, "dim") for found in conclusions(run)]
    lines += [(f"warning: {text}", "warn") for text in all_words(run.warnings)]
    return lines


def fold(lines: Sequence[LineLike], width: int) -> list[LineLike]:
    """Wrap long lines."""
    return [part for line in lines for part in wrapped(made_safe(line), max(width, 1))]


def preview_of_run(row: RunRow, width: int, glyphs: Glyphs) -> list[LineLike]:
    """Return the preview of a run that is not stored yet: its settings, progress and helpful keys."""
    info = row.info
    dot = f" {glyphs.dot} "
    how = f"{info.kind} profile" if info.kind else row.scenarios
    what = (short_id(info.id), info.name and f'"{info.name}"', ",".join(info.models), row.engines, how)
    sizes = (f"cores {row.cores}" if row.cores else "", f"batch {row.batches}" if row.batches else "")
    done = f"{info.cells_done} of {count_of(info.cells, 'part' if info.kind else 'cell')}" if info.cells else ""
    measured = "" if info.kind else count_of(info.executions, "execution")
    said: tuple[str, ...] = (info.state, done, measured, why_words(info))
    if info.eta_s is not None and info.state in activity.ALIVE:
        said = (*said, f"about {seconds(max(info.eta_s, 0.0))} left")
    lines: list[LineLike] = [
        dot.join(filter(None, what)),
        dot.join(filter(None, (*sizes, row.note))),
        (dot.join(filter(None, said)), "accent" if info.state in activity.ALIVE else "warn"),
        (_advice(row), "dim"),
    ]
    return fold([line for line in lines if line[0]], width)


def _advice(row: RunRow) -> str:
    state = row.info.state
    if state == activity.RUNNING:
        more = "" if row.info.kind else ", + gives more time"
        return f"enter follows it; X cancels, p finishes it{more}"
    if state == activity.WAITING:
        return "enter follows it; X removes it from the queue"
    if state == activity.UNSAVED:
        return "its results are not saved yet: o saves them"
    if row.info.resumable:
        return "o resumes it, p saves it as it is; d deletes it permanently"
    return (
        "enter shows why; d deletes it permanently"
        if state != activity.ELSEWHERE
        else "it is running on another machine"
    )


def _what(stored: StoredBenchmark, glyphs: Glyphs) -> LineLike:
    """Return id, name, engines with versions, and settings; a narrow list has no columns for them."""
    run, metadata = stored.result, stored.metadata
    engines = dict.fromkeys(cell.asked.engine for cell in run.cells) or dict.fromkeys(run.spec.engines)
    named = ", ".join(with_version(name, run.versions.get(name, "")) for name in engines)
    counts = sorted({len(cell.executions) for cell in run.cells if cell.executions})
    runs = f"{counts[0]}-{counts[-1]}" if len(counts) > 1 else "".join(map(str, counts))
    pins = "/".join(dict.fromkeys(cell.asked.pin for cell in run.cells))
    precisions = "/".join(dict.fromkeys(cell.asked.precision for cell in run.cells))
    facts = [
        f'"{metadata.name}"' if metadata.name else "",
        f"{named} {precisions}".strip(),
        "/".join(dict.fromkeys(cell.asked.scenario for cell in run.cells)),
        f"pin {pins}" if pins else "",
        f"{runs} exec/cell" if runs else "",
        f"measured by {run.foreign}" if run.foreign else "",
    ]
    said = f" {glyphs.dot} ".join(filter(None, facts))
    return ((f"{short_id(run.id)}  ", "title"), (said, ""))


def _numbers(run: RunResult, width: int, glyphs: Glyphs, ascii_only: bool) -> list[str]:
    """Return the scaling along the first axis, or the percentiles of cells if there is no axis."""
    axes = axes_of(run)
    if not axes:
        # The line of states already says why the first failed cell has no numbers.
        first_failed = next(iter(_failed(run)), None)
        cells = [cell for cell in run.cells if cell is not first_failed or cell.pooled is not None]
        return [_cell_line(run, cell, glyphs) for cell in cells[:_MOST_LINES]]
    lines = []
    chosen = list(_chosen(run, axes[0]))
    measured = [cell for cell in run.cells if cell.pooled is not None]
    if measured and not any(line.measured for _, line, _ in chosen):
        # The run ended before it measured the default sides.
        return [_cell_line(run, cell, glyphs) for cell in measured[:_MOST_LINES]]
    for metric, line, shown in chosen:
        head = f"{'items/s' if metric == 'throughput' else 'ms/batch'} {_held(line, shown)}".rstrip()
        lines.append(_scaling_line(head, line, shown, width, glyphs, ascii_only))
    return lines


def _chosen(run: RunResult, axis: str) -> Iterator[tuple[str, Line, Scaling]]:
    """Yield two lines of figures: the times of two sides, or the times and items/s of a single one."""
    first = scaling(run, Selection(axis=axis, metric="batch-time"))
    sides = first.choices.sides
    alone = [side for side in sides if find(side.scenario).is_latency] or list(sides)
    streams = [side for side in sides if not find(side.scenario).is_latency] or alone
    least = {key: values[0] for key, values in first.choices.fixed.items() if key != "cores" and values}
    most = {key: values[-1] for key, values in first.choices.fixed.items() if values}
    wanted = [("batch-time", side.key, least) for side in alone[:_MOST_LINES]]
    if len(wanted) < _MOST_LINES:
        wanted.append(("throughput", streams[0].key, most))
    for metric, side, fixed in wanted:
        # Items/s without a statistic always cover all calls.
        statistic = "mean" if metric == "throughput" else "p50"
        shown = scaling(run, Selection(axis=axis, sides=(side,), metric=metric, statistic=statistic, fixed=fixed))
        if shown.lines:
            yield metric, shown.lines[0], shown


def _held(line: Line, shown: Scaling) -> str:
    """Return the label of a line: its side if there are several, and the fixed values of the other axes."""
    side = line.side.label if len(shown.choices.sides) > 1 else ""
    held = [
        f"{value}c" if key == "cores" else f"b{value}"
        for key, value in shown.selection.fixed.items()
        if key in _LETTERS
    ]
    return " ".join(filter(None, (side, *held)))


def _scaling_line(head: str, line: Line, shown: Scaling, width: int, glyphs: Glyphs, ascii_only: bool) -> str:
    letter = _LETTERS.get(shown.selection.axis, "")
    points = [f"{point.value}{letter} {_value_text(point, glyphs)}" for point in line.points]
    marks = sparkline([point.estimate.value for point in line.points], ascii_only, 12)
    # The efficiency of a single point is 100 % by definition.
    last = line.points[-1].efficiency if len(line.measured) > 1 else None
    share = f"  eff {percent(last)}" if last is not None and shown.selection.axis == "cores" else ""
    room = width - width_of(f"{head} {glyphs.upright}   {marks}{share}")
    return f"{head} {glyphs.upright} {_fit(points, room, glyphs)}  {marks}{share}"


def _value_text(point: ScalingPoint, glyphs: Glyphs) -> str:
    """Return a point's value; a point that never began gets no failure sign."""
    if point.estimate.value is None:
        return "-" if point.status == "skipped" else glyphs.failed
    return short(point.estimate.value)


def _fit(points: Sequence[str], room: int, glyphs: Glyphs) -> str:
    """Return the first and the last points, as many as fit."""
    text = "  ".join(points)
    left = len(points) // 2
    while width_of(text) > room and left:
        kept = (*points[:left], glyphs.ellipsis, *points[len(points) - left :])
        text, left = "  ".join(kept), left - 1
    return text


def _cell_line(run: RunResult, cell: CellResult, glyphs: Glyphs) -> str:
    name = describe(run, cell)
    if cell.status != "ok" and cell.pooled is None:
        return f"{name}: {failure_text(cell)}"
    # With the rate they fit on a line of 80 columns.
    p50, p99 = p50_latency(cell), cell.latency_ms.get("p99", Estimate(None))
    times = [f"p50 {amount(p50, 'ms')}"] if p50.value is not None else []
    times += [f"p99 {amount(p99, 'ms', interval=False)}"] if p99.value is not None else []
    parts = [" ".join(times), amount(cell.items_per_sec, "items/s", "", interval=False)]
    return f"{name} {glyphs.upright} " + f" {glyphs.dot} ".join(filter(None, parts))


def _state(run: RunResult, glyphs: Glyphs) -> str:
    """Return the state of cells and outputs, the drift, and an unusual end of the run."""
    bad = _failed(run)
    words = [count_of(len(run.cells), "cell")]
    words.append("none failed" if not bad else _first_reason(run, bad))
    begun = sum(cell.status == "partial" and cell.failure is None for cell in run.cells)
    left = sum(cell.status == "skipped" and cell.failure is None for cell in run.cells)
    words += [f"{begun} incomplete"] if begun else []
    words += [f"{left} not started"] if left else []
    states = {cell.check.state for cell in run.cells if cell.check is not None}
    outputs = "differ from the reference" if "differs" in states else "agree" if states == {"agrees"} else "unchecked"
    words += [f"outputs {outputs}"] if states else []
    drift = run.anchor.get("drift")
    if isinstance(drift, int | float):
        words.append(f"drift over the run {drift * 100:+.1f} %")
    words += [run.status] if run.status != "finished" else []
    return f" {glyphs.dot} ".join(words)


def _failed(run: RunResult) -> list[CellResult]:
    return [cell for cell in run.cells if cell.failure is not None]


def _first_reason(run: RunResult, bad: Sequence[CellResult]) -> str:
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    return f"{describe(run, bad[0])}: {failure_text(bad[0])}{more}"


def _kind(run: RunResult) -> str:
    differs = any(cell.check is not None and cell.check.state == "differs" for cell in run.cells)
    bad = any(cell.status != "ok" for cell in run.cells)
    return "warn" if differs or bad or run.status != "finished" else "dim"

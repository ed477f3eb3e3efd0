"""Cells in words: their names, the table of all, and the lines of one, those of deepsparse.benchmark first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tuibench.core.cell import CellResult, Check, Estimate, Pooled, Used, p50_latency
from tuibench.core.label import CellName, model_names
from tuibench.core.model import ModelSummary, Point
from tuibench.core.result import RunResult
from tuibench.core.scenario import find
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, number, percent_number, short, size
from tuibench.present.amount import plus_minus, support_words
from tuibench.present.reason import all_words, failure_words, reason_words
from tuibench.present.table import Column, table_lines

AXES = ("model", "engine", "scenario", "cores", "batch", "dims", "streams", "precision")
"""Columns of tables from left to right; only varying ones are printed."""


def first_cell(run: RunResult) -> CellResult | None:
    """Return the cell whose numbers represent the run: of the first requested scenario, measured if possible."""
    for scenario in run.spec.scenarios:
        cells = [cell for cell in run.cells if cell.asked.scenario == scenario and cell.pooled is not None]
        if cells:
            return cells[0]
    return run.cells[0] if run.cells else None


def model_index(run: RunResult, cell: CellResult) -> int:
    """Return the index of the cell's model; the first of several with the same content."""
    return next((i for i, model in enumerate(run.models) if model.sha256 == cell.asked.model_sha256), 0)


def model_of(run: RunResult, cell: CellResult) -> tuple[ModelSource | None, ModelSummary | None]:
    """Return the model as the user named it and as inspected; None for parts that an interrupted run lacks."""
    index = model_index(run, cell)
    source = run.spec.models[index] if index < len(run.spec.models) else None
    return source, run.models[index] if index < len(run.models) else None


def point_of(run: RunResult, cell: CellResult) -> Point | None:
    """Return the inputs of the cell."""
    index = model_index(run, cell)
    for point in run.points:
        same_dims = all(point.dims.get(name) == size for name, size in cell.asked.dims.items())
        if point.model == index and same_dims and cell.asked.batch in (None, point.batch):
            return point
    return None


def axis_value(run: RunResult, cell: CellResult, axis: str) -> str:
    """Return one coordinate of a cell as text."""
    asked = cell.asked
    if axis == "model":
        names = model_names(run.spec.models)
        index = model_index(run, cell)
        return names[index] if index < len(names) else "-"
    if axis == "batch":
        return _batch(run, cell)
    if axis == "dims":
        shown = {name: size for name, size in asked.dims.items() if _varies(run, name)} or asked.dims
        return " ".join(f"{show(name, 40)}={size}" for name, size in shown.items()) or "-"
    return show(getattr(asked, axis), 40)


def _batch(run: RunResult, cell: CellResult) -> str:
    """Return the batch; if it was left open, that of the inputs, so that failed cells are labelled like the others."""
    batch = cell.asked.batch
    if batch is None and cell.used is not None:
        batch = cell.used.batch
    if batch is None and (point := point_of(run, cell)) is not None:
        batch = point.batch
    return "-" if batch is None else str(batch)


def varying(run: RunResult) -> list[str]:
    """Return the axes in which the cells of a run differ; streams only if scenario and cores do not vary."""
    axes = [axis for axis in AXES if len({axis_value(run, cell, axis) for cell in run.cells}) > 1]
    implied = {"scenario", "cores"} & set(axes)
    return [axis for axis in axes if axis != "streams" or not implied]


def describe(run: RunResult, cell: CellResult, axes: Sequence[str] | None = None) -> str:
    """Return the name of a cell; pass `axes` to avoid computing them for each cell."""
    return cell_name(run, cell, axes).words()


def cell_name(run: RunResult, cell: CellResult, axes: Sequence[str] | None = None) -> CellName:
    """Return the facts of a cell's name; pass `axes` to avoid computing them for each cell."""
    axes = varying(run) if axes is None else axes
    batch = axis_value(run, cell, "batch")
    asked = replace(cell.asked, batch=int(batch) if batch != "-" else None)
    streams = cell.used.streams if cell.used else None
    return CellName(asked, tuple(axes), axis_value(run, cell, "model"), streams)


def failure_text(cell: CellResult) -> str:
    """Return the reason why a cell is not `ok`, in one line; '' if it is."""
    if cell.status == "ok":
        return ""
    if cell.failure is None:
        return f"{cell.status}: {reason_words(cell.stopped_by, 200) or 'not reached'}"
    words = failure_words(cell.failure)
    return (
        f"partial after {count_of(len(cell.executions), 'execution')}: {words}" if cell.status == "partial" else words
    )


def _varies(run: RunResult, dim: str) -> bool:
    """Return whether the cells differ in a dim, so that a row must name it."""
    return len({cell.asked.dims.get(dim) for cell in run.cells}) > 1


TAILS = {"p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99_9"}
"""Display names of percentiles, and their names in a result."""


def reason_of(estimate: Estimate) -> str:
    """Return the reason for a missing interval or value; '' if nothing is missing."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return ""
    return reason_words(estimate.reason, 200) or "too few executions"


def missing_numbers(cell: CellResult) -> dict[str, list[str]]:
    """Return the names of the numbers by reason, in the order in which they are shown."""
    numbers = {"p50": "p50"} | TAILS
    found = [(name, cell.latency_ms[key]) for name, key in numbers.items() if key in cell.latency_ms]
    found += [("items/s", cell.items_per_sec)] if cell.pooled else []
    reasons: dict[str, list[str]] = {}
    for name, estimate in found:
        if reason := reason_of(estimate):
            reasons.setdefault(reason, []).append(name)
    return reasons


def missing_words(cell: CellResult) -> str:
    """Return all missing numbers of a cell in one line; '' if every number has its interval."""
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in missing_numbers(cell).items())


def no_interval_notes(run: RunResult, shown: Sequence[str] = ("p50", "items/s")) -> list[str]:
    """Return a line for each reason why numbers shown in a table have no ±."""
    counts: dict[str, int] = {}
    for cell in run.cells:
        for reason, names in missing_numbers(cell).items() if cell.pooled else ():
            counts[reason] = counts.get(reason, 0) + bool(set(names) & set(shown))
    total = count_of(len(run.cells), "cell")
    return [f"No interval: {reason} ({count} of {total})" for reason, count in counts.items() if count]


def cell_lines(run: RunResult, cell: CellResult) -> list[str]:
    """Return all lines of one cell, compatible ones first; of a failed cell its name and the reason."""
    return [*compatible_lines(run, cell), *own_lines(cell)]


def compatible_lines(run: RunResult, cell: CellResult) -> list[str]:
    """Return the lines that scripts for deepsparse.benchmark read: same labels, order and definitions."""
    source, _ = model_of(run, cell)
    lines = [
        f"Original Model Path: {show(source.asked if source else '', 4096)}",
        f"Batch Size: {batch_size(run, cell)}",
        f"Scenario: {show(find(cell.asked.scenario).label, 40)}",
    ]
    return lines + (_pooled_lines(cell.pooled) if cell.pooled else [])


def own_lines(cell: CellResult, prefix: str = "") -> list[str]:
    """Return the further lines: interval, percentiles, floor, grade, memory, start, CPU, outputs, deviations."""
    lines = [*_latency_lines(cell), *_throughput_lines(cell), *_machine_lines(cell), *_outcome_lines(cell)]
    return [prefix + line for line in lines]


def batch_size(run: RunResult, cell: CellResult) -> int:
    """Return axis 0 of the inputs; items per call if the model has no batch."""
    text = axis_value(run, cell, "batch")
    return int(text) if text.isdigit() else cell.items


def differences(cell: CellResult) -> list[str]:
    """Return the settings whose value read back differs from the requested one."""
    used = cell.used
    return [] if used is None else list(_differences(cell, used))


def support_text(cell: CellResult) -> str:
    """Return the share of operators that the cell's engine itself ran; '' if it has no other engine inside it."""
    return support_words(cell.asked.engine, cell.used.supported if cell.used is not None else None)


def support_lines(run: RunResult) -> list[str]:
    """Return each engine with the share of operators that it ran itself, and the number of its cells."""
    found = Counter((cell.asked.engine, text) for cell in run.cells if (text := support_text(cell)))
    return [f"Supported: {show(name, 60)} {text} ({count_of(count, 'cell')})" for (name, text), count in found.items()]


def check_text(check: Check | None, *, brief: bool = False) -> str:
    """Return the result of the output check in words; `brief` leaves the names of the figures out."""
    if check is None:
        return "unchecked"
    known = check.difference is not None and check.tolerance is not None
    form = " ({:.2g} of {:.2g})" if brief else " (difference {:.2g}, tolerance {:.2g})"
    figures = form.format(check.difference, check.tolerance) if known else ""
    words = {"agrees": "agree with the reference", "differs": "DIFFER from the reference"}
    reason = f": {reason_words(check.reason, 300)}" if check.reason else ""
    return f"{words.get(check.state, show(check.state, 40))}{figures}{reason}"


def _pooled_lines(pooled: Pooled) -> list[str]:
    return [
        f"Throughput (items/sec): {number(pooled.items_per_sec)}",
        f"Latency Mean (ms/batch): {number(pooled.mean)}",
        f"Latency Median (ms/batch): {number(pooled.median)}",
        f"Latency Std (ms/batch): {number(pooled.std)}",
        f"Iterations: {pooled.iterations}",
    ]


def _latency_lines(cell: CellResult) -> Iterator[str]:
    p50 = p50_latency(cell)
    if p50.value is not None:
        yield f"Latency p50 (ms/batch): {number(p50.value)} {_interval(p50)}"
    tails = {label: cell.latency_ms[key] for label, key in TAILS.items() if key in cell.latency_ms}
    if tails and p50.value is not None:
        yield f"Latency Percentiles (ms/batch): {' · '.join(f'{label} {_value(e)}' for label, e in tails.items())}"
        yield from _missing_tails(tails, reason_of(p50))
    floor = cell.latency_ms.get("floor", Estimate(None))
    if floor.value is not None:
        yield f"Latency Floor (ms/batch): {number(floor.value)}"


def _missing_tails(tails: Mapping[str, Estimate], known: str) -> Iterator[str]:
    """Yield each reason with its percentiles; skip the reason that the median's line states already."""
    groups: dict[tuple[str, str], list[str]] = {}
    for label, estimate in tails.items():
        what = "Percentile Missing" if estimate.value is None else "Percentile without Interval"
        reason = reason_of(estimate)
        if reason and (estimate.value is None or reason != known):
            groups.setdefault((what, reason), []).append(label)
    yield from (f"{what}: {', '.join(labels)} {reason}" for (what, reason), labels in groups.items())


def _throughput_lines(cell: CellResult) -> Iterator[str]:
    steady = cell.items_per_sec
    if steady.value is not None:
        yield f"Throughput Steady (items/sec): {number(steady.value)} {_interval(steady)}"
    if cell.items_per_cpu_sec.value is not None:
        yield f"Throughput per CPU Second (items): {number(cell.items_per_cpu_sec.value)}"


def _machine_lines(cell: CellResult) -> Iterator[str]:
    if cell.grade is not None:
        yield f"Grade: {show(cell.grade.letter, 4)} ({reason_words(cell.grade.cause, 300)})"
    if cell.memory_bytes:
        memory = (f"{show(name, 40).replace('_', ' ')} {size(count)}" for name, count in cell.memory_bytes.items())
        yield f"Memory: {' · '.join(memory)}"
    start = [("load", cell.load_ms), ("first inference", cell.first_ms)]
    known = [f"{name} {number(value)}" for name, value in start if value is not None]
    if known:
        yield f"Start (ms): {' · '.join(known)}"
    yield from _warmup_lines(cell)
    used = cell.used
    if used is not None and used.cpu_seconds_per_second is not None:
        cpus = ",".join(str(cpu) for cpu in used.cpus)
        yield f"CPU Used: {short(used.cpu_seconds_per_second)} of {cell.asked.cores} cores (CPU {show(cpus, 60)})"
    if used is not None and find(cell.asked.scenario).has_streams:
        yield f"Streams: {used.streams} ({show(used.stream_kind or 'kind unknown', 40)})"


def _warmup_lines(cell: CellResult) -> Iterator[str]:
    restless = sum(not execution.warmup.settled for execution in cell.executions)
    if restless:
        yield f"Warm-up: not settled in {restless} of {count_of(len(cell.executions), 'execution')}"


def _outcome_lines(cell: CellResult) -> Iterator[str]:
    if cell.pooled is not None:
        yield f"Outputs: {check_text(cell.check)}"
    if supported := support_text(cell):
        yield f"Supported: {supported}"
    if cell.used is not None and cell.used.io != "bound":
        yield f"I/O: {show(cell.used.io, 40)} (its copying is inside the timed call)"
    yield from (f"Not as Requested: {difference}" for difference in differences(cell))
    if cell.stopped_by and cell.pooled is not None:
        yield f"Stopped By: {reason_words(cell.stopped_by, 300)}"
    if cell.status != "ok":
        text = failure_text(cell)
        yield f"{text[:1].upper()}{text[1:]}"
        tail = cell.failure.log_tail.strip().splitlines() if cell.failure and cell.failure.log_tail else []
        if tail:
            yield f"Last Words: {show(tail[-1], 300)}"


def _differences(cell: CellResult, used: Used) -> Iterator[str]:
    asked = cell.asked
    pairs: list[tuple[str, object, object]] = [
        ("cores", asked.cores, len(used.cpus)),
        ("streams", asked.streams, used.streams),
        ("pinning", asked.pin, used.pinned),
    ]
    pairs += [("threads", asked.cores, used.threads)] if used.threads is not None else []
    # A batch of 1 cannot be verified, and a batch that was not read back is not a difference.
    read = asked.batch is not None and asked.batch > 1 and used.batch is not None
    pairs += [("batch", asked.batch, used.batch)] if read else []
    for name, wanted, got in pairs:
        if wanted != got:
            yield f"{name} requested {show(wanted, 60)}, used {show(got, 60)}"
    if asked.batch is not None and used.batch is None and "batch" in used.details:
        yield f"batch requested {asked.batch}, could not be read back: {show(used.details['batch'])}"
    if asked.precision == "engine-default":
        yield f"precision: engine default, used {show(used.precision or 'unknown', 60)}"
    elif used.precision is None:
        yield f"precision requested {show(asked.precision, 60)}, could not be read back"
    elif used.precision != asked.precision:
        yield f"precision requested {show(asked.precision, 60)}, used {show(used.precision, 60)}"
    if "precision" in used.details:
        yield f"precision: {show(used.details['precision'])}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"(no interval: {reason_of(estimate)})"
    bounds = f"[{number(estimate.low)}, {number(estimate.high)}]"
    return f"{plus_minus(estimate)} {bounds} over {estimate.n} executions"


def _value(estimate: Estimate | None) -> str:
    return "-" if estimate is None or estimate.value is None else number(estimate.value)


_MOST_NAMED = 5


def provenance_lines(run: RunResult) -> list[str]:
    """Return a line for each fact that affects the numbers; empty for most results."""
    return list(_lines(run))


def _lines(run: RunResult) -> Iterator[str]:
    if run.foreign:
        yield f"Imported from {show(run.foreign, 100)}: no grade, no interval"
    if run.shared_host:
        yield "Measured concurrently with another benchmark (--share-host)"
    yield from _resumed(run)
    for session in run.sittings:
        if session.mixed:
            changes = "; ".join(all_words(session.mixed))
            yield f"Changed between sessions (--mixed): {changes}"


def _resumed(run: RunResult) -> Iterator[str]:
    """Yield the cells that were measured in several sessions; without names if all were."""
    counts: dict[int, list[CellResult]] = {}
    for cell in run.cells:
        if cell.sittings > 1:
            counts.setdefault(cell.sittings, []).append(cell)
    axes = varying(run)
    for sessions, cells in sorted(counts.items()):
        named = [describe(run, cell, axes) for cell in cells[:_MOST_NAMED]]
        more = f" and {len(cells) - len(named)} more" if len(cells) > len(named) else ""
        which = "" if len(cells) == len(run.cells) else f": {' / '.join(named)}{more}"
        yield f"Executions from {sessions} sessions{which}"


# Table of cells

WIDTH = 80
_RIGHT = ("cores", "batch", "streams")
_SHRINKABLE = ("model", "dims", "engine", "precision")
_NARROWEST = 8


def cell_table(run: RunResult, width: int = WIDTH) -> list[str]:
    """Return the table and, below it, the full reason of each cell that is not ok."""
    axes = [_axis_column(run, axis) for axis in varying(run) or ["scenario"]]
    return table_lines((*axes, *CELL_COLUMNS), run.cells, width) + _footnotes(run)


def _axis_column(run: RunResult, axis: str) -> Column[CellResult]:
    """Return the column of one coordinate; long names are cut, but stay distinguishable."""
    least = _NARROWEST if axis in _SHRINKABLE else None
    right = axis in _RIGHT
    return Column(
        axis, axis, 0, lambda cell: axis_value(run, cell, axis), right=right, least=least, start=axis == "dims"
    )


def _known(value: float | None, unit: Callable[[float], str]) -> str:
    return "-" if value is None else unit(value)


def _half(estimate: Estimate) -> str:
    return _known(estimate.half_width, percent_number)


def _mark(cell: CellResult) -> str:
    state = cell.check.state if cell.check else "unchecked"
    word = {"agrees": "agree", "differs": "DIFFER"}.get(state, "-")
    return f"{word}, partial" if cell.status == "partial" else word


CELL_COLUMNS: tuple[Column[CellResult], ...] = (
    Column("p50", "p50", 0, lambda cell: _known(p50_latency(cell).value, ms), right=True,
           instead=lambda cell: failure_text(cell) if p50_latency(cell).value is None else ""),
    Column("p50 half", "±%", 0, lambda cell: _half(p50_latency(cell)), right=True),
    Column("rate", "items/s", 0, lambda cell: _known(cell.items_per_sec.value, short), right=True),
    Column("rate half", "±%", 0, lambda cell: _half(cell.items_per_sec), right=True),
    Column("grade", "grade", 0, lambda cell: show(cell.grade.letter, 4) if cell.grade else "-"),
    Column("outputs", "outputs", 0, _mark),
)  # fmt: skip


def _footnotes(run: RunResult) -> list[str]:
    notes, axes = [], varying(run)
    for cell in run.cells:
        if cell.status != "ok":
            notes.append(f"{describe(run, cell, axes)}: {failure_text(cell)}")
        if cell.check is not None and cell.check.state == "differs":
            reason = (
                reason_words(cell.check.reason, 300) or f"by {short(cell.check.difference or 0.0, 2)} of their range"
            )
            notes.append(f"{describe(run, cell, axes)}: outputs differ from the reference {reason}")
        if cell.grade is not None and cell.grade.letter in ("C", "D"):
            notes.append(
                f"{describe(run, cell, axes)}: grade {cell.grade.letter}: {reason_words(cell.grade.cause, 300)}"
            )
    notes += no_interval_notes(run) + _restless(run)
    return ["", *notes] if notes else []


def _restless(run: RunResult) -> list[str]:
    """Return a line about executions whose warm-up ended before the times had settled."""
    every = [execution for cell in run.cells for execution in cell.executions]
    count = sum(not execution.warmup.settled for execution in every)
    return [f"Warm-up: not settled in {count} of {count_of(len(every), 'execution')}"] if count else []

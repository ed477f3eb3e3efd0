"""All numbers of one cell as facts, the most important first."""

from __future__ import annotations

from collections.abc import Iterator

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.scenario import find
from tuibench.core.units import count_of, ms, percent, short, size
from tuibench.report.label import failure_text
from tuibench.report.lines import check_text, differences
from tuibench.report.missing import TAILS, missing_numbers
from tuibench.tui.screens.detail_fact import Fact


def number_facts(cell: CellResult) -> Iterator[Fact]:
    """Yield each number with its ±; then reasons for missing values and deviations from the request."""
    if cell.status != "ok":
        yield Fact("", failure_text(cell), "bad" if cell.failure is not None else "warn")
        yield from _last_words(cell)
    rates = (_rate, _time) if not find(cell.asked.scenario).is_latency else (_time, _rate)
    for each in rates:
        yield from each(cell)
    yield from _spread(cell)
    yield from _trust(cell)
    yield from _costs(cell)
    for reason, names in missing_numbers(cell).items():
        yield Fact("", f"{', '.join(names)}: {reason}", "dim")
    yield from (Fact("", f"not as asked: {each}", "warn") for each in differences(cell))


def _last_words(cell: CellResult) -> Iterator[Fact]:
    said = (cell.failure.log_tail or "").strip().splitlines() if cell.failure is not None else []
    if said:
        yield Fact("last words", said[-1])


def _time(cell: CellResult) -> Iterator[Fact]:
    p50 = cell.latency_ms.get("p50", Estimate(None))
    if p50.value is not None:
        yield Fact("p50", f"{ms(p50.value)}/batch{_half(p50)}")
        if cell.items > 1:
            yield Fact("per item", f"{ms(p50.value / cell.items)}{_half(p50)}")


def _rate(cell: CellResult) -> Iterator[Fact]:
    if cell.items_per_sec.value is not None:
        yield Fact("items/s", f"{short(cell.items_per_sec.value, 4)}{_half(cell.items_per_sec)}")


def _spread(cell: CellResult) -> Iterator[Fact]:
    for name in ("mean", "std", "floor"):
        found = cell.latency_ms.get(name, Estimate(None))
        if found.value is not None:
            yield Fact(name, f"{ms(found.value)}{_half(found)}")
    tails = [(label, cell.latency_ms.get(name, Estimate(None))) for label, name in TAILS.items()]
    words = [f"{label} {ms(found.value)}{_half(found)}" for label, found in tails if found.value is not None]
    for n in range(0, len(words), 2):
        yield Fact("", "  ".join(words[n : n + 2]))


def _trust(cell: CellResult) -> Iterator[Fact]:
    if cell.grade is not None:
        style = "warn" if cell.grade.letter in "CD" else ""
        yield Fact("grade", f"{cell.grade.letter}: {cell.grade.cause}", style)
    elif cell.pooled is not None:
        yield Fact("grade", "none: nobody looked at the noise of the machine", "dim")
    if cell.executions or cell.check is not None:
        wrong = cell.check is not None and cell.check.state == "differs"
        words = check_text(cell.check).replace("(difference ", "(").replace(", tolerance ", " of ")
        yield Fact("outputs", words, "bad" if wrong else "")


def _costs(cell: CellResult) -> Iterator[Fact]:
    start = [f"{ms(value)}{what}" for value, what in ((cell.load_ms, ""), (cell.first_ms, " first call")) if value]
    if start:
        yield Fact("load", ", ".join(start))
    if cell.memory_bytes:
        yield Fact("memory", ", ".join(f"{name.replace('_', ' ')} {size(n)}" for name, n in cell.memory_bytes.items()))
    used = cell.used
    if used is not None:
        if used.cpu_seconds_per_second is not None:
            yield Fact("CPU used", f"{short(used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
        streams = f", {count_of(used.streams, 'stream')}" if find(cell.asked.scenario).has_streams else ""
        precision = used.precision or "precision unknown"
        yield Fact("engine", f"{cell.asked.engine} {used.engine_version} {precision}{streams}")
    if cell.items_per_cpu_sec.value is not None:
        half = _half(cell.items_per_cpu_sec)
        yield Fact("per CPU s", f"{short(cell.items_per_cpu_sec.value, 4)} items{half}")
    if cell.pooled is not None:
        ran = f" in {count_of(len(cell.executions), 'execution')}" if cell.executions else ""
        yield Fact("calls", f"{cell.pooled.iterations}{ran}")
    if cell.stopped_by and cell.stopped_by != cell.status:
        yield Fact("stopped by", cell.stopped_by)


def _half(estimate: Estimate) -> str:
    half = estimate.half_width
    return "" if half is None else f" ±{percent(half)}"

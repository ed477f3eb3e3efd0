"""What a run comes to, in words: one headline, and after a sweep a sentence for each question people have."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.run import Comparison
from tuibench.core.text import show
from tuibench.core.units import ms, percent, short
from tuibench.runs.choice import (
    Choice,
    Names,
    choose,
    counted,
    describe,
    is_clean,
    latency,
    measured,
    model_name,
    several,
    throughput,
    throughput_per_core,
)

_MOST_TIED = 3


def conclude(cells: Sequence[CellResult], names: Names) -> tuple[str, ...]:
    """One sentence each for least latency, most items/s and most items/s per core, where there is a choice."""
    able = measured(cells)
    # Streams trade the latency of one request for throughput: they answer another question.
    alone = [c for c in able if c.asked.scenario == "sync"] or able
    sentences = [_sentence("Least latency", _least(alone), alone, names, "ms")]
    sentences.append(_sentence("Most items/s", choose(able, throughput, most=True), able, names, "items/s"))
    if several(able, "cores"):
        best = choose(able, throughput_per_core, most=True)
        sentences.append(_sentence("Most items/s per core", best, able, names, "items/s per core"))
    return tuple(s for s in sentences if s)


def headline(cells: Sequence[CellResult], names: Names, comparisons: Sequence[Comparison] = ()) -> str:
    """The last line: best sync latency, best throughput of streams, grade, and whatever a reader must not miss."""
    able = measured(cells)
    if not able:
        return _why_nothing(cells)
    sync = [c for c in able if c.asked.scenario == "sync"]
    streams = [c for c in able if c.asked.scenario != "sync"]
    parts, named = [], []
    if sync and (best := _least(sync)):
        named.append(best.cell)
        parts.append(f"{_amount(best.estimate, 'ms')} ({_brief(best.cell, cells, names)})")
    if streams and (best := choose(streams, throughput, most=True)):
        named.append(best.cell)
        parts.append(f"{_amount(best.estimate, 'items/s')} ({_brief(best.cell, cells, names)})")
    letters = [c.grade.letter for c in named if c.grade is not None]
    if letters:
        parts.append(f"grade {max(letters)}")
    return " · ".join([*parts, *_remarks(named, cells), *_ratio(comparisons)])


def _least(cells: Sequence[CellResult]) -> Choice | None:
    return choose(cells, latency, most=False)


def _sentence(title: str, best: Choice | None, cells: Sequence[CellResult], names: Names, unit: str) -> str:
    if best is None or len(cells) < 2:
        return ""
    words = [f"{title}: {_amount(best.estimate, unit)} ({describe(best.cell, cells, names)})"]
    if best.cell.grade is not None:
        words.append(f"grade {best.cell.grade.letter}")
    if best.estimate.low is None and best.estimate.reason:
        words.append(show(best.estimate.reason))
    if not is_clean(best.cell):
        words.append("no cell is clean" if not _differs(best.cell) else "outputs differ, and no cell is clean")
    return ", ".join(words) + _ties(best, cells, names) + "."


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


def _brief(cell: CellResult, cells: Sequence[CellResult], names: Names) -> str:
    """The configuration as the headline has it: cores and batch for sync, streams for the others."""
    asked = cell.asked
    parts = [model_name(cell, names)] if several(cells, "model_sha256") else []
    if several(cells, "engine"):
        parts.append(show(asked.engine))
    parts.append(show(asked.scenario))
    if asked.scenario == "sync" or several(cells, "cores"):
        parts.append(counted(asked.cores, "core"))
    if asked.batch is not None and (asked.scenario == "sync" or several(cells, "batch")):
        parts.append(f"batch {asked.batch}")
    if asked.scenario != "sync":
        parts.append(counted(cell.used.streams if cell.used else asked.streams, "stream"))
    if several(cells, "dims"):
        parts += [f"{show(name)} {size}" for name, size in asked.dims.items()]
    return ", ".join(parts)


def _remarks(named: Sequence[CellResult], cells: Sequence[CellResult]) -> list[str]:
    remarks = []
    if any(_differs(c) for c in named):
        remarks.append("outputs differ")
    for status in ("failed", "partial", "skipped"):
        count = sum(c.status == status for c in cells)
        if count:
            remarks.append(f"{count} of {counted(len(cells), 'cell')} {status}")
    return remarks


def _ratio(comparisons: Sequence[Comparison]) -> list[str]:
    """The sentence of a run's only comparison; several have a table of their own."""
    return [comparisons[0].sentence] if len(comparisons) == 1 else []


def _why_nothing(cells: Sequence[CellResult]) -> str:
    """The first failure's reason: the one thing to mend before anything can be measured."""
    failed = [c.failure for c in cells if c.failure is not None]
    if not failed:
        return f"nothing measured: {counted(len(cells), 'cell')} skipped" if cells else "nothing measured"
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"failed in {show(failed[0].phase)}: {show(failed[0].message)}{more}"


def _differs(cell: CellResult) -> bool:
    return cell.check is not None and cell.check.state == "differs"

"""The last line: one number per scenario with its cell, its interval and the grade."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.run import Comparison, RunResult
from tuibench.core.text import show
from tuibench.core.units import ms, short
from tuibench.report.label import axis_value, count_of, describe, failure_text, plus_minus, varying


def headline(run: RunResult) -> str:
    """Least p50 of sync, most items/s of async, the ratio of a comparison; a failure's reason where that is all."""
    winners = [(cell, text) for cell, text in (_best_sync(run), _best_async(run)) if cell is not None]
    if not winners:
        return _nothing(run)
    parts = [text for _, text in winners]
    parts += [_ratio(run, run.comparisons[0])] if len(run.comparisons) == 1 else []
    parts += _caveats([cell for cell, _ in winners])
    return " · ".join(parts)


def pick(cells: Sequence[CellResult], metric: str, least: bool) -> CellResult | None:
    """The best cell by p50 or items/s; wrong outputs and grade D win only where nothing clean was measured."""
    found = [(value, cell) for cell in cells if (value := _metric(cell, metric)) is not None]
    clean = [(value, cell) for value, cell in found if not _tainted(cell)]
    choice = sorted(clean or found, key=lambda pair: pair[0], reverse=not least)
    return choice[0][1] if choice else None


def _metric(cell: CellResult, metric: str) -> float | None:
    if metric == "items_per_sec":
        return cell.items_per_sec.value
    return cell.latency_ms["p50"].value if "p50" in cell.latency_ms else None


def _tainted(cell: CellResult) -> bool:
    wrong = cell.check is not None and cell.check.state == "differs"
    return wrong or (cell.grade is not None and cell.grade.letter == "D")


def _best_sync(run: RunResult) -> tuple[CellResult | None, str]:
    cell = pick([c for c in run.cells if c.asked.scenario == "sync"], "p50", least=True)
    if cell is None:
        return None, ""
    p50 = cell.latency_ms["p50"]
    return cell, f"{_joined(ms(p50.value or 0.0), _margin(p50))} ({describe(run, cell)})"


def _best_async(run: RunResult) -> tuple[CellResult | None, str]:
    cell = pick([c for c in run.cells if c.asked.scenario != "sync"], "items_per_sec", least=False)
    if cell is None:
        return None, ""
    rate = cell.items_per_sec
    return cell, f"{_joined(short(rate.value or 0.0) + ' items/s', _margin(rate))} ({describe(run, cell)})"


def _margin(estimate: Estimate) -> str:
    return plus_minus(estimate) or "without interval"


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


def _caveats(winners: Sequence[CellResult]) -> list[str]:
    grades = sorted(show(cell.grade.letter, 4) for cell in winners if cell.grade)
    wrong = any(cell.check is not None and cell.check.state == "differs" for cell in winners)
    return ([f"grade {grades[-1]}"] if grades else []) + (["outputs differ"] if wrong else [])


def _ratio(run: RunResult, comparison: Comparison) -> str:
    sides = {cell.key: cell for cell in run.cells}
    new, base = sides.get(comparison.new), sides.get(comparison.base)
    bounds = "" if comparison.low is None or comparison.high is None else _bounds(comparison.low, comparison.high)
    names = f" ({_side(run, new, base)})" if new and base else ""
    return _joined(f"ratio {comparison.ratio:.3f}", bounds) + names


def _bounds(low: float, high: float) -> str:
    return f"[{low:.3f}, {high:.3f}]"


def _side(run: RunResult, new: CellResult, base: CellResult) -> str:
    axes = [a for a in varying(run) if axis_value(run, new, a) != axis_value(run, base, a)]
    sides = (" ".join(axis_value(run, cell, axis) for axis in axes) for cell in (new, base))
    return " / ".join(sides)


def _nothing(run: RunResult) -> str:
    reasons = [text for cell in run.cells if (text := failure_text(cell))]
    if not reasons:
        return f"nothing was measured ({show(run.status, 40)})"
    rest = f" · {count_of(len(reasons) - 1, 'more cell')} without a result" if len(reasons) > 1 else ""
    return reasons[0] + rest

"""One cell of a run in a few characters, and in the lines below the grid."""

from __future__ import annotations

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.units import count_of, ms, percent, short
from tuibench.core.watch import Live, RunView
from tuibench.plots.sparkline import sparkline
from tuibench.report.label import failure_text, plus_minus
from tuibench.report.lines import check_text, differences
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike, Span


def main_estimate(cell: CellResult) -> Estimate:
    """The number that stands for a cell: time of a single request, or items per second of several."""
    if cell.asked.scenario == "sync":
        return cell.latency_ms.get("p50", Estimate(None))
    return cell.items_per_sec


def value_words(cell: CellResult, value: float) -> str:
    """The number with its unit, where the unit is not that of all."""
    return ms(value).removesuffix(" ms") if cell.asked.scenario == "sync" else short(value, 4)


def cell_span(cell: CellResult, live: Live | None, glyphs: Glyphs) -> Span:
    """Value, interval and grade; a sign for what has none. No meaning in colour alone."""
    found = main_estimate(cell)
    here = live is not None and live.cell == cell.key
    if cell.status == "failed":
        return f"{glyphs.failed} {failure_text(cell)}", "bad"
    if found.value is None:
        if here and live is not None:
            now = f" {ms(live.p50_ms)}" if live.p50_ms is not None else ""
            return f"{glyphs.running}{now}", "accent"
        return "-", "dim"
    half = plus_minus(found).replace("±", glyphs.plus_minus).replace(" ", "")
    count = len(cell.executions)
    trust = half or count_of(count, "run")
    sign = glyphs.running if here else _sign(cell, glyphs)
    text = " ".join(filter(None, (value_words(cell, found.value), trust, sign)))
    return text, _style(cell, here)


def _sign(cell: CellResult, glyphs: Glyphs) -> str:
    if cell.check is not None and cell.check.state == "differs":
        return glyphs.differs
    if cell.failure is not None:
        return glyphs.failed
    return cell.grade.letter if cell.grade is not None else ""


def _style(cell: CellResult, here: bool) -> str:
    if here:
        return "accent"
    if cell.failure is not None or (cell.check is not None and cell.check.state == "differs"):
        return "bad"
    return "warn" if cell.grade is not None and cell.grade.letter == "D" else ""


def now_words(view: RunView, name: str) -> str:
    """What is measured at this moment; `name` is the cell's."""
    live = view.live
    if live is None:
        return ""
    words = [name, f"execution {live.n} of at least {view.executions_min}" if live.n else "anchor", live.phase]
    if live.p50_ms is not None:
        half = f" ±{percent(live.half_width)}" if live.half_width is not None else ""
        words.append(f"{ms(live.p50_ms)}{half}")
    return "   ".join(words)


def cell_details(cell: CellResult, view: RunView, glyphs: Glyphs, ascii_only: bool) -> list[LineLike]:
    """The cell under the cursor: how its interval narrowed, what the machine did, whether its outputs are right."""
    if cell.status == "failed":
        tail = (cell.failure.log_tail or "").strip().splitlines() if cell.failure else []
        lines: list[LineLike] = [(failure_text(cell), "bad")]
        return lines + ([(f"last words: {tail[-1]}", "dim")] if tail else [])
    lines = [_interval_line(cell, view, ascii_only)]
    if cell.grade is not None:
        lines.append((f"grade {cell.grade.letter}: {cell.grade.cause}", "warn" if cell.grade.letter in "CD" else ""))
    lines.append(_machine_line(cell, glyphs))
    wrong = cell.check is not None and cell.check.state == "differs"
    words = [f"outputs {check_text(cell.check)}", *differences(cell)] if cell.executions else []
    lines.append((f" {glyphs.dot} ".join(words), "bad" if wrong else ""))
    return lines


def _interval_line(cell: CellResult, view: RunView, ascii_only: bool) -> LineLike:
    halves = view.half_widths.get(cell.key, ())
    done = f"{count_of(len(cell.executions), 'execution')}"
    words = [done]
    if halves:
        words.append(f"±{percent(halves[0])} {sparkline(halves, ascii_only, width=20)} ±{percent(halves[-1])}")
    if cell.stopped_by:
        words.append(cell.stopped_by)
    if cell.failure is not None:
        words.append(failure_text(cell))
    return ("   ".join(words), "bad" if cell.failure is not None else "")


def _machine_line(cell: CellResult, glyphs: Glyphs) -> LineLike:
    used = cell.used
    if used is None:
        return ""
    words = []
    if used.cpu_seconds_per_second is not None:
        words.append(f"used {short(used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
    latest = cell.executions[-1].noise if cell.executions else None
    if latest is not None:
        mhz = latest.frequency_mhz
        words += [f"{short(mhz[-1] / 1000)} GHz"] if mhz else []
        if latest.steal_share:
            words.append(f"steal {percent(latest.steal_share)}")
        words += ["throttled"] if latest.throttled_us else []
    return f" {glyphs.dot} ".join(words)

"""One cell of a run: its text in the grid, and the lines below the grid."""

from __future__ import annotations

import math

from tuibench.core import activity
from tuibench.core.activity import Live, RunRow, RunView
from tuibench.core.cell import CellResult, Estimate, Noise
from tuibench.core.scenario import find
from tuibench.core.units import count_of, ms, percent, seconds, short
from tuibench.present.label import failure_text, plus_minus
from tuibench.present.lines import check_text, differences
from tuibench.present.plots.bars import sparkline
from tuibench.present.plots.drawing import Span
from tuibench.present.reason import reason_words
from tuibench.present.run_list import drift_words
from tuibench.tui.glyph import Glyphs
from tuibench.tui.screens.run.summary import Labelled, target_words

_SPARK = 20
_MOST_MORE = 99


def main_estimate(cell: CellResult) -> Estimate:
    """Return the main number of a cell: latency of a single request, or items per second of streams."""
    if find(cell.asked.scenario).is_latency:
        return cell.latency_ms.get("p50", Estimate(None))
    return cell.items_per_sec


def value_words(cell: CellResult, value: float) -> str:
    """Return the number; latencies without their unit, which the heading shows."""
    return ms(value).removesuffix(" ms") if find(cell.asked.scenario).is_latency else short(value, 4)


def cell_span(cell: CellResult, live: Live | None, glyphs: Glyphs) -> Span:
    """Return value, interval and grade, or a sign if there is none. Colour is never the only sign."""
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
    trust = half or count_of(len(cell.executions), "run")
    sign = glyphs.running if here else _sign(cell, glyphs)
    text = " ".join(filter(None, (value_words(cell, found.value), trust, sign)))
    return text, _style(cell, here)


def _sign(cell: CellResult, glyphs: Glyphs) -> str:
    if cell.failure is not None:
        return glyphs.failed
    if cell.check is not None and cell.check.state == "differs":
        return glyphs.differs
    return cell.grade.letter if cell.grade is not None else ""


def _style(cell: CellResult, here: bool) -> str:
    if cell.failure is not None or (cell.check is not None and cell.check.state == "differs"):
        return "bad"
    if here:
        return "accent"
    return "warn" if cell.grade is not None and cell.grade.letter == "D" else ""


def now_words(view: RunView, cell: CellResult, name: str) -> str:
    """Return the line about the present execution; `name` is the cell's."""
    live = view.live
    if live is None:
        return ""
    least = f" of ≥{view.executions_min}" if live.n <= view.executions_min else ""
    words = [f"now  {name}", f"execution {live.n}{least}" if live.n else "anchor"]
    if live.p50_ms is None or live.phase != "measuring":
        words.append(live.phase)
    if live.p50_ms is not None:
        half = f" ±{percent(live.half_width)}" if live.half_width is not None else ""
        words.append(f"{ms(live.p50_ms)}{half}")
    words.append(more_words(view, cell))
    return "  ".join(filter(None, words))


def more_words(view: RunView, cell: CellResult) -> str:
    """Return the approximate number of executions still needed: an interval narrows with the root of their number."""
    target = view.spec.effort.target if view.spec is not None else None
    halves, count = view.half_widths.get(cell.key, ()), len(cell.executions)
    if target is None or not halves or halves[-1] <= 0 or not math.isfinite(halves[-1]):
        return ""
    missing = max(math.ceil(count * (halves[-1] / target) ** 2), view.executions_min) - count
    if missing <= 0:
        return ""
    return f"~{missing if missing <= _MOST_MORE else f'>{_MOST_MORE}'} more to {target_words(target)}"


def cell_details(cell: CellResult, view: RunView, glyphs: Glyphs, ascii_only: bool) -> list[Labelled]:
    """Return lines on the selected cell: failure, state of the machine, check of the outputs."""
    if cell.status == "failed":
        tail = (cell.failure.log_tail or "").strip().splitlines() if cell.failure is not None else []
        return [("failed", failure_text(cell), "bad"), ("last line", tail[-1] if tail else "", "dim")]
    lines = [("failed", failure_text(cell), "bad")] if cell.failure is not None else []
    bad_grade = cell.grade is not None and cell.grade.letter in "CD"
    lines.append(("noise", noise_words(cell, view, glyphs, ascii_only), "warn" if bad_grade else ""))
    lines.append(("machine", _machine_words(cell, glyphs), ""))
    wrong = cell.check is not None and cell.check.state == "differs"
    words = [check_text(cell.check), *differences(cell)] if cell.executions else []
    lines.append(("outputs", f" {glyphs.dot} ".join(words), "bad" if wrong else ""))
    return lines


def interval_words(cell: CellResult, view: RunView, ascii_only: bool) -> str:
    """Return the history of a cell's interval, and the reason why it is finished."""
    if cell.status == "failed":
        return ""
    halves = [half for half in view.half_widths.get(cell.key, ()) if math.isfinite(half)]
    words = [count_of(len(cell.executions), "execution") if cell.executions else "nothing measured yet"]
    if halves:
        line = sparkline(halves, ascii_only, width=_SPARK) if len(halves) > 1 else ""
        first = f"±{percent(halves[0])} {line} " if line else ""
        # The grid shows items/s of streams, which vary less.
        what = "p50 " if not find(cell.asked.scenario).is_latency else ""
        words.append(f"{what}{first}±{percent(halves[-1])}")
    is_over = view.ended or cell.status == "ok" or cell.failure is not None
    if cell.stopped_by and is_over:
        words.append(reason_words(cell.stopped_by))
    return "  ".join(words)


def noise_words(cell: CellResult, view: RunView, glyphs: Glyphs, ascii_only: bool) -> str:
    """Return the grade with its cause, and the share of waiting for a CPU in the latest executions of all cells."""
    words = [f"{cell.grade.letter}: {reason_words(cell.grade.cause)}"] if cell.grade is not None else []
    shares = [min(share, 1.0) for share in view.waiting_shares if share is not None]
    if shares:
        line = sparkline(shares, ascii_only, width=_SPARK, low=0.0, high=max(*shares, 0.05))
        words.append(f"{line} CPU wait {percent(shares[-1])}")
    drift = drift_words(view.drift)
    words += [f"drift {drift}"] if drift else []
    return f" {glyphs.dot} ".join(words)


def _machine_words(cell: CellResult, glyphs: Glyphs) -> str:
    words = []
    if cell.used is not None and cell.used.cpu_seconds_per_second is not None:
        words.append(f"used {short(cell.used.cpu_seconds_per_second)} of {count_of(cell.asked.cores, 'core')}")
    if cell.executions:
        words += _reading_words(cell.executions[-1].noise)
    return f" {glyphs.dot} ".join(words)


def _reading_words(noise: Noise) -> list[str]:
    """Return the kernel's readings of the latest execution."""
    words = [f"{short(noise.frequency_mhz[-1] / 1000)} GHz"] if noise.frequency_mhz else []
    if noise.throttled_us is not None:
        words.append("throttled" if noise.throttled_us else "no throttling")
    if noise.steal_share is not None:
        words.append(f"steal {percent(noise.steal_share)}" if noise.steal_share else "steal 0")
    if noise.disturbed_blocks:
        words.append(f"{noise.disturbed_blocks} of {noise.blocks} blocks disturbed")
    return words


SIGNS = {
    activity.RUNNING: "running", activity.WAITING: "waiting", activity.FAILED: "failed",
    activity.INTERRUPTED: "interrupted", activity.REBOOTED: "interrupted", activity.CANCELLED: "interrupted",
    activity.UNSAVED: "interrupted", activity.ELSEWHERE: "running",
}  # fmt: skip
"""Names of signs in tui/glyph.py."""


def run_cell(run: RunRow, glyphs: Glyphs) -> str:
    """Return text such as `▶ 9/15 ~3m10`, or the state in a word."""
    info = run.info
    sign = getattr(glyphs, SIGNS.get(info.state, "failed"))
    if info.state != activity.RUNNING:
        return f"{sign} {info.state}"
    done = f" {info.cells_done}/{info.cells}" if info.cells else ""
    left = f" ~{seconds(max(info.eta_s, 0.0))}" if info.eta_s is not None else ""
    return f"{sign}{done}{left}"

"""The state of a run as a sign and a few words, for lists."""

from __future__ import annotations

from tuibench.core import activity
from tuibench.core.units import seconds
from tuibench.core.watch import RunRow
from tuibench.tui.glyph import Glyphs

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

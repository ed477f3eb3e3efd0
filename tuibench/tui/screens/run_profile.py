"""A run that makes a profile, in lines: how far it is, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core import activity
from tuibench.core.units import seconds
from tuibench.core.watch import RunView
from tuibench.plots.bar import progress_bar
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike, cut

_BAR = 30
_DONE, _NOW = "done", "now"
_REASON = 48
"""Columns of why a part is missing; the log has all of it."""


def progress_lines(view: RunView, told: Sequence[LineLike], width: int, ascii_only: bool) -> list[LineLike]:
    """How far, and what is done now; `told` is what is said of its state."""
    if view.ended:
        return list(told)
    if view.info.detail or view.info.state == activity.WAITING or not view.stage:
        return [_bar_words(view, width, ascii_only), told[0]]
    return [_bar_words(view, width, ascii_only), (view.stage, "title")]


def part_lines(view: RunView, told: Sequence[LineLike], glyphs: Glyphs) -> list[LineLike]:
    """What the profile is made of, each with its state in a sign and a word; before there is any, what is said."""
    if not view.parts:
        return list(told[1:])
    lines: list[LineLike] = []
    for name, state in view.parts:
        if state == _DONE:
            lines.append(((f" {glyphs.ticked} ", ""), (name, "")))
        elif state == _NOW:
            count = f"  {view.done} of {view.of}" if view.of else ""
            lines.append(((f" {glyphs.running}   ", "accent"), (f"{name}{count}", "title")))
        elif state:
            lines.append(((f" {glyphs.failed}   ", "bad"), (name, ""), (f"  {cut(state, _REASON)}", "bad")))
        else:
            lines.append(((f" {glyphs.open_tick} ", "dim"), (name, "dim")))
    if view.warnings:
        lines += ["", (f" {view.warnings[-1]}", "warn")]
    return lines


def _bar_words(view: RunView, width: int, ascii_only: bool) -> str:
    """Parts that are done, with what is done of the present one."""
    total = len(view.parts) or view.info.cells
    if not total:
        return ""
    settled = sum(state not in ("", _NOW) for _, state in view.parts) if view.parts else view.info.cells_done
    share = view.done / view.of if view.of else 0.0
    words = [f"{settled}/{total}", f"{seconds(view.elapsed_s)} gone"]
    words += [f"~{seconds(view.eta_s)} left"] if view.eta_s is not None else []
    text = "  ".join(words)
    room = min(max(width - len(text) - 2, 0), _BAR)
    bar = progress_bar(min(settled + min(share, 1.0), total), total, room, ascii_only) if room > 4 else ""
    return f"{bar}  {text}".strip()

"""The lines of a run that makes a profile: progress and parts."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core import activity
from tuibench.core.units import seconds
from tuibench.core.watch import DONE, LOST, NOW, RunView
from tuibench.plots.bar import progress_bar
from tuibench.tui.glyph import Glyphs
from tuibench.tui.widgets.row import LineLike

_BAR = 30
_WORDS = {
    "costs": "costs by shapes", "roofline": "roofs of this machine", "zeros": "what zeros gain here",
    "layers": "layers, process", "what_if": "layers alone in INT8", "weights": "weights", "loss": "changed layers",
}  # fmt: skip


def progress_lines(view: RunView, told: Sequence[LineLike], width: int, ascii_only: bool) -> list[LineLike]:
    """Return progress bar and current step; `told` describes the run's state."""
    if view.ended:
        return list(told)
    bar, stage = _bar_words(view, width, ascii_only), view.making.activity if view.making is not None else ""
    if view.info.detail or view.info.state == activity.WAITING or not stage:
        return [bar, told[0]]
    return [bar, (stage, "title")]


def part_lines(view: RunView, told: Sequence[LineLike], glyphs: Glyphs) -> list[LineLike]:
    """Return the parts, each with its state; before there are any, the lines of `told`."""
    making = view.making
    if making is None or not view.spec:
        return list(told[1:])
    lines: list[LineLike] = []
    for part, state in making.parts:
        name = part_words(part)
        if state == DONE:
            lines.append(((f" {glyphs.ticked} ", ""), (name, "")))
        elif state == NOW:
            # Each process is a part of its own.
            count = f"  {making.done} of {making.of}" if making.of and making.stage != "layers" else ""
            lines.append(((f" {glyphs.running}   ", "accent"), (f"{name}{count}", "title")))
        elif state == LOST:
            lines.append(((f" {glyphs.failed}   ", "bad"), (name, ""), ("  failed: L says why", "bad")))
        else:
            lines.append(((f" {glyphs.open_tick} ", "dim"), (name, "dim")))
    if view.warnings:
        lines += ["", (f" {view.warnings[-1]}", "warn")]
    return lines


def part_words(part: str) -> str:
    """Return the display name of a part."""
    name, _, n = part.partition(" ")
    return f"{_WORDS.get(name, name)} {n}".rstrip()


def _bar_words(view: RunView, width: int, ascii_only: bool) -> str:
    """Return finished parts with a bar over time, or over parts if the remaining time is unknown."""
    making = view.making
    parts = making.parts if making is not None else ()
    total = len(parts) or view.info.cells
    if not total:
        return ""
    settled = sum(state in (DONE, LOST) for _, state in parts) if parts else view.info.cells_done
    share = making.done / making.of if making is not None and making.of and making.stage != "layers" else 0.0
    words = [f"{settled}/{total}", f"{seconds(view.elapsed_s)} gone"]
    words += [f"~{seconds(view.eta_s)} left"] if view.eta_s is not None else []
    text = "  ".join(words)
    room = min(max(width - len(text) - 2, 0), _BAR)
    done, of = min(settled + min(share, 1.0), total), float(total)
    if view.eta_s is not None and view.elapsed_s > 0:
        # Parts take from seconds to minutes, so time is the better scale.
        done, of = view.elapsed_s, view.elapsed_s + view.eta_s
    bar = progress_bar(done, of, room, ascii_only) if room > 4 else ""
    return f"{bar}  {text}".strip()

"""The table of cells, and what plain text of all tables needs: ages and ASCII replacements."""

from __future__ import annotations

from datetime import UTC, datetime

from tuibench.core.cell import CellResult, Estimate
from tuibench.core.result import RunResult
from tuibench.core.text import cut, cut_start, pad, show, width_of
from tuibench.core.units import count_of, ms, percent, short
from tuibench.present.label import axis_value, describe, failure_text, no_interval_notes, varying
from tuibench.present.reason import reason_words

WIDTH = 80
_RIGHT = ("cores", "batch", "streams")
_FIGURES = ("p50", "±%", "items/s", "±%", "grade", "outputs")
_SHRINKABLE = ("model", "dims", "engine", "precision")
_NARROWEST = 8


def table(run: RunResult, width: int = WIDTH) -> list[str]:
    """Return the table and, below it, the full reason of each cell that is not ok."""
    axes = varying(run) or ["scenario"]
    names = [[axis_value(run, cell, axis) for axis in axes] for cell in run.cells]
    figures = [_figures(cell) for cell in run.cells]
    room = [_widest([title, *column]) for title, column in zip(_FIGURES, _columns(figures), strict=True)]
    widths = _shrink(axes, [_widest([axis, *column]) for axis, column in zip(axes, _columns(names), strict=True)],
                     width - sum(room) - 2 * len(room))  # fmt: skip
    lines = [_row(axes, axes, widths) + _join(_FIGURES, room)]
    for cell, name, figure in zip(run.cells, names, figures, strict=True):
        left = _row(axes, name, widths)
        reason = failure_text(cell) if figure[0] == "-" else ""
        lines.append(left + (f"  {cut(reason, width - width_of(left) - 2)}" if reason else _join(figure, room)))
    return [line.rstrip() for line in lines] + _footnotes(run)


def _figures(cell: CellResult) -> list[str]:
    p50, rate = cell.latency_ms.get("p50", Estimate(None)), cell.items_per_sec
    return [
        "-" if p50.value is None else ms(p50.value),
        _half(p50),
        "-" if rate.value is None else short(rate.value),
        _half(rate),
        show(cell.grade.letter, 4) if cell.grade else "-",
        _mark(cell),
    ]


def _half(estimate: Estimate) -> str:
    half = estimate.half_width
    return "-" if half is None else percent(half).removesuffix(" %")


def _mark(cell: CellResult) -> str:
    state = cell.check.state if cell.check else "unchecked"
    word = {"agrees": "agree", "differs": "DIFFER"}.get(state, "-")
    return f"{word}, partial" if cell.status == "partial" else word


def _columns(rows: list[list[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _widest(texts: list[str]) -> int:
    return max(width_of(text) for text in texts)


def _shrink(axes: list[str], widths: list[int], room: int) -> list[int]:
    """Shorten the longest names first until the row fits, but keep names distinguishable."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > room:
        able = [i for i, axis in enumerate(axes) if axis in _SHRINKABLE and widths[i] > _NARROWEST]
        if not able:
            break
        widest = max(able, key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _row(axes: list[str], texts: list[str], widths: list[int]) -> str:
    texts = [cut_start(t, w) if a == "dims" else cut(t, w) for a, t, w in zip(axes, texts, widths, strict=True)]
    return "  ".join(pad(t, w, right=a in _RIGHT) for a, t, w in zip(axes, texts, widths, strict=True))


def _join(texts: list[str] | tuple[str, ...], widths: list[int]) -> str:
    last = len(texts) - 2
    return "".join(f"  {pad(t, w, right=i < last)}" for i, (t, w) in enumerate(zip(texts, widths, strict=True)))


def _footnotes(run: RunResult) -> list[str]:
    notes, axes = [], varying(run)
    for cell in run.cells:
        if cell.status != "ok":
            notes.append(f"{describe(run, cell, axes)}: {failure_text(cell)}")
        if cell.check is not None and cell.check.state == "differs":
            reason = show(cell.check.reason or f"by {short(cell.check.difference or 0.0, 2)} of their range", 300)
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


_ASCII = str.maketrans(
    {
        "µ": "u",
        "±": "+-",
        "·": "|",
        "×": "x",
        "…": "...",
        "–": "-",
        "—": "-",
        "→": "->",
        "✓": "ok",
        "✗": "x",
        "≤": "<=",
        "≥": ">=",
        "Δ": "d",
        "█": "#",
    }
)


def to_ascii(text: str) -> str:
    """Return `text` for terminals and logs limited to ASCII; characters without a replacement are escaped."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_MOST_DAYS = 100


def age(utc: str, now: float) -> str:
    """Return the time from `utc` to `now` (seconds since 1970): 12m, 3h, 5d, then the month; '-' for an invalid one."""
    moment = _parse(utc)
    if moment is None:
        return "-"
    seconds = now - moment.timestamp()
    # A clock that was set back, or another machine's, could give negative ages.
    if seconds < _MINUTE:
        return "now"
    for unit, length, most in (("m", _MINUTE, _HOUR), ("h", _HOUR, _DAY), ("d", _DAY, _MOST_DAYS * _DAY)):
        if seconds < most:
            return f"{int(seconds // length)}{unit}"
    return f"{moment.year:04d}-{moment.month:02d}"


def ago_words(utc: str, now: float) -> str:
    """Return the age in words: 3h ago, just now, or the month; '' for an invalid time."""
    ago = age(utc, now)
    return "just now" if ago == "now" else f"{ago} ago" if "-" not in ago else ago.strip("-")


def moment_words(utc: str, now: float) -> str:
    """Return date, time and age, for a page with enough space; '' for an invalid time."""
    moment = _parse(utc)
    if moment is None:
        return ""
    ago = age(utc, now)
    said = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    return said if "-" in ago else f"{said} (just now)" if ago == "now" else f"{said} ({ago} ago)"


def _parse(utc: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(utc)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None

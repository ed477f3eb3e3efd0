"""Texts below the fields of the benchmark form: cells and time, errors, other runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tuibench.core import activity
from tuibench.core.isa import isa_words
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.report.command import quote
from tuibench.tui.desk import FormCheck, FormStart, FormValues, Machine, Pulse

_INDENT = " " * 10
LONGEST = 2000
"""Longest command shown, in characters; a longer one is copied as a whole."""


def amount_words(check: FormCheck | None, values: FormValues, times: str, dot: str) -> str:
    """Return cells, time and memory; `times` and `dot` are the separators."""
    if check is None:
        return "looking at it"
    scenarios = len([each for each in values.scenarios.split(",") if each])
    cells = count_of(check.cells, "cell")
    if scenarios > 1 and check.cells and check.cells % scenarios == 0:
        cells = f"{count_of(check.cells // scenarios, 'cell')} {times} {scenarios} scenarios = {check.cells}"
    parts = [cells]
    if check.expected_s:
        at_most = f", at most {seconds(check.limit_s)}" if check.limit_s else ""
        parts.append(f"~{seconds(check.expected_s)}{at_most}")
    if check.memory_bytes is not None:
        parts.append(f"memory ~{size(check.memory_bytes)}")
    return f" {dot} ".join(parts)


def wrong_words(labels: Sequence[str]) -> str:
    """Return the fields whose errors prevent the start."""
    return f"cannot start: {count_of(len(labels), 'field')} to mend: {', '.join(show(label, 30) for label in labels)}"


def warning_lines(start: FormStart, check: FormCheck | None) -> list[str]:
    """Return warnings that do not prevent the start, the worst first."""
    lines = [start.error] if start.error else []
    if start.changed:
        lines.append("the model changed since it was measured: RUN asks what to do")
    return [*lines, *(check.warnings if check is not None else ())]


def origin_words(
    start: FormStart, machine: Machine | None, check: FormCheck | None, pulse: Pulse | None, dot: str
) -> str:
    """Return the active benchmark, the origin of the values, and the instruction sets of `machine` if given."""
    busy = busy_words(pulse) or (_behind(check.busy) if check is not None and check.busy else "")
    load = check.load if check is not None else ""
    parts = [busy or (f"host {load} now" if load else "no benchmark measures now")]
    parts += [f"filled with {start.origin}"] if start.origin else []
    parts += [isa_words(machine.isa)] if machine is not None and machine.isa else []
    return f" {dot} ".join(parts)


def busy_words(pulse: Pulse | None) -> str:
    """Return the runs that measure before this one; '' for none."""
    runs = [row.info for row in pulse.runs] if pulse is not None else []
    waiting = sum(info.state == activity.WAITING for info in runs)
    running = next((info for info in runs if info.state == activity.RUNNING), None)
    holder = next((info.holder for info in runs if info.holder is not None), None)
    if running is not None:
        said = f"{short_id(running.id)} measures now{_left(running.eta_s)}"
    elif holder is not None:
        said = f"{holder.user} measures now{_left(holder.eta_s)}"
    else:
        return ""
    return _behind(f"{said}, {waiting} more before this one" if waiting else said)


def _left(eta_s: float | None) -> str:
    return "" if eta_s is None else f", ~{seconds(eta_s)} left"


def _behind(said: str) -> str:
    return f"{said}: this one will wait"


def command_lines(command: str, width: int, most: int) -> list[str]:
    """Break a command between words with backslashes, into at most `most` lines."""
    try:
        words = [quote(word) for word in shlex.split(command)]
    except ValueError:
        words = [command]
    lines: list[str] = []
    line = "same as "
    for word in (show(word, LONGEST) for word in words):
        if len(lines) < most - 1 and len(line) + len(word) + 3 > width and line.strip() not in ("", "same as"):
            lines.append(f"{line} \\")
            line = _INDENT
        line = f"{line} {word}"
    return [*lines, line]

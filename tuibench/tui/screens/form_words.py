"""What the benchmark form says below its fields: what it amounts to, what is wrong, what else goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tuibench.core import activity
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.tui.desk import FormCheck, FormStart, FormValues, Machine, Pulse

LONGEST = 2000
"""Of a command: whatever is longer is copied whole and shown in part."""


def amount_words(check: FormCheck | None, values: FormValues, times: str) -> str:
    """How many cells, how long, how much memory; `times` is the sign between two numbers."""
    if check is None:
        return "looking at it"
    scenarios = len([each for each in values.scenarios.split(",") if each])
    cells = count_of(check.cells, "cell")
    if scenarios > 1 and check.cells and check.cells % scenarios == 0:
        cells = f"{count_of(check.cells // scenarios, 'cell')} {times} {scenarios} scenarios = {check.cells}"
    parts = [cells]
    if check.expected_s:
        at_most = f", at most {seconds(check.limit_s)}" if check.limit_s else ""
        parts.append(f"about {seconds(check.expected_s)}{at_most}")
    if check.memory_bytes is not None:
        parts.append(f"memory about {size(check.memory_bytes)}")
    return "   ".join(parts)


def wrong_words(labels: Sequence[str]) -> str:
    """Which fields keep it from starting."""
    return f"cannot start: {count_of(len(labels), 'field')} to mend: {', '.join(show(label, 30) for label in labels)}"


def warning_lines(
    start: FormStart | None, check: FormCheck | None, errors: Mapping[str, str], focused: tuple[str, str]
) -> list[str]:
    """What is said first: the whole error of the field with the focus, then what is wrong with the model, then doubts.

    `focused` is the name of that field and what it is called.
    """
    name, label = focused
    lines = [f"{label}: {errors[name]}"] if name in errors else []
    if start is not None and start.error and "model" not in errors:
        lines.append(start.error)
    return [*lines, *(check.warnings if check is not None and not errors else ())]


def origin_words(start: FormStart | None, machine: Machine | None, pulse: Pulse | None, dot: str) -> str:
    """Who measures on this machine now, what it can do, and where the values come from."""
    parts = [busy_words(pulse) or "no benchmark measures now"]
    if start is not None and start.origin:
        parts.append(start.origin)
    if machine is not None and machine.isa:
        parts.append(" ".join(machine.isa))
    return f" {dot} ".join(parts)


def busy_words(pulse: Pulse | None) -> str:
    """Who is measured before this one; '' where nobody is."""
    runs = [row.info for row in pulse.runs] if pulse is not None else []
    waiting = sum(info.state == activity.WAITING for info in runs)
    holders = [info.holder for info in runs if info.holder is not None]
    running = next((info for info in runs if info.state == activity.RUNNING), None)
    if running is not None:
        who, eta_s = short_id(running.id), running.eta_s
    elif holders:
        who, eta_s = f"{holders[0].user}'s benchmark", holders[0].eta_s
    else:
        return ""
    left = f", about {seconds(eta_s)} left" if eta_s is not None else ""
    behind = f", {waiting} before this one" if waiting else ""
    return f"{who} measures now{left}{behind}: this one will wait for it"


def command_lines(command: str, width: int, most: int) -> list[str]:
    """A command broken at its blanks as a shell takes it, in at most that many lines."""
    lines: list[str] = []
    rest = "same as  " + show(command, LONGEST)
    indent = " " * 9
    while len(rest) > width and len(lines) < most - 1 and width > len(indent) + 4:
        at = rest.rfind(" ", len(indent) + 1, width - 2)
        if at < 0:
            break
        lines.append(rest[:at] + " \\")
        rest = indent + "  " + rest[at + 1 :]
    return [*lines, rest]

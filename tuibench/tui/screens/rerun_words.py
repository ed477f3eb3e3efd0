"""The question before a re-run: its size, and runs that are measured before it."""

from __future__ import annotations

from tuibench.core import activity
from tuibench.core.short_id import short_id
from tuibench.core.units import count_of, seconds
from tuibench.tui.desk import Pulse, RerunPlan


def rerun_question(plan: RerunPlan, pulse: Pulse | None) -> str:
    """Return cells, time, and the runs to wait for, or else the load of the machine."""
    about = f"{count_of(plan.cells, 'cell') if plan.cells else 'a profile'}, ~{seconds(plan.expected_s)}"
    behind = _behind(pulse) or plan.busy
    host = f"after {behind}" if behind else f"host {plan.load or 'free'}"
    return f"Re-run {short_id(plan.id)}: {about}, {host}?"


def _behind(pulse: Pulse | None) -> str:
    """Return the current run and the number of waiting runs, as far as this session knows; '' if none."""
    runs = [row.info for row in pulse.runs] if pulse is not None else []
    waiting = sum(info.state == activity.WAITING for info in runs)
    running = next((info for info in runs if info.state == activity.RUNNING), None)
    holder = next((info.holder for info in runs if info.holder is not None), None)
    if running is not None:
        said, left = short_id(running.id), running.eta_s
    elif holder is not None:
        said, left = short_id(holder.run) if holder.run else f"one of {holder.user}", holder.eta_s
    else:
        return ""
    said += f" (~{seconds(max(left, 0.0))})" if left is not None else ""
    return f"{said} + {waiting} more" if waiting else said

"""Start time and stopped state of other processes; pid and start time together identify a process."""

from __future__ import annotations

from pathlib import Path


def start_ticks(pid: int, root: Path = Path("/")) -> int | None:
    """Return the ticks from boot to the start of a process; None if there is no such process."""
    fields = _read(pid, root)
    return int(fields[19]) if fields else None


def is_stopped(pid: int, root: Path = Path("/")) -> bool:
    """Return whether a process is stopped, by Ctrl-Z or a debugger."""
    return _read(pid, root)[:1] in (["T"], ["t"])


def _read(pid: int, root: Path) -> list[str]:
    """Return the fields after the process name, which is in parentheses and may itself contain parentheses."""
    try:
        text = (root / "proc" / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()

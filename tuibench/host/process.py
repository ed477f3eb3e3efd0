"""When a process began: with its number it names one process for good, which the number alone does not."""

from __future__ import annotations

from pathlib import Path


def start_ticks(pid: int, root: Path = Path("/")) -> int | None:
    """Ticks from the boot to the start of a process; None where there is no such process."""
    try:
        text = (root / "proc" / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # Its name stands in parentheses and may hold anything, more of them included.
    return int(text.rpartition(")")[2].split()[19])

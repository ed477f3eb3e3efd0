"""Other processes: when one began, which with its number names it for good, and whether it is stopped."""

from __future__ import annotations

from pathlib import Path


def start_ticks(pid: int, root: Path = Path("/")) -> int | None:
    """Ticks from the boot to the start of a process; None where there is no such process."""
    fields = _read(pid, root)
    return int(fields[19]) if fields else None


def is_stopped(pid: int, root: Path = Path("/")) -> bool:
    """Whether a process is stopped, as by Ctrl-Z or a debugger."""
    return _read(pid, root)[:1] in (["T"], ["t"])


def _read(pid: int, root: Path) -> list[str]:
    """The fields of its stat behind its name, which stands in parentheses and may hold more of them."""
    try:
        text = (root / "proc" / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()

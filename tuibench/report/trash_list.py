"""The removals in the trash that can be restored, newest first."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tuibench.core.record import to_plain
from tuibench.core.short_id import short_ids
from tuibench.core.text import show
from tuibench.core.trash import TrashEntry
from tuibench.core.units import count_of, size
from tuibench.report.age import age
from tuibench.report.column import Column, lay_out
from tuibench.report.style import to_ascii

WIDTH = 80
SCHEMA = 1
_COLUMNS = (
    Column("id"),
    Column("removed", right=True),
    Column("kind"),
    Column("size", right=True),
    Column("held", least=16),
)
_LONGEST = 400
_SHOWN = 5


def trash_list(
    entries: Sequence[TrashEntry], now: float, *, width: int | None = WIDTH, ascii_only: bool = False
) -> str:
    """Return a line per removal and their total; '' for an empty trash."""
    if not entries:
        return ""
    names = short_ids(entry.id for entry in entries)
    lines = lay_out(_COLUMNS, [_cells(entry, names[entry.id], now) for entry in entries], width)
    held = sum(entry.size_bytes for entry in entries)
    lines.append(f"{count_of(len(entries), 'removal')}, {size(held)}; the newest comes back with: tuibench undo")
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


def trash_json(entries: Sequence[TrashEntry]) -> str:
    """Return the trash as JSON."""
    return json.dumps({"schema": SCHEMA, "trash": [to_plain(entry) for entry in entries]}, indent=1) + "\n"


def held_words(entry: TrashEntry) -> str:
    """Return the names in a removal, shortened to one line."""
    return listed_words(entry.names) or count_of(len(entry.benchmarks), "benchmark")


def listed_words(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(show(name, 80) for name in names[:_SHOWN]) + more


def _cells(entry: TrashEntry, name: str, now: float) -> tuple[str, ...]:
    held = show(", ".join(entry.names), _LONGEST) or count_of(len(entry.benchmarks), "benchmark")
    return name, age(entry.removed_utc, now), show(entry.kind, 20), size(entry.size_bytes), held

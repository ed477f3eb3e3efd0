"""Results of actions in words: removals, restores, control requests, exports."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.core.activity import ALIVE, ELSEWHERE, RunInfo
from tuibench.core.ids import short_id
from tuibench.core.stored import ProjectRow, Removal, TrashEntry, held_words
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.present.listing import held_words as entry_words
from tuibench.present.listing import listed_words
from tuibench.present.reason import finishing_words
from tuibench.present.run_list import cancel_words


def removal_words(removal: Removal) -> str:
    """Return the result of removing benchmarks and runs."""
    unsaved = removal.unsaved
    said = [cancel_words(run) if run in unsaved else f"cancelled {short_id(run.id)}" for run in removal.cancelled]
    said += [f"removed {short_id(run.id)} for good" for run in removal.discarded]
    said += [f"removed {entry_words(removal.entry)}"] if removal.entry is not None else []
    return "; ".join(said) or "there was nothing to remove"


def project_removal_words(entry: TrashEntry, rows: Iterable[ProjectRow]) -> str:
    """Return the result of removing projects, which were listed as `rows`."""
    return f"removed {listed_words(entry.names[: len(entry.projects)])} with {held_words(rows)}"


def restored_words(entry: TrashEntry) -> str:
    """Return the result of restoring a removal."""
    return f"restored {entry_words(entry)}"


def emptied_words(count: int, freed: int) -> str:
    """Return the result of emptying the trash."""
    return f"deleted {count_of(count, 'removal')}, {size(freed)}" if count else "nothing of it was there any more"


def finish_words(info: RunInfo) -> str:
    """Return the result of a request to finish."""
    if info.state not in (*ALIVE, ELSEWHERE):
        return f"{short_id(info.id)} has ended meanwhile: it is {info.state}"
    return f"{short_id(info.id)}: {finishing_words(bool(info.kind))}"


def extend_words(info: RunInfo) -> str:
    """Return the result of a request for more time."""
    return f"{short_id(info.id)}: every cell that is not there yet gets its time once more"


def export_words(what: str, path: str, *, private: bool) -> str:
    """Return the result of writing a file."""
    return f"wrote {what} to {show(path)}" + ("" if private else " without private paths")

"""Results of actions in words: removals, restores, control requests, exports."""

from __future__ import annotations

from collections.abc import Iterable

from tuibench.core.activity import ALIVE, ELSEWHERE, UNSAVED, RunInfo
from tuibench.core.ids import short_id
from tuibench.core.stored import ProjectRow, Removal, TrashEntry, held_words
from tuibench.core.text import show
from tuibench.core.units import count_of, seconds, size
from tuibench.present.listing import held_words as entry_words
from tuibench.present.listing import listed_words
from tuibench.present.reason import finishing_words, reason_words


def removal_lines(removal: Removal) -> list[str]:
    """Return the result of removing benchmarks and runs: a line for each run and one for the results in the trash."""
    unsaved = removal.unsaved
    said = [cancel_words(run) if run in unsaved else f"cancelled {short_id(run.id)}" for run in removal.cancelled]
    said += [f"deleted {short_id(run.id)} permanently: {executions_words([run])}" for run in removal.discarded]
    if removal.entry is not None:
        return [*said, f"removed {entry_words(removal.entry)}"]
    return said if removal.discarded or unsaved else [*said, "there was nothing to remove"]


def removal_words(removal: Removal) -> str:
    """Return the result of removing benchmarks and runs in one line."""
    return "; ".join(removal_lines(removal))


def executions_words(runs: Iterable[RunInfo]) -> str:
    """Return the number of executions of some runs."""
    return count_of(sum(run.executions for run in runs), "execution")


def project_removal_words(entry: TrashEntry, rows: Iterable[ProjectRow]) -> str:
    """Return the result of removing projects, which were listed as `rows`."""
    return f"removed {listed_words(entry.names[: len(entry.projects)])} with {held_words(rows)}"


def restored_words(entry: TrashEntry) -> str:
    """Return the result of restoring a removal."""
    return f"restored {entry_words(entry)}"


def emptied_words(count: int, freed: int) -> str:
    """Return the result of emptying the trash."""
    return f"deleted {count_of(count, 'removal')}, {size(freed)}" if count else "nothing of it was there any more"


def finish_words(info: RunInfo, *, counted: bool = False) -> str:
    """Return the result of a request to finish; `counted` adds the number of finished executions."""
    so_far = count_of(info.executions, "measurement" if info.kind else "execution")
    return _requested(info, finishing_words(bool(info.kind)) + f"; {so_far} so far" * counted)


def extend_words(info: RunInfo, by_s: float | None = None) -> str:
    """Return the result of a request for more time; None repeats the time that each cell had."""
    amount = "its time once more" if by_s is None else f"{seconds(by_s)} more"
    return _requested(info, f"each cell below its target gets {amount}")


def _requested(info: RunInfo, words: str) -> str:
    """Return the result of a request to a run, by the state that it has now."""
    if info.state == ELSEWHERE:
        words = f"{reason_words(info.detail)}; its runner there will see the request within seconds"
    elif info.state not in ALIVE:
        return f"{short_id(info.id)} has ended meanwhile: it is {info.state}"
    return f"{short_id(info.id)}: {words}"


def export_words(what: str, path: str, *, private: bool) -> str:
    """Return the result of writing a file."""
    return f"wrote {what} to {show(path)}" + ("" if private else " without private paths")


def cancel_words(run: RunInfo) -> str:
    """Return the result of cancelling a run."""
    short = short_id(run.id)
    if run.state == ELSEWHERE:
        return _requested(run, "")
    if run.state == UNSAVED:
        return f"{short}: ended, not saved: {reason_words(run.detail)}; tuibench resume {short} tries again"
    measured = count_of(run.executions, "part" if run.kind else "execution")
    kept = f"{measured} saved" if run.executions else "nothing was measured"
    return f"{short}: {run.state}, {kept}"

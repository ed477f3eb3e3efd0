"""Records that a list holds for damaged, looked at again when their files change: somebody may have put one back.

Where no record is damaged this costs nothing, where one is a stat, and a read only when the file is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tuibench.core.card import DAMAGED, BenchmarkRow
from tuibench.core.errors import StoreError
from tuibench.store.files import Files
from tuibench.store.layout import HostLayout
from tuibench.store.record_file import RecordFiles
from tuibench.store.sealed import Sealing

Rows = tuple[BenchmarkRow, ...]
_Stamp = tuple[int, int, int] | None
"""Inode, size and time of a file; None where there is none, or where the disk does not tell."""


class SecondLook:
    """What has become of the damaged records of the lists that were read last."""

    def __init__(self, sealing: Sealing) -> None:
        self._files = sealing.files
        # What is wrong with them was said when they were listed so.
        self._records = RecordFiles(Sealing(sealing.files, lambda _: None, sealing.tool))
        self._suspects: tuple[tuple[HostLayout, str], ...] = ()
        self._seen: dict[str, tuple[_Stamp, BenchmarkRow | None]] = {}
        """By path: what the file was at the last look, and its row where it is whole."""

    def suspect(self, parts: Iterable[tuple[HostLayout, Iterable[BenchmarkRow]]]) -> None:
        """Take the lists of all hosts as they are now."""
        self._suspects = tuple((layout, row.id) for layout, rows in parts for row in rows if row.status == DAMAGED)

    def stamps(self) -> tuple[_Stamp, ...]:
        """Others than before whenever one of the files may be another one."""
        return tuple(_stamp(self._files, layout.record(one)) for layout, one in self._suspects)

    def mend(self, lists: Sequence[Rows]) -> Sequence[Rows]:
        """The lists with the rows of those that are whole by now."""
        found = ((one, self._look(layout.record(one))) for layout, one in self._suspects)
        whole = {one: row for one, row in found if row is not None}
        return [tuple(whole.get(row.id, row) for row in rows) for rows in lists] if whole else lists

    def mended_on(self, layout: HostLayout) -> list[BenchmarkRow]:
        """Those of one host, as their files are this very moment: for a writer who lists them."""
        return [row for host, one in self._suspects if host == layout and (row := self._look(host.record(one)))]

    def _look(self, path: str) -> BenchmarkRow | None:
        stamp = _stamp(self._files, path)
        known = self._seen.get(path)
        if known is None or known[0] != stamp:
            known = self._seen[path] = stamp, self._read(path)
        return known[1]

    def _read(self, path: str) -> BenchmarkRow | None:
        try:
            return self._records.read_row(path)
        except (StoreError, FileNotFoundError):
            return None


def _stamp(files: Files, path: str) -> _Stamp:
    try:
        found = files.stat(path)
    except StoreError:
        return None
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)

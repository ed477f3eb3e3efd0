"""Which record may have changed without its row: an empty file says so from before the one until after the other.

It is never synced: it is for writers that were killed or refused in between, and the next writer looks for it.
"""

from __future__ import annotations

import os

from tuibench.core.errors import StoreDamaged, StoreNewer
from tuibench.store.files import Files
from tuibench.store.index import Index
from tuibench.store.layout import HostLayout, is_ulid
from tuibench.store.record_file import RecordFiles

_SUFFIX = ".doubt"


def mark_doubt(files: Files, layout: HostLayout, ulid: str) -> None:
    """Say that this benchmark's record is about to change; wants the host's lock held, as all of these do."""
    files.touch(_path(layout, ulid))


def clear_doubt(files: Files, layout: HostLayout, ulid: str) -> None:
    """Say that record and row are as one."""
    files.remove(_path(layout, ulid))


def find_doubts(files: Files, layout: HostLayout) -> list[str]:
    """The ids of benchmarks whose writer did not come to its end."""
    names = [name.removesuffix(_SUFFIX) for name in files.names(layout.directory) if name.endswith(_SUFFIX)]
    return [name for name in names if is_ulid(name)]


def settle_doubts(files: Files, layout: HostLayout, index: Index, records: RecordFiles) -> None:
    """List what the records in doubt say now; one that cannot be read is left to a check."""
    doubted = find_doubts(files, layout)
    if not doubted:
        return
    listed = {row.id: row for row in index.rows()[1]}
    found = []
    for ulid in doubted:
        try:
            row = records.read_row(layout.record(ulid))
        except (StoreDamaged, StoreNewer, FileNotFoundError):
            continue
        found += [row] if listed.get(ulid) != row else []
    if found:
        index.put(found)
    for ulid in doubted:
        clear_doubt(files, layout, ulid)


def _path(layout: HostLayout, ulid: str) -> str:
    return os.path.join(layout.directory, ulid + _SUFFIX)

"""Dirty markers: an empty file that exists while a benchmark's record and its index row may differ.

Markers are never synced: they cover writers that were killed or failed in between. The next writer looks for them.
"""

from __future__ import annotations

import os

from tuibench.core.errors import StoreDamaged, StoreNewer
from tuibench.store.files import Files
from tuibench.store.index import Index
from tuibench.store.layout import HostLayout, is_ulid
from tuibench.store.record_file import RecordFiles

_SUFFIX = ".doubt"


def mark_dirty(files: Files, layout: HostLayout, ulid: str) -> None:
    """Mark a benchmark's record as about to change. All functions here need the host's lock."""
    files.touch(_path(layout, ulid))


def clear_dirty(files: Files, layout: HostLayout, ulid: str) -> None:
    """Clear the mark: record and row agree."""
    files.remove(_path(layout, ulid))


def find_dirty(files: Files, layout: HostLayout) -> list[str]:
    """Return the ids of benchmarks whose writer did not finish."""
    names = [name.removesuffix(_SUFFIX) for name in files.names(layout.directory) if name.endswith(_SUFFIX)]
    return [name for name in names if is_ulid(name)]


def update_dirty_rows(files: Files, layout: HostLayout, index: Index, records: RecordFiles) -> None:
    """Update the index rows of marked records; leave unreadable records to a check."""
    dirty = find_dirty(files, layout)
    if not dirty:
        return
    listed = {row.id: row for row in index.rows()[1]}
    found = []
    for ulid in dirty:
        try:
            row = records.read_row(layout.record(ulid))
        except (StoreDamaged, StoreNewer, FileNotFoundError):
            continue
        found += [row] if listed.get(ulid) != row else []
    if found:
        index.put(found)
    for ulid in dirty:
        clear_dirty(files, layout, ulid)


def _path(layout: HostLayout, ulid: str) -> str:
    return os.path.join(layout.directory, ulid + _SUFFIX)

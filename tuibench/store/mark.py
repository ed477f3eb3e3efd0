"""Change detection for polling every second: a few stats, no file is read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tuibench.store.context import Context
from tuibench.store.layout import PROJECTS, VERSIONS

_YOUNG_NS = 100_000_000
"""Two changes within one tick of the file system's clock share a time; a younger file may change again unseen."""


def read_mark(context: Context) -> str:
    """Return a text that differs whenever benchmarks, projects or the trash may have changed.

    Every change of the store renames a file into one of these directories, which updates its time.
    """
    now_ns = int(context.waiting.clock() * 1e9)
    found = []
    for path in _places(context):
        status = context.files.stat(path)
        if status is None:
            found.append("-")
            continue
        young = abs(now_ns - status.st_mtime_ns) < _YOUNG_NS
        found.append(f"{status.st_mtime_ns:x}.{status.st_ino:x}" + (f"+{now_ns:x}" if young else ""))
    return " ".join(found)


def _places(context: Context) -> Iterator[str]:
    root = context.files.root
    yield from (os.path.join(root, PROJECTS), os.path.join(root, VERSIONS), context.hosts_directory)
    for layout in context.hosts():
        yield layout.index
        yield layout.trash

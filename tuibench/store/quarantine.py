"""Quarantine: damaged files are moved out of the way, never deleted."""

from __future__ import annotations

import os

from tuibench.store.context import Context
from tuibench.store.layout import QUARANTINE
from tuibench.store.moving import move_tree, sync_names


def put_aside(context: Context, path: str) -> str:
    """Move a file or directory into its quarantine; return the new path relative to the store."""
    files = context.files
    directory = os.path.join(context.sealing.part(path), QUARANTINE)
    files.make_directory(directory)
    mark = context.now_utc().replace(":", "").replace("-", "")
    target = os.path.join(directory, f"{os.path.basename(path)}.{mark}")
    number = 0
    while files.kind(target):
        number += 1
        target = os.path.join(directory, f"{os.path.basename(path)}.{mark}-{number}")
    move_tree(files, path, target)
    sync_names(files, [directory], [os.path.dirname(path)])
    return files.name(target)

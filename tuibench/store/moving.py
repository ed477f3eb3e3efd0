"""Moves files and directories within the store; repeating a move after a crash completes it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from tuibench.store.files import Files


def move_file(files: Files, source: str, target: str) -> None:
    """Rename a file, or copy it if the target is on another disk."""
    before, after = files.stat(source), files.stat(target)
    if before is not None and after is not None and before.st_ino == after.st_ino:
        # Renaming one hard link of a file over another would leave both.
        files.remove(source)
        return
    with files.telling(source):
        try:
            files.disk.replace(source, target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    files.copy(source, target)
    files.remove(source)


def move_tree(files: Files, source: str, target: str) -> None:
    """Move a file or a directory of files; skip what has already moved."""
    kind = files.kind(source)
    if kind == "directory":
        _move_directory(files, source, target)
    elif kind:
        move_file(files, source, target)


def _move_directory(files: Files, source: str, target: str) -> None:
    if not files.kind(target):
        with files.telling(source):
            try:
                files.disk.replace(source, target)
                return
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
    files.make_directory(target)
    for name in files.names(source):
        move_file(files, os.path.join(source, name), os.path.join(target, name))
    files.sync_directory(target)
    files.remove_tree(source)


def sync_names(files: Files, targets: Iterable[str], sources: Iterable[str]) -> None:
    """Make moves durable: sync the targets first, then the sources."""
    for path in dict.fromkeys([*targets, *sources]):
        if files.kind(path) == "directory":
            files.sync_directory(path)


def measure(files: Files, path: str) -> int:
    """Return the bytes of a file, or of all files below a directory."""
    if files.kind(path) == "directory":
        return sum(measure(files, os.path.join(path, name)) for name in files.names(path))
    found = files.stat(path)
    return found.st_size if found is not None else 0

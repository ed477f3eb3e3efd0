"""Tests if the store is writable without leaving anything behind."""

from __future__ import annotations

import errno
import os

from tuibench.core.errors import StoreError
from tuibench.core.units import size
from tuibench.store.disk import CREATE, NAMELESS
from tuibench.store.files import Files
from tuibench.store.trouble import explain

ROOM_BYTES = 32 << 20
"""The size of a large sweep with all its samples."""
_TRY = bytes(1 << 16)
_NO_NAMELESS = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})


def probe_store(files: Files) -> str:
    """Return '' if a result could be saved, else the reason."""
    directory = files.root
    while not files.is_directory(directory):
        above = os.path.dirname(directory)
        if _is_something(files, directory):
            return f"{directory} is not a directory that can be entered"
        if above == directory:
            return f"nothing of {files.root} is there"
        directory = above
    try:
        _write_something(files, directory)
        room = files.disk.room(directory)
    except OSError as error:
        told = explain(error, directory, files.root)
        return told.message.replace(" of the store:", ":", 1)
    except StoreError as error:
        return error.message
    if room < ROOM_BYTES:
        return f"only {size(room)} left where the store lies, of {size(ROOM_BYTES)} that a sweep may take"
    return ""


def _is_something(files: Files, path: str) -> bool:
    try:
        return bool(files.kind(path))
    except StoreError:
        # A path below a file fails here; the loop reaches the file itself further up.
        return False


def _write_something(files: Files, directory: str) -> None:
    named = ""
    try:
        fd = files.disk.open(directory, NAMELESS, 0o600)
    except OSError as error:
        if error.errno not in _NO_NAMELESS:
            raise
        # File systems without nameless files need a temporary name.
        named = files.temp(os.path.join(directory, "probe"))
        fd = files.disk.open(named, CREATE, 0o600)
    try:
        left = memoryview(_TRY)
        while left:
            left = left[files.disk.write(fd, left) :]
    finally:
        files.disk.close(fd)
        if named:
            files.remove(named)

"""What the operating system refuses, in words for people, with what mends it."""

from __future__ import annotations

import errno

from tuibench.core.errors import StoreError, StoreReadOnly
from tuibench.core.text import show

_NOT_OURS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_IN_THE_WAY = frozenset({errno.ELOOP, errno.EISDIR, errno.ENOTDIR, errno.EEXIST})


def explain(error: OSError, name: str) -> StoreError:
    """The error to raise for what went wrong at the file `name` of the store."""
    why = error.strerror or type(error).__name__
    if error.errno in _NOT_OURS:
        return StoreReadOnly(f"{name} of the store: {why}", "What is in the store can still be read and exported.")
    if error.errno in _FULL:
        return StoreError(
            f"{name} of the store: {why}", "Make room on that disk, or empty the trash with `tuibench trash empty`."
        )
    if error.errno in _IN_THE_WAY:
        return in_the_way(name, f"something that is not ours is there: {why}")
    return StoreError(f"{name} of the store: {why}", "`tuibench store check` says whether anything is damaged.")


def in_the_way(name: str, what: str) -> StoreError:
    """For a link, pipe or directory planted where a file of the store belongs: it is neither followed nor replaced."""
    return StoreError(f"{name} of the store: {what}", "Look at what it is and move it away.")


def refuse_newer(name: str, schema: int, tool: str) -> StoreReadOnly:
    """The refusal to write a file whose form this version does not know."""
    by = f"tuibench {show(tool, 30)}" if tool else "a newer tuibench"
    return StoreReadOnly(
        f"{name} of the store was written by {by} (schema {schema}), which this version can only read",
        "Use that version, or a newer one, to change it.",
    )

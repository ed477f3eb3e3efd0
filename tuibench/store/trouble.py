"""Error messages for system errors, with hints to mend them."""

from __future__ import annotations

import errno
import os

from tuibench.core.errors import StoreDamaged, StoreError, StoreNewer, StoreReadOnly, TooManyFiles
from tuibench.core.text import show

_NOT_OURS = frozenset({errno.EACCES, errno.EPERM})
_NO_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ENOENT})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_IN_THE_WAY = frozenset({errno.ELOOP, errno.EISDIR, errno.ENOTDIR, errno.EEXIST})


_OF_THE_STORE = " of the store"
_DAMAGED = " is damaged: "
_READABLE = "What is in the store can still be read and exported."


def damaged(name: str, why: str, hint: str = "") -> StoreDamaged:
    """Return the error for a file that differs from what was written."""
    aside = "`tuibench store check --read-data --repair` puts it aside; nothing else is touched by it."
    return StoreDamaged(f"{name}{_OF_THE_STORE}{_DAMAGED}{why}", hint or aside)


def drop_name(message: str, name: str) -> str:
    """Return a message without the leading file name."""
    return message.removeprefix(name).removeprefix(_OF_THE_STORE).removeprefix(_DAMAGED).removeprefix(": ").lstrip()


def explain(error: OSError, name: str, root: str) -> StoreError:
    """Return the error for a system error at the file `name` of the store in `root`.

    Errors that affect all files name the store. The reason comes first, as lines are cut at their end.
    """
    why = error.strerror or "the system does not say why"
    if error.errno == errno.EROFS:
        return StoreReadOnly(f"the store is read-only: {root}", _READABLE)
    if error.errno in _FULL:
        full = "the disk of the store is full" if error.errno == errno.ENOSPC else "the quota of the store is used up"
        return StoreError(f"{full}: {root}", "Make room on that disk, or empty the trash with `tuibench trash empty`.")
    above = os.path.isabs(name) and error.errno in _NO_PLACE
    if above or (name == os.curdir and error.errno == errno.ENOENT):
        # A missing place does not explain why it cannot be made.
        more = "" if error.errno == errno.ENOENT else f": {why}"
        return StoreReadOnly(f"no store can be made in {root}{more}", "TUIBENCH_HOME=DIR keeps it elsewhere.")
    if error.errno in _NOT_OURS:
        path = os.path.join(root, name)
        hint = _READABLE if _is_readable(path) else f"This user may not read it: `ls -ld {show(path, 200)}` shows why."
        return StoreReadOnly(f"{_call(name)}: {why}", hint)
    if error.errno == errno.EMFILE:
        limit = TooManyFiles()
        return StoreError(limit.message, limit.hint)
    if error.errno in _IN_THE_WAY:
        return in_the_way(name, f"something that is not ours is there: {why}")
    return StoreError(f"{_call(name)}: {why}", "`tuibench store check` says whether anything is damaged.")


def _is_readable(path: str) -> bool:
    """Return whether this user may read the path, or its nearest existing parent."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK)


def in_the_way(name: str, what: str) -> StoreError:
    """Return the error for a foreign link, pipe or directory at a store path; it is neither followed nor replaced."""
    return StoreError(f"{_call(name)}: {what}", "Look at what it is and move it away.")


def refuse_newer(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for writing a file with an unknown newer schema."""
    return StoreNewer(
        f"{name} of the store was written by {_name_tool(tool)} (schema {schema}), which this version can only read",
        "Use that version, or a newer one, to change it.",
    )


def cannot_show(name: str, schema: int, tool: str) -> StoreNewer:
    """Return the error for a newer version's file without readable content."""
    return StoreNewer(
        f"{name} of the store was written by {_name_tool(tool)} (schema {schema}): this version cannot show it",
        "Use that version, or a newer one. Nothing is wrong with the file.",
    )


def _call(name: str) -> str:
    if os.path.isabs(name):
        return name
    return f"the directory{_OF_THE_STORE}" if name == os.curdir else name + _OF_THE_STORE


def _name_tool(tool: str) -> str:
    return f"tuibench {show(tool, 30)}" if tool else "a newer tuibench"

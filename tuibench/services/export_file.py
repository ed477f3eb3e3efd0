"""Writes an export to a file, atomically, and checks before measuring that this will work."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable

from tuibench.core.errors import UsageError, WriteError
from tuibench.core.formats import format_of
from tuibench.core.model import ModelSummary

STDOUT = "-"


def spare(target: str, files: Iterable[str]) -> None:
    """Raise UsageError if the export would overwrite a file that was measured."""
    for path in files:
        if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
            raise UsageError("export_overwrites", target=target, path=path)


def files_beside(model: ModelSummary) -> list[str]:
    """Return the existing files with the weights of a model that are stored outside of it."""
    folder = os.path.dirname(model.path)
    paths = [os.path.join(folder, name) for name in model.external_files]
    return [path for path in paths if os.path.exists(path)]


def check_target(path: str) -> None:
    """Raise an error if no file can be written there: create and remove one beside it. Call before measuring."""
    if not path:
        raise UsageError("target_without_name")
    format_of(path)
    if path == STDOUT:
        return
    target = _target(path)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error
    if stat.S_ISDIR(mode):
        raise WriteError("target_is_directory", path=path)
    if not stat.S_ISREG(mode):
        # Renaming over a device or a pipe would replace it with a file.
        raise WriteError("target_not_regular", path=path)
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise WriteError("target_read_only", path=path)
    try:
        descriptor, temporary = _open_beside(target)
        os.close(descriptor)
        os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def write_export(path: str, text: str) -> None:
    """Write a file atomically: a reader sees either the old content or the complete new one."""
    target = _target(path)
    try:
        descriptor, temporary = _open_beside(target)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if (mode := _mode_of(target)) is not None:
                    # Set before writing, so that private content is private at every moment.
                    os.fchmod(file.fileno(), mode)
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
        sync_directory(os.path.dirname(target))
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _target(path: str) -> str:
    # The file behind a link is replaced, not the link.
    try:
        return os.path.realpath(path)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _mode_of(target: str) -> int | None:
    """Return the permissions of the existing file; None if there is none."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return None


def _open_beside(target: str) -> tuple[int, str]:
    if os.path.exists(os.path.dirname(target)) and len(os.fsencode(os.path.basename(target))) > 255:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    temporary = os.path.join(os.path.dirname(target), f".tuibench-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(temporary, flags, 0o666), temporary


def sync_directory(path: str) -> None:
    """Flush a directory, so that a file that was made or renamed in it survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a directory; the file itself is synced already.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _failed(path: str, error: Exception) -> WriteError:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return WriteError("target_unwritable", path=path, text=text, missing=_lacks_directory(path, error))


def _lacks_directory(path: str, error: Exception) -> bool:
    # A file system that takes no new files, such as /proc, gives the same error.
    return isinstance(error, FileNotFoundError) and not os.path.isdir(os.path.dirname(os.path.realpath(path)))

"""The project's exceptions: a code with its fields, and the exit code of the command that it ends."""

from __future__ import annotations

import resource
import signal
import stat
from enum import IntEnum
from typing import Any, TypeVar

from tuibench.core.reason import Reason, because

_Error = TypeVar("_Error", bound="TuibenchError")


class ExitCode(IntEnum):
    """The exit codes of the command; scripts rely on them, so the numbers never change meaning."""

    OK = 0
    SOME_FAILED = 1
    USAGE = 2
    MODEL = 3
    ENGINE = 4
    TIMEOUT = 5
    STORE = 6
    BUSY = 7
    OUTPUTS_DIFFER = 13
    NOT_COMPARABLE = 14
    HANGUP = 129
    INTERRUPT = 130
    PIPE = 141
    TERMINATED = 143


class TuibenchError(Exception):
    """An error for the user, as a code with fields; `present/error` makes its message and its hint.

    A field `subject` is the flag or the file that the message begins with, with its colon if any; beside a form's field
    it is left out. Fields are plain values and reasons, because errors are sent between processes.
    """

    exit_code = ExitCode.SOME_FAILED

    def __init__(self, code: str, /, **fields: Any) -> None:
        super().__init__(code)
        self.reason = because(code, **fields)

    @classmethod
    def from_reason(cls: type[_Error], reason: Reason) -> _Error:
        """Return the error with this code and these fields."""
        return cls(reason.code, **reason.fields)

    def __str__(self) -> str:
        """Return the code and its fields, for logs and programmers."""
        fields = ", ".join(f"{name}={value!r}" for name, value in self.reason.fields.items())
        return f"{self.reason.code}({fields})"


class UsageError(TuibenchError):
    """The request itself is wrong; nothing was started."""

    exit_code = ExitCode.USAGE


class ExclusiveFlags(UsageError):
    """Two flags that exclude each other; fields `first` and `second`."""


class ModelError(TuibenchError):
    """The model cannot be read or does not accept what it is given."""

    exit_code = ExitCode.MODEL


class EngineError(TuibenchError):
    """The engine is not installed, or does not support the request."""

    exit_code = ExitCode.ENGINE


class PhaseTimeout(TuibenchError):
    """A phase exceeded its time limit and its process was ended."""

    exit_code = ExitCode.TIMEOUT


class WriteError(TuibenchError):
    """A result could not be written to the requested place."""

    exit_code = ExitCode.STORE


class TooManyFiles(WriteError):
    """The process has as many files open as its limit allows."""

    def __init__(self, code: str = "too_many_open_files", /, **fields: Any) -> None:
        if not fields:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            fields = {"limit": soft, "most": None if hard == resource.RLIM_INFINITY else hard}
        super().__init__(code, **fields)


class StoreError(TuibenchError):
    """The store cannot be read or written; its contents are unchanged."""

    exit_code = ExitCode.STORE


class StoreBusy(StoreError):
    """Another process held the store's lock longer than a command waits."""


class StoreDamaged(StoreError):
    """A file of the store differs from what was written; the message names it."""


class StoreReadOnly(StoreError):
    """The store, or this part of it, can be read but not written."""


class StoreNewer(StoreReadOnly):
    """A newer version wrote this file; only that version may change it, or even show it."""


class StoreConflict(StoreError):
    """Another session wrote a document after it was read; that session's text was not overwritten."""


class HostBusy(TuibenchError):
    """Another benchmark is measuring on this machine, and the user asked not to wait."""

    exit_code = ExitCode.BUSY


class EngineBusy(EngineError):
    """A run uses an installed engine, or another command is changing its installation."""

    exit_code = ExitCode.BUSY


class UnknownId(UsageError):
    """The typed text matches no benchmark, project or run, or more than one."""


_KINDS = (
    (stat.S_ISDIR, "kind_directory"),
    (stat.S_ISFIFO, "kind_pipe"),
    (stat.S_ISCHR, "kind_device"),
    (stat.S_ISBLK, "kind_device"),
    (stat.S_ISSOCK, "kind_socket"),
)


def name_kind(mode: int) -> Reason:
    """Return the kind of a file by its mode from `os.stat`, for the fields of an error."""
    return Reason(next((code for test, code in _KINDS if test(mode)), "kind_other"))


def signal_name(number: int) -> str:
    """Return SIGSEGV for 11; 'signal 40' for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

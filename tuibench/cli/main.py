"""The entry point of the shell: picks the command and turns errors and signals into exit codes."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, cast

from tuibench.cli.output import AS_ASCII, tell_error
from tuibench.cli.terminal import Ended, Interruption
from tuibench.core.errors import ExitCode, TooManyFiles, TuibenchError, WriteError
from tuibench.core.text import show

if TYPE_CHECKING:
    import argparse

    from tuibench.core.settings.command import ProfileRequest


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    _fill_the_standard_descriptors()
    for stream in (sys.stdout, sys.stderr):
        # Names that are invalid text must not fail a command that prints them.
        getattr(stream, "reconfigure", lambda **_: None)(errors=AS_ASCII)
    interruption = Interruption()
    try:
        interruption.listen()
        code = _dispatch(arguments, interruption)
        sys.stdout.flush()
        interruption.check()
    except Ended as ended:
        code = int(ended.code)
    except BrokenPipeError:
        code = int(ExitCode.PIPE)
    except Exception as error:  # the process boundary: the user gets one line, and a traceback with --debug
        if "--debug" in arguments:
            _show_traceback(error)
        failure = _as_ours(error)
        tell_error(failure)
        code = int(failure.exit_code)
    return _leave(code)


def _fill_the_standard_descriptors() -> None:
    """Open 0, 1 and 2 if closed: a file opened later would get the number and receive the user's output."""
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:
        if free == 1:
            # A pipe without reader, so that any closed stdout ends the same way.
            reader, writer = os.pipe()
            os.dup2(writer, free)
            os.close(writer)
            os.close(reader)
        os.set_inheritable(free, True)
    os.close(free)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def _as_ours(error: Exception) -> TuibenchError:
    if isinstance(error, TuibenchError):
        return error
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        return TooManyFiles()
    if isinstance(error, OSError):
        path = str(error.filename) if error.filename else None
        return WriteError("system_error", text=error.strerror or str(error), path=path)
    return TuibenchError("internal_error", kind=type(error).__name__, text=str(error))


def _dispatch(arguments: list[str], interruption: Interruption) -> int:
    # lazy: after the signal handlers, so that Ctrl-C during these imports ends like later
    from tuibench.cli.arguments import parse
    from tuibench.core.settings.request import BenchmarkRequest, DashboardRequest, Info, RerunRequest

    parsed = parse(arguments)
    if isinstance(parsed, Info):
        sys.stdout.write(parsed.text)
        return int(ExitCode.OK)
    if isinstance(parsed, BenchmarkRequest):
        from tuibench.cli import benchmark  # lazy: services take 40 ms

        return benchmark.run(parsed, interruption)
    if arguments[:1] == ["profile"]:
        from tuibench.cli import profile  # lazy: as above

        return profile.run(cast("ProfileRequest", parsed), interruption)
    if isinstance(parsed, RerunRequest):
        from tuibench.cli import rerun  # lazy: as above

        return rerun.run(parsed, interruption)
    if isinstance(parsed, DashboardRequest):
        from tuibench.cli import dashboard  # lazy: as above

        return dashboard.run(parsed, interruption)
    return int(cast("argparse.Namespace", parsed).run(parsed, interruption))


def _show_traceback(error: Exception) -> None:
    import traceback  # lazy: 3 ms, needed only here

    with suppress(OSError):
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(show(line, 1000), file=sys.stderr)


def _leave(code: int) -> int:
    """Flush explicitly: at exit the interpreter would report a broken pipe, or change the exit code."""
    _flush(sys.stderr, 2)
    return code if _flush(sys.stdout, 1) else code or int(ExitCode.PIPE)


def _flush(stream: TextIO, number: int) -> bool:
    """Return whether the flush succeeded; if not, discard the rest."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        return False
    return True

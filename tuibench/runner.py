"""Runner process: reads a request from stdin, runs it and writes its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tuibench.core.errors import TuibenchError
    from tuibench.runs.directory import RunDirectory


def main(argv: list[str]) -> int:
    """Carry out the run that stdin describes, in the directory given by `argv`."""
    import faulthandler
    import os
    from pathlib import Path

    from tuibench.runs.directory import RunDirectory
    from tuibench.runs.task import StopSwitch

    directory, parent = RunDirectory(Path(argv[0])), int(argv[1])
    # Not inherited by workers: the pipe closes when the journal is complete or this process dies.
    done = os.dup(1)
    os.dup2(2, 1)
    faulthandler.enable()
    # Workers and child processes make files too; all files in a run's directory are private to the owner.
    os.umask(0o077)
    lifeline = own_stdin()
    stop = StopSwitch(lifeline, lambda: directory.cancel_asked)
    stop.listen()
    request = read_request(lifeline)
    if request is None:
        return 0
    if detached := bool(request.pop("detached", False)):
        stop.detach()
    ephemeral = bool(request.get("ephemeral"))
    code = 1
    try:
        # Only now: signals that come during these imports must be heard.
        from tuibench.runs.session import RunnerHooks, RunnerSession

        begun = (lambda: say_begun(done)) if detached else (lambda: None)
        code = RunnerSession(directory, request, stop, RunnerHooks(save, saved_test, error_words)).carry_out(begun)
        if ephemeral and code == 0:
            os.close(done)
            wait_for_the_client(lifeline)
    finally:
        # On a failure, a living client reads the log and removes the directory itself.
        if ephemeral and (code == 0 or os.getppid() != parent):
            directory.remove()
    return code


def say_begun(done: int) -> None:
    """Tell a detaching client that the run can be found now; the client may have died already."""
    import contextlib
    import os

    from tuibench.runs.task import BEGUN

    with contextlib.suppress(BrokenPipeError):
        os.write(done, BEGUN)


def own_stdin() -> int:
    """Return a descriptor of stdin that only this process reads; workers get an empty stdin.

    The client sends one line that describes the run, then nothing until it detaches or dies. An engine that reads stdin
    would take the client's bytes.
    """
    import os

    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return lifeline


def read_request(lifeline: int) -> dict[str, Any] | None:
    """Return the request on stdin; None if the client disconnected before the line was complete."""
    import json

    with open(lifeline, "rb", closefd=False) as stream:
        line = stream.readline()
    return dict(json.loads(line)) if line.endswith(b"\n") else None


def wait_for_the_client(lifeline: int) -> None:
    """Return when the client closed the pipe or died; the directory is not needed after that."""
    import os

    while os.read(lifeline, 1):
        continue


def save(directory: RunDirectory, request: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    """Save the result in the store."""
    from tuibench.services.saving import save_run

    return save_run(directory, request, end)


def saved_test(request: dict[str, Any]) -> Callable[[str], bool | None]:
    """Return a test whether the request's store has a run."""
    from pathlib import Path

    from tuibench.services.opening import open_store
    from tuibench.services.saving import remember_saved

    return remember_saved(lambda: open_store(Path(request["store"])))


def error_words(error: TuibenchError) -> str:
    """Return the message of an error that ends this process before there is a journal."""
    from tuibench.present.error.words import message_words

    return message_words(error)


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))

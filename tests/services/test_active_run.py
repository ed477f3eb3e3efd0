"""The client's side of a runner that a shell script plays."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pytest

from tests.refusal import refused
from tuibench.core.errors import TuibenchError
from tuibench.core.reason import because
from tuibench.services.active_run import ActiveRun


@contextmanager
def started(run_dir: Path, script: str, request: bytes, most: int = 1 << 20) -> Iterator[ActiveRun]:
    """A run whose lifeline accepts that many bytes at once."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(["sh", "-c", script], bufsize=0, stdin=pipe, stdout=pipe)
    process.stdin = cast("IO[bytes]", Narrow(process.stdin, most))
    run = ActiveRun(run_dir, os.memfd_create("log"), process, request)
    try:
        yield run
    finally:
        run.close()


class Narrow:
    """A pipe that accepts only a part of each write, as real pipes may."""

    def __init__(self, pipe: Any, most: int) -> None:
        self._pipe = pipe
        self._most = most

    def write(self, data: bytes) -> int:
        return int(self._pipe.write(data[: self._most]))

    def close(self) -> None:
        self._pipe.close()


def test_request_reaches_the_runner_complete(tmp_path: Path) -> None:
    request = b"x" * 5000 + b"\n"
    with started(tmp_path / "run", f"IFS= read -r line; echo $line >{tmp_path}/got", request, 1000) as run:
        list(run.events())
    assert (tmp_path / "got").read_bytes() == request


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (40, "signal 40")])
def test_runner_death_by_any_signal_is_reported(tmp_path: Path, number: int, name: str) -> None:
    with (
        started(tmp_path / "run", f"kill -{number} $$", b"\n") as run,
        refused(TuibenchError, "ended_unplanned", why=because("runner_killed", signal=name)),
    ):
        run.result()


class Stopped(BaseException):
    """Ends a command, as a signal does."""


def test_signal_while_the_journal_is_read_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise Stopped

    taken: list[str] = []
    with started(tmp_path / "run", "true", b"\n") as run:
        read = [{"ev": "note", "seq": number} for number in range(3)]

        def read_and_end() -> list[dict[str, Any]]:
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
            return read

        monkeypatch.setattr(run._follower, "read", read_and_end)
        monkeypatch.setattr(run.replay, "take", lambda event: taken.append(event["ev"]))
        before = signal.signal(signal.SIGTERM, stop)
        try:
            with pytest.raises(Stopped):
                run.read()
        finally:
            signal.signal(signal.SIGTERM, before)
        monkeypatch.undo()
    assert taken.count("note") == 3

"""The hall: every action of the product as one typed method; it prints nothing and imports no engine."""

from __future__ import annotations

import json
import math
import os
import random
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tuibench.core.cell import Cell, Execution, Samples
from tuibench.core.errors import ExitCode, TuibenchError, WriteError
from tuibench.core.model import Point
from tuibench.core.record import to_plain
from tuibench.core.run import RunResult
from tuibench.core.spec import BenchmarkSpec
from tuibench.core.text import show
from tuibench.core.ulid import make_ulid
from tuibench.engines import registry
from tuibench.host.topology import Topology, read_topology
from tuibench.runs.journal import Follower, Journal
from tuibench.runs.outcome import exit_code, signal_code
from tuibench.runs.replay import Replay
from tuibench.runs.schedule import Schedule
from tuibench.runs.task import read_tail

_BARE_WORKER_BYTES = 60_000_000
_COPIES = 3
_OTHER_BYTES = {"string": 32}
_LOOK_S = 0.25
_END_S = 1.5
_LOG = "runner.log"

Event = dict[str, Any]


class ActiveRun:
    """A run that this process started, watches and ends."""

    def __init__(self, run_dir: Path, log: int, process: subprocess.Popen[bytes], request: bytes) -> None:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the runner has no channel")
        self.run_dir = run_dir
        self.replay = Replay()
        self._process = process
        self._log = log
        self._follower = Follower(run_dir)
        self._lifeline, self._done = process.stdin, process.stdout
        try:
            self._lifeline.write(request)
        except BrokenPipeError:
            return  # it is dead already, and how it died is found by waiting for it

    def events(self) -> Iterator[list[Event]]:
        """What happened since the last look, four times a second at most, until the run has ended."""
        ended = False
        while not ended:
            ended = self._wait(_LOOK_S)
            yield self._read()
        self._note_break()

    def cancel(self) -> None:
        """End the run now; what was measured stays in its journal."""
        if not self._wait(0):
            self._process.terminate()
            if not self._wait(_END_S):
                self._process.kill()
        self._read()
        self._note_break()

    def _wait(self, seconds: float) -> bool:
        """Whether the journal is complete: the runner, alive or dead, has closed its end."""
        poll = select.poll()
        poll.register(self._done, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _read(self) -> list[Event]:
        events = self._follower.read()
        for event in events:
            self.replay.take(event)
        return events

    def _note_break(self) -> None:
        """Give a journal that broke off its end, so that everyone who reads it learns why."""
        if not self.replay.end and self.replay.start:
            journal = Journal(self.run_dir, seq=self.replay.events)
            journal.append("run_end", status="interrupted", reason=self._how_it_ended())
            journal.close()
            self._read()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        if code < 0:
            return f"the runner died by {signal.Signals(-code).name}"
        tail = self._last_words()
        return f"the runner ended with code {code}" + (f" ({tail})" if tail else "")

    def _last_words(self) -> str | None:
        return read_tail(f"/proc/self/fd/{self._log}")

    def result(self, again: str) -> RunResult:
        """The result as the journal has it; TuibenchError where the run could not even be planned."""
        error = self.replay.end.get("error")
        if error is not None:
            raise _as_error(error)
        if not self.replay.cells and self.replay.end.get("status", "interrupted") == "interrupted":
            if self._process.wait() == ExitCode.STORE:
                raise _no_room(self.run_dir.parent, self._last_words())
            raise TuibenchError(f"{self._how_it_ended()} before there was a plan")
        return self.replay.result(again)

    def exit_code(self, result: RunResult) -> ExitCode:
        """What the command that waited for this run ends with."""
        ended = signal_code(str(self.replay.end.get("reason", "")))
        if ended is not None:
            return ended
        return ExitCode.SOME_FAILED if result.status == "interrupted" else exit_code(result.cells)

    def settle_samples(self, result: RunResult, directory: str | None) -> RunResult:
        """Move the samples to `directory`, or say of each that it was not kept; no file of the run itself is named."""
        if directory is not None:
            Path(directory).mkdir(exist_ok=True)
        cells = [
            replace(
                cell,
                samples=_unfiled(cell.samples),
                executions=tuple(self._settle(e, directory) for e in cell.executions),
            )
            for cell in result.cells
        ]
        return replace(result, cells=tuple(cells), points=tuple(_unfiled_point(point) for point in result.points))

    def first_round(self) -> tuple[Cell, ...]:
        """The planned cells in the order in which the first round takes them, but for those that failed already."""
        spec = self.replay.spec
        live = [cell for cell in self.replay.cells if self.replay.cell(cell.key).failure is None]
        schedule = Schedule(live, spec.effort, random.Random(spec.inputs.seed))
        return tuple(turn.cell for turn in schedule.next_round())

    def expected_memory(self) -> dict[str, int]:
        """About what each planned cell will take: weights as read, reordered and packed, and the inputs."""
        models, points = self.replay.models, {p.id: p for p in self.replay.points}
        sizes = {}
        for cell in self.replay.cells:
            point, model = points[cell.point], models[cell.model]
            inputs = point.distinct * sum(math.prod(fed.shape) * _item_bytes(fed.dtype) for fed in point.inputs)
            sizes[cell.key] = _BARE_WORKER_BYTES + _COPIES * (model.file_bytes + model.external_bytes) + inputs
        return sizes

    def _settle(self, execution: Execution, directory: str | None) -> Execution:
        file = execution.samples.file
        if directory is None or file is None:
            return replace(execution, samples=replace(execution.samples, file=None))
        target = Path(directory) / Path(file).name
        shutil.copyfile(file, target)
        return replace(execution, samples=replace(execution.samples, file=str(target)))

    def close(self) -> None:
        """Leave nothing behind: the runner clears up once its client has gone, and what it cannot do is done here."""
        self.cancel()
        self._lifeline.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._done.close()
        os.close(self._log)
        shutil.rmtree(self.run_dir, ignore_errors=True)


class Workbench:
    """What the shell, the dashboard and Python programs can ask for."""

    def topology(self) -> Topology:
        """The cores of this machine that this process may use."""
        return read_topology(os.sched_getaffinity(0))

    def check_engines(self, names: Sequence[str]) -> None:
        """Raise for the first name that is no engine of this version; nothing is started or imported for it."""
        for name in names:
            registry.check(name)

    def examine(self, engines: list[dict[str, Any]], terminal: dict[str, Any]) -> dict[str, Any]:
        """How fit this machine is to be measured on, with what to mend; takes half a second to look at the noise."""
        from tuibench.host.brand import cache_directory, read_brand  # what only doctor needs
        from tuibench.host.checkup import examine
        from tuibench.host.facts import this_process

        process = this_process()
        cache = cache_directory(process.environ)
        return examine(process, engines=engines, terminal=terminal, brand=lambda boot_id: read_brand(boot_id, cache))

    def start_benchmark(self, spec: BenchmarkSpec, *, plan_only: bool = False) -> ActiveRun:
        """Start a runner for `spec`; it ends with this process."""
        run_id = make_ulid(int(time.time() * 1000), secrets.token_bytes(10))
        request = {
            "id": run_id,
            "spec": to_plain(spec),
            "seed": spec.inputs.seed,
            "plan_only": plan_only,
        }
        line = json.dumps(request).encode("ascii") + b"\n"
        run_dir = _choose_run_dir()
        log = os.memfd_create(_LOG)
        try:
            return ActiveRun(run_dir, log, _start_runner(run_dir, log), line)
        except BaseException:
            os.close(log)
            raise


def _start_runner(run_dir: Path, log: int) -> subprocess.Popen[bytes]:
    """The runner makes the directory itself: what it has made it also removes, even when this process is killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "tuibench.runner", str(run_dir), str(os.getpid())],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd="/",
        env=_environment(),
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """This process's own, in which the package is found from any directory, wherever it was found here."""
    home = Path(__file__).resolve().parents[2]
    search = os.environ.get("PYTHONPATH", "")
    paths = [os.path.abspath(part) for part in search.split(os.pathsep) if part]
    if home.name not in ("site-packages", "dist-packages") and str(home) not in paths:
        paths.append(str(home))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)} if paths else dict(os.environ)


def _choose_run_dir() -> Path:
    """A name that nobody has; a TMPDIR that was asked for is not silently replaced by another place."""
    try:
        root = os.environ.get("TMPDIR") or tempfile.gettempdir()
    except FileNotFoundError as error:
        raise _no_room("any temporary directory", error.strerror) from error
    return Path(os.path.abspath(root), f"tuibench-{secrets.token_hex(6)}")


def _no_room(where: object, reason: str | None) -> WriteError:
    what = f"no directory for the run can be made in {show(where)}: {reason or 'no reason is known'}"
    return WriteError(what, "set TMPDIR to a directory that can be written to")


def _item_bytes(dtype: str) -> int:
    """Bytes of one element, by the number in the name of its type; a word of text is guessed."""
    digits = "".join(c for c in dtype if c.isdigit())
    return max(1, int(digits[:2]) // 8) if digits else _OTHER_BYTES.get(dtype, 1)


def _unfiled(samples: Samples | None) -> Samples | None:
    return None if samples is None else replace(samples, file=None)


def _unfiled_point(point: Point) -> Point:
    """Inputs and reference outputs go away with the run, and a name of what is gone helps nobody."""
    return replace(point, bundle=None, reference=replace(point.reference, file=None))


def _as_error(problem: dict[str, Any]) -> TuibenchError:
    error = TuibenchError(str(problem["message"]), str(problem.get("hint") or ""))
    error.exit_code = type(error.exit_code)(int(problem["exit_code"]))
    return error

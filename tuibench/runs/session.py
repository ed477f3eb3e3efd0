"""One session of a runner: it locks the run, waits its turn, measures, and saves the result."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tuibench.core.engine import is_apart, split_id
from tuibench.core.errors import ExitCode, HostBusy, TuibenchError
from tuibench.core.reason import CANCELLED_ON_REQUEST, RUNNER_DIED, Reason
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import LOSS, BenchmarkSpec
from tuibench.engines.installation import find_installation, installations_held, require_interpreters
from tuibench.host.cgroup import find_groups, read_memory
from tuibench.host.facts import read_facts, this_process
from tuibench.host.kernel_files import Tree
from tuibench.host.system import start_ticks
from tuibench.runs.base import BaseRun, Setup
from tuibench.runs.cpu_choice import CpuChoice
from tuibench.runs.directory import RunDirectory, empty, make_scratch, prune
from tuibench.runs.environment import environment_changes, forbids_resume
from tuibench.runs.host_queue import HostQueue, Wait
from tuibench.runs.journal import NAME, Journal, JournalBroken, cut_tail, plain_error, read_history
from tuibench.runs.observer import read_replay
from tuibench.runs.replay import Replay
from tuibench.runs.resumption import Disagreement
from tuibench.runs.run import BenchmarkRun
from tuibench.runs.task import Cancelled, StopSwitch

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunnerHooks:
    """Functions that the runner passes in, as this package must not import the store and `present`."""

    save: Callable[[RunDirectory, Request, dict[str, Any]], dict[str, Any]]
    """Saves the result, given the fields of the end; returns further ones."""
    saved_test: Callable[[Request], Callable[[str], bool | None]]
    """Returns a test whether the store has a run; the test returns None if the store cannot be read."""
    error_words: Callable[[TuibenchError], str]
    """Returns the message of an error, for the run's log."""


class RunnerSession:
    """Writes a run's journal from its start, or from where it was interrupted, to its end."""

    def __init__(self, directory: RunDirectory, request: Request, stop: StopSwitch, hooks: RunnerHooks) -> None:
        self._directory = directory
        self._request = request
        self._stop = stop
        self._hooks = hooks
        self._ephemeral = bool(request.get("ephemeral"))
        self._resume: dict[str, Any] | None = request.get("resume")
        self._finishing = bool((self._resume or {}).get("finish"))
        """True if the results are saved without measuring more."""
        self._earlier: Replay | None = None
        self._journal: Journal | None = None

    def carry_out(self, begun: Callable[[], None]) -> int:
        """Execute the session under the run's lock; return the exit code, STORE if the run cannot be written.

        Call `begun` when the run has its directory and this process its lock.
        """
        try:
            lock = self._open_directory()
            try:
                self._work(begun)
            finally:
                os.close(lock)
        except TuibenchError as error:
            os.write(2, f"{self._hooks.error_words(error)}\n".encode())
            return int(error.exit_code)
        except OSError as error:
            # The journal keeps the events written so far: the client can show them and tuibench resume can continue.
            os.write(2, f"{error.strerror or error}\n".encode())
            return int(ExitCode.STORE)
        return 0

    def _open_directory(self) -> int:
        """Create the run's directory, or open the existing one to resume; return the descriptor of its lock."""
        directory = self._directory
        if self._ephemeral:
            make_scratch(directory.path)  # locked until this process ends
        elif self._resume is None:
            directory.path.mkdir(mode=0o700)
        lock = directory.lock()
        if lock is None:
            raise HostBusy("runner_exists", run=directory.id)
        if self._resume is None:
            directory.fill(self._request)
        if not self._ephemeral:
            # A detached run outlives the client's log, so the run has its own.
            log = os.open(directory.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            for standard in (1, 2):
                os.dup2(log, standard)
            os.close(log)
        directory.make_places()
        return lock

    def _work(self, begun: Callable[[], None]) -> None:
        request = self._request
        queue = HostQueue(request["host_lock"], str(request.get("ticket", request["id"])), self._describe, self._stop)
        if not (request["plan_only"] or request.get("share_host") or self._finishing):
            # Enter the queue before reporting the start: the next run that the client starts must not measure before
            # this one.
            queue.take_ticket()
        begun()
        self._journal, self._earlier = open_journal(self._directory, request)
        self._stop.beat_with(partial(self._beat, self._journal))
        try:
            self._measure_or_save(self._journal, queue)
        except Cancelled as cancelled:
            self._end_unmeasured(self._journal, cancelled.reason)
        except TuibenchError as error:
            status = "interrupted" if self._earlier is not None or isinstance(error, JournalBroken) else "failed"
            self._journal.append("run_end", status=status, reason=error.reason, error=plain_error(error))
        finally:
            queue.leave()
        self._journal.close()
        if not self._ephemeral:
            tidy(self._directory, self._hooks.saved_test(request))

    def _describe(self) -> dict[str, Any]:
        """Return the answer to other users of this machine who ask what is measured."""
        eta_s = self._journal.latest.get("eta_s") if self._journal is not None else None
        return {"run": self._request["id"], "eta_s": eta_s}

    def _beat(self, journal: Journal) -> None:
        journal.append("heartbeat")
        if self._directory.cancel_asked:
            self._stop.trip(Reason(CANCELLED_ON_REQUEST))

    def _measure_or_save(self, journal: Journal, queue: HostQueue) -> None:
        """Save the results of a finished run, or wait in the queue and measure."""
        if self._finishing:
            self._finish(journal)
            return
        with installations_held(Path(self._request.get("engines", "")), self._request["spec"]["engines"]):
            self._introduce(journal)
            self._wait_in_line(journal, queue)
            self._carry_out(journal)

    def _save(self, end: dict[str, Any]) -> dict[str, Any]:
        """Save the result; an ephemeral run saves nothing."""
        return dict(end) if self._ephemeral else self._hooks.save(self._directory, self._request, end)

    def _end_unmeasured(self, journal: Journal, reason: Reason) -> None:
        """Record that the session ended before it measured; a cancelled run saves the results of earlier sessions."""
        earlier = self._earlier
        if earlier is not None and reason.code != CANCELLED_ON_REQUEST:
            journal.append("run_end", status="interrupted", reason=reason, **earlier.counts)
            return
        end: dict[str, Any] = {"status": "cancelled", "reason": reason}
        if earlier is not None:
            end |= self._save(dict(end)) | earlier.counts
        journal.append("run_end", **end)

    def _finish(self, journal: Journal) -> None:
        """Save the results of a run that will not be measured further."""
        earlier = self._earlier
        if earlier is None:
            journal.append("run_end", status="cancelled", reason=Reason("nothing_measured"))
            return
        # A run that ended normally but was not saved has no end reason.
        end_event = earlier.end or {"status": "interrupted", "reason": Reason(RUNNER_DIED)}
        end: dict[str, Any] = {"status": str(end_event.get("status", "interrupted")), "reason": end_event.get("reason")}
        end |= self._save(dict(end))
        # Scripts that read the events of an attached run know the empty text.
        end["reason"] = end["reason"] or ""
        journal.append("run_end", only_saved=True, **end, **earlier.counts)

    def _introduce(self, journal: Journal) -> None:
        """Write the first event of a session: the spec, the machine and the versions."""
        process, request, earlier = this_process(), self._request, self._earlier
        env, spec = read_facts(process)["env"], request["spec"]
        versions = {name: version for name, version in process.versions.items() if version}
        versions |= installed_versions(Path(request.get("engines", "")), spec["engines"])
        start = earlier.start if earlier is not None else {}
        old = start.get("host", {}), start.get("versions", {})
        journal.append(
            "run_start" if earlier is None else "sitting",
            run=request["id"],
            spec=spec,
            spec_sha256=hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest(),
            host=env,
            host_id=request.get("host_id", ""),
            boot_id=env["kernel"]["boot_id"],
            pid=os.getpid(),
            pid_start=start_ticks(os.getpid()),
            versions=versions,
            started_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            mixed=[] if earlier is None else to_plain(environment_changes(*old, env, versions)),
        )
        if earlier is not None and self._resume is not None and not self._resume["mixed"]:
            changes = forbids_resume(*old, env, versions)
            if changes:
                raise Disagreement("machine_changed", changes=changes, run=request["id"])

    def _wait_in_line(self, journal: Journal, queue: HostQueue) -> None:
        """Return when this run may measure."""
        if self._request["plan_only"]:
            return
        if self._request.get("share_host"):
            journal.append("granted", waited_s=0.0, shared=queue.share())
            return

        def tell(wait: Wait) -> None:
            journal.append("waiting", place=wait.place, holder=to_plain(wait.holder))

        waited_s = queue.enter(self._request.get("wait_s"), tell)
        journal.append("granted", waited_s=round(waited_s, 3), shared=False)

    def _carry_out(self, journal: Journal) -> None:
        """Run the benchmark or profile with real workers on this machine."""
        tree, request = Tree(Path("/")), self._request
        setup = Setup(
            run_dir=self._directory.path,
            journal=journal,
            cpu_choice=CpuChoice(self._stop.pause),
            stop=self._stop,
            memory_room=lambda: read_memory(tree, find_groups(tree)).room_bytes,
            seed=request["seed"],
            plan_only=request["plan_only"],
            earlier=self._earlier,
            mixed=bool((self._resume or {}).get("mixed")),
            cache=request.get("cache"),
            save=self._save,
            interpreters=require_interpreters(Path(request.get("engines", "")), request["spec"]["engines"]),
        )
        choose_run(from_plain(BenchmarkSpec, request["spec"]), setup).carry_out()


def installed_versions(root: Path, engines: Sequence[str]) -> dict[str, str]:
    """Return the release of each engine that has an interpreter of its own, by its id in the specification."""
    apart = {name: find_installation(root, name) for name in engines if is_apart(name)}
    return {name: split_id(found.id)[1] for name, found in apart.items() if found is not None}


def open_journal(directory: RunDirectory, request: Request) -> tuple[Journal, Replay | None]:
    """Return a new journal, or an existing journal to append to and the events read from it."""
    if request.get("resume") is None or not (directory.path / NAME).exists():
        return Journal(directory.path), None
    earlier, history = read_replay(directory)
    cut_tail(directory.path, history)
    return Journal(directory.path, history.next_seq), earlier if earlier.start else None


def choose_run(spec: BenchmarkSpec, setup: Setup) -> BaseRun:
    """Return the run of a specification, by its kind; a benchmark imports nothing of profiles."""
    if spec.profile is None:
        return BenchmarkRun(spec, setup)
    if spec.profile.kind == LOSS:
        from tuibench.runs.profile.loss import LossRun

        return LossRun(spec, setup)
    from tuibench.runs.profile.performance import PerformanceRun

    return PerformanceRun(spec, setup)


def tidy(directory: RunDirectory, is_saved: Callable[[str], bool | None]) -> None:
    """Delete the temporary files of a run, the working files of a saved one, and the directories of old runs."""
    empty(directory.work)
    events = read_history(directory.path).events
    if events and events[-1].get("saved"):
        directory.thin()
    prune(directory.path.parent, time.time(), is_saved)

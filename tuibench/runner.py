"""Runner process: reads a request from stdin, runs it and writes its journal. Workers import this file too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tuibench.core.spec import BenchmarkSpec
    from tuibench.runs.base import BaseRun, Setup
    from tuibench.runs.directory import RunDirectory
    from tuibench.runs.host_queue import HostQueue
    from tuibench.runs.journal import Journal
    from tuibench.runs.replay import Replay
    from tuibench.runs.task import StopSwitch


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
    detached = bool(request.pop("detached", False))
    if detached:
        stop.detach()
    ephemeral = bool(request.get("ephemeral"))
    code = 1
    try:
        code = attend(directory, request, stop, lambda: say_begun(done) if detached else None)
        if ephemeral and code == 0:
            os.close(done)
            wait_for_the_client(lifeline)
    finally:
        # On a failure, a living client reads the log and removes the directory itself.
        if ephemeral and (code == 0 or os.getppid() != parent):
            directory.remove()
    return code


def attend(directory: RunDirectory, request: dict[str, Any], stop: StopSwitch, begun: Callable[[], None]) -> int:
    """Execute the run under its lock; return STORE or the error's exit code if it cannot be written.

    Call `begun` when the run has its directory and this process its lock.
    """
    import os

    from tuibench.core.errors import ExitCode, TuibenchError

    try:
        lock = open_directory(directory, request)
        try:
            work(directory, request, stop, begun)
        finally:
            os.close(lock)
    except TuibenchError as error:
        os.write(2, f"{error.message}\n".encode())
        return int(error.exit_code)
    except OSError as error:
        # The journal keeps the events written so far: the client can show them and tuibench resume can continue.
        os.write(2, f"{error.strerror or error}\n".encode())
        return int(ExitCode.STORE)
    return 0


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


def open_directory(directory: RunDirectory, request: dict[str, Any]) -> int:
    """Create the run's directory, or open the existing one to resume; return the descriptor of its lock."""
    import os

    from tuibench.core.errors import HostBusy
    from tuibench.runs.directory import make_scratch

    if request.get("ephemeral"):
        make_scratch(directory.path)  # locked until this process ends
    elif request.get("resume") is None:
        directory.path.mkdir(mode=0o700)
    lock = directory.lock()
    if lock is None:
        raise HostBusy(f"run {directory.id} has a runner already")
    if request.get("resume") is None:
        directory.fill(request)
    if not request.get("ephemeral"):
        # A detached run outlives the client's log, so the run has its own.
        log = os.open(directory.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        for standard in (1, 2):
            os.dup2(log, standard)
        os.close(log)
    directory.make_places()
    return lock


def work(directory: RunDirectory, request: dict[str, Any], stop: StopSwitch, begun: Callable[[], None]) -> None:
    """Write the run's journal from its start, or from where it was interrupted, to its end."""
    from tuibench.core.errors import TuibenchError
    from tuibench.runs.host_queue import HostQueue
    from tuibench.runs.journal import JournalBroken
    from tuibench.runs.task import BY_REQUEST, Cancelled

    written: list[Journal] = []

    def describe() -> dict[str, Any]:
        return {"run": request["id"], "eta_s": written[0].latest.get("eta_s") if written else None}

    queue = HostQueue(request["host_lock"], request.get("ticket", request["id"]), describe, stop)
    if is_waiting_its_turn(request):
        # Enter the queue before reporting the start: the next run that the client starts must not measure before this
        # one.
        queue.draw()
    begun()
    journal, earlier = open_journal(directory, request)
    written.append(journal)

    def beat() -> None:
        journal.append("heartbeat")
        if directory.cancel_asked:
            stop.trip(BY_REQUEST)

    stop.beat_with(beat)
    try:
        sit(directory, journal, request, stop, earlier, queue)
    except Cancelled as cancelled:
        end_unmeasured(directory, journal, request, earlier, cancelled.reason)
    except TuibenchError as error:
        problem = {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}
        lasting = earlier is not None or isinstance(error, JournalBroken)
        journal.append("run_end", status="interrupted" if lasting else "failed", reason=error.message, error=problem)
    finally:
        queue.leave()
    journal.close()
    if not request.get("ephemeral"):
        tidy(directory, request)


def sit(
    directory: RunDirectory,
    journal: Journal,
    request: dict[str, Any],
    stop: StopSwitch,
    earlier: Replay | None,
    queue: HostQueue,
) -> None:
    """Save the results of a finished run, or wait in the queue and measure."""
    if is_finishing(request):
        finish(directory, journal, request, earlier)
        return
    introduce(journal, request, earlier)
    stand_in_line(queue, journal, request)
    carry_out(directory, journal, request, stop, earlier)


def is_finishing(request: dict[str, Any]) -> bool:
    """Return whether the run's results are saved without measuring more."""
    return bool((request.get("resume") or {}).get("finish"))


def is_waiting_its_turn(request: dict[str, Any]) -> bool:
    """Return whether the run measures and needs the host for itself."""
    return not (request["plan_only"] or request.get("share_host") or is_finishing(request))


def open_journal(directory: RunDirectory, request: dict[str, Any]) -> tuple[Journal, Replay | None]:
    """Return a new journal, or an existing journal to append to and the events read from it."""
    from tuibench.core.schema import form_of
    from tuibench.runs.journal import NAME, Journal, cut_tail
    from tuibench.runs.observer import read_replay

    form = form_of(request["spec"])
    if request.get("resume") is None or not (directory.path / NAME).exists():
        return Journal(directory.path, form=form), None
    earlier, history = read_replay(directory)
    cut_tail(directory.path, history)
    return Journal(directory.path, history.next_seq, form), earlier if earlier.start else None


def end_unmeasured(
    directory: RunDirectory, journal: Journal, request: dict[str, Any], earlier: Replay | None, reason: str
) -> None:
    """Record that a session ended before it measured; save the results of earlier sessions if the run was cancelled."""
    from tuibench.runs.task import BY_REQUEST

    if earlier is not None and reason != BY_REQUEST:
        journal.append("run_end", status="interrupted", reason=reason, **earlier.counts)
        return
    end: dict[str, Any] = {"status": "cancelled", "reason": reason}
    if earlier is not None:
        end |= saver(directory, request)(dict(end)) | earlier.counts
    journal.append("run_end", **end)


def finish(directory: RunDirectory, journal: Journal, request: dict[str, Any], earlier: Replay | None) -> None:
    """Save the results of a run that will not be measured further."""

    if earlier is None:
        journal.append("run_end", status="cancelled", reason="nothing was measured")
        return
    # A run that ended normally but was not saved has no end reason.
    told = earlier.end or {"status": "interrupted", "reason": "its runner died"}
    end: dict[str, Any] = {"status": str(told.get("status", "interrupted")), "reason": str(told.get("reason") or "")}
    end |= saver(directory, request)(dict(end))
    journal.append("run_end", only_saved=True, **end, **earlier.counts)


def wait_for_the_client(lifeline: int) -> None:
    """Return when the client closed the pipe or died; the directory is not needed after that."""
    import os

    while os.read(lifeline, 1):
        continue


def introduce(journal: Journal, request: dict[str, Any], earlier: Replay | None) -> None:
    """Write the first event of a session: the spec, the machine and the versions."""
    import hashlib
    import json
    import os
    import time

    from tuibench.core.ids import short_id
    from tuibench.host.facts import read_facts, this_process
    from tuibench.host.process import start_ticks
    from tuibench.runs.environment import environment_changes

    process = this_process()
    env = read_facts(process)["env"]
    spec = request["spec"]
    versions = {name: version for name, version in process.versions.items() if version}
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
        mixed=[] if earlier is None else list(environment_changes(*before(earlier), env, versions)),
    )
    if earlier is not None and not request["resume"]["mixed"]:
        require_alike(short_id(request["id"]), earlier, env, versions)


def before(earlier: Replay) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the machine and the versions at the start of a run."""
    return earlier.start.get("host", {}), earlier.start.get("versions", {})


def require_alike(run: str, earlier: Replay, env: dict[str, Any], versions: dict[str, str]) -> None:
    """Raise Disagreement if this machine changed since the run started in a way that forbids to resume it."""
    from tuibench.runs.environment import forbids_resume
    from tuibench.runs.resumption import changed_machine

    bars = forbids_resume(*before(earlier), env, versions)
    if bars:
        raise changed_machine(run, bars)


def stand_in_line(queue: HostQueue, journal: Journal, request: dict[str, Any]) -> None:
    """Return when this run may measure."""
    from tuibench.core.record import to_plain
    from tuibench.runs.host_queue import Wait, holder_words

    if request["plan_only"]:
        return
    if request.get("share_host"):
        journal.append("granted", waited_s=0.0, shared=queue.share())
        return

    def tell(wait: Wait) -> None:
        words = holder_words(wait.holder)
        journal.append("waiting", place=wait.place, holder=to_plain(wait.holder), words=words)

    waited_s = queue.enter(request.get("wait_s"), tell)
    journal.append("granted", waited_s=round(waited_s, 3), shared=False)


def carry_out(
    directory: RunDirectory, journal: Journal, request: dict[str, Any], stop: StopSwitch, earlier: Replay | None
) -> None:
    """Run the benchmark or profile with real workers on this machine."""
    from pathlib import Path

    from tuibench.core.record import from_plain
    from tuibench.core.spec import BenchmarkSpec
    from tuibench.host.cgroup import find_groups, read_memory
    from tuibench.host.kernel_files import Tree
    from tuibench.runs.base import Setup
    from tuibench.runs.preparation import Machine

    tree, spec = Tree(Path("/")), from_plain(BenchmarkSpec, request["spec"])
    setup = Setup(
        run_dir=directory.path,
        journal=journal,
        machine=Machine(stop.pause),
        stop=stop,
        memory_room=lambda: read_memory(tree, find_groups(tree)).room_bytes,
        seed=request["seed"],
        plan_only=request["plan_only"],
        earlier=earlier,
        mixed=bool((request.get("resume") or {}).get("mixed")),
        cache=request.get("cache"),
        save=saver(directory, request),
    )
    choose_run(spec, setup).carry_out()


def choose_run(spec: BenchmarkSpec, setup: Setup) -> BaseRun:
    """Return the run of a specification, by its kind."""
    from tuibench.core.spec import LOSS

    if spec.profile is None:
        from tuibench.runs.run import BenchmarkRun

        return BenchmarkRun(spec, setup)
    if spec.profile.kind == LOSS:
        from tuibench.runs.profile.loss import LossRun

        return LossRun(spec, setup)
    from tuibench.runs.profile.performance import PerformanceRun

    return PerformanceRun(spec, setup)


def saver(directory: RunDirectory, request: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the function that saves the result in the store; an ephemeral run saves nothing."""
    if request.get("ephemeral"):
        return dict

    def save(end: dict[str, Any]) -> dict[str, Any]:
        from tuibench.services.saving import save_run

        return save_run(directory, request, end)

    return save


def tidy(directory: RunDirectory, request: dict[str, Any]) -> None:
    """Delete the working files of a saved run, and the directories of old runs."""
    import time
    from pathlib import Path

    from tuibench.runs.directory import prune
    from tuibench.runs.journal import read_history
    from tuibench.services.opening import open_store
    from tuibench.services.saving import remember_saved

    events = read_history(directory.path).events
    if events and events[-1].get("saved"):
        directory.thin()
    prune(directory.path.parent, time.time(), remember_saved(lambda: open_store(Path(request["store"]))))


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))

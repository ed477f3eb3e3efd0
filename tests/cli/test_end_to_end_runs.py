"""Runs that outlive their command: detached, listed, cancelled, resumed, and saved exactly once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.build import make_spec
from tests.cli.running import BRIEF, FAKE, LONG, SCRIPT, detach, end, run, start, state, stored
from tests.cli.shell import Shell, as_shell, until
from tuibench.core.activity import ALIVE
from tuibench.core.ids import short_id
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.runs.directory import RunDirectory
from tuibench.runs.journal import NAME, encode, read_events
from tuibench.services.api import Services


def test_detached_run_continues_and_is_saved_without_its_client(keeper: Shell) -> None:
    client = keeper.start("benchmark", *BRIEF, "--detach", env=SCRIPT)
    short = client.communicate(timeout=30)[0].decode().strip()
    assert (client.returncode, len(short)) == (0, 4)
    until(lambda: state(short) == "finished", "the end")
    until(lambda: not keeper.processes(), "no process")
    assert [ulid[-4:].lower() for ulid in stored()] == [short]
    done = run(keeper, "attach", short)
    assert done.code == 0
    assert "µs" in done.lines[-1] or "ms" in done.lines[-1]
    (directory,) = keeper.run_root.iterdir()
    assert sorted(os.listdir(directory)) == ["journal.jsonl", "logs", "request.json", "runner.lock", "runner.log"]


def test_cancelled_detached_run_saves_its_measurements(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done")
    done = run(keeper, "cancel", short)
    assert done.code == 0, done.err
    assert "cancelled" in done.out and "saved" in done.out
    until(lambda: not keeper.processes(), "no process")
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)
    again = run(keeper, "cancel", short)
    assert again.code == 2


def test_two_attached_clients_each_see_every_event_once(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "--executions", "4", "-t", "0.4")
    watchers = [keeper.start("attach", short, "--json", env=SCRIPT) for _ in range(2)]
    outputs = [watcher.communicate(timeout=60)[0] for watcher in watchers]
    events = [[json.loads(line) for line in output.splitlines()] for output in outputs]
    assert events[0] == events[1]
    assert [e["seq"] for e in events[0]] == list(range(len(events[0])))
    assert events[0][-1]["ev"] == "run_end"
    late = run(keeper, "attach", short, "--json", "--from", "5")
    assert [json.loads(line) for line in late.lines] == events[0][5:]


def test_detaching_from_an_attached_run_does_not_end_it(keeper: Shell) -> None:
    short = detach(keeper)
    watcher = keeper.start("attach", short, env=SCRIPT)
    assert watcher.stderr is not None and watcher.stderr.readline(), "it watches"
    keeper.wait_for("execution_done")
    watcher.send_signal(signal.SIGINT)
    _, err = watcher.communicate(timeout=30)
    assert as_shell(watcher.returncode) == 130
    assert b"tuibench attach" in err
    assert state(short) == "running"
    end(keeper, short)


@pytest.mark.parametrize(
    "number",
    [
        *(signal.SIGTERM, signal.SIGKILL),
        *(pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_run_without_terminal_ends_with_its_client(keeper: Shell, number: int) -> None:
    process = start(keeper)
    keeper.wait_for("execution_done")
    process.send_signal(number)
    process.communicate(timeout=30)
    until(lambda: not keeper.processes(), "no process")
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)


def test_second_benchmark_waits_and_names_the_first(keeper: Shell) -> None:
    first = detach(keeper)
    keeper.wait_for("execution_done")
    second = detach(keeper, *BRIEF)
    until(lambda: state(second) == "waiting", "a waiting run")
    info = Services().runs.info(second)
    assert info.place == 1
    assert info.holder is not None
    assert info.holder.run[-4:].lower() == first
    busy = run(keeper, "benchmark", *BRIEF, "--no-wait")
    assert busy.code == 7
    assert f"run {first}" in busy.err
    assert "1 more" in busy.err
    assert run(keeper, "benchmark", *BRIEF, "--wait", "0.2").code == 7
    assert run(keeper, "cancel", first).code == 0
    until(lambda: state(second) == "finished", "the second one")
    until(lambda: not keeper.processes(), "no process")
    result = Services().store.benchmarks.get(stored()[0]).result
    assert result.waited_s > 0
    (directory,) = [path for path in keeper.run_root.iterdir() if path.name == result.id]
    times = {e["ev"]: e["t_ns"] / 1e9 for e in read_events(directory)}
    assert result.seconds <= times["run_end"] - times["granted"], "waiting is not measuring"
    # Runs that stopped waiting leave no directory.
    assert len(list(keeper.run_root.iterdir())) == 2


def test_waiting_run_can_be_cancelled(keeper: Shell) -> None:
    first = detach(keeper)
    second = detach(keeper, *BRIEF)
    done = run(keeper, "cancel", second)
    assert "nothing was measured" in done.out
    assert state(first) == "running"
    end(keeper, first)


def test_sharing_the_machine_is_recorded(keeper: Shell) -> None:
    first = detach(keeper)
    done = run(keeper, "benchmark", *BRIEF, "--share-host", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tuibench"]["shared_host"] is True
    end(keeper, first)
    alone = run(keeper, "benchmark", *BRIEF, "--share-host", "--json")
    assert json.loads(alone.out)["tuibench"]["shared_host"] is False


def test_resumed_run_can_share_the_machine(keeper: Shell) -> None:
    first = detach(keeper)
    second = detach(keeper, *BRIEF)
    until(lambda: state(second) == "waiting", "a waiting run")
    for pid in keeper.pids(Services().runs.info(second).id):
        os.kill(pid, signal.SIGKILL)
    until(lambda: state(second) == "interrupted", "its end")
    done = run(keeper, "resume", second, "--share-host", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tuibench"]["shared_host"] is True
    assert state(first) == "running"
    end(keeper, first)


def test_files_are_private_with_any_umask(keeper: Shell) -> None:
    done = run(keeper, "benchmark", *BRIEF, before=lambda: os.umask(0) and None)
    assert done.code == 0, done.err
    home = Path(os.environ["TUIBENCH_HOME"])
    modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
    assert len(modes) > 20
    assert {name: oct(mode) for name, mode in modes.items() if mode not in (0o700, 0o600)} == {}


def test_process_that_reuses_the_runner_pid_is_not_ended(keeper: Shell) -> None:
    import fcntl

    short = detach(keeper, *BRIEF)
    until(lambda: not keeper.processes(), "the end")
    (directory,) = keeper.run_root.iterdir()
    events = list(read_events(directory))[:3]
    bystander = subprocess.Popen(["sleep", "60"])
    with (directory / NAME).open("wb") as journal:
        for event in events:
            journal.write(encode({**event, "pid": bystander.pid} if event["ev"] == "run_start" else event))
    lock = os.open(directory / "runner.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    canceller = keeper.start("cancel", short, env=SCRIPT)
    until((directory / "cancel").exists, "the wish")
    os.close(lock)
    canceller.communicate(timeout=30)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_runs_of_other_users_in_the_fallback_place_are_ignored(keeper: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(keeper.tmp))
    spare = keeper.tmp / f"tuibench-{os.getuid()}"
    planted = RunDirectory(spare / "runs" / "7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
    planted.path.parent.mkdir(parents=True, mode=0o700)
    for path in (spare, spare / "runs"):
        path.chmod(0o700)
    store = str(Services().settings.places.data)
    planted.make({"id": planted.id, "spec": to_plain(make_spec(Path("/m.onnx"))), "store": store})
    for name in ("runner.lock", NAME):
        os.mkfifo(planted.path / name)
    (info,) = Services().runs.every()
    assert (info.id, info.state) == (planted.id, "interrupted"), "a pipe hangs nobody"
    os.chown(spare, 12345, 12345)
    assert Services().runs.every() == ()
    os.chown(spare, os.getuid(), os.getgid())
    spare.chmod(0o777)
    assert Services().runs.every() == ()
    shutil.rmtree(spare)


def test_runner_that_cannot_begin_is_reported_and_not_detached(keeper: Shell) -> None:
    import resource

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (128 << 10, 128 << 10))

    done = run(keeper, "benchmark", *BRIEF, "--detach", before=no_room)
    assert (done.code, done.out) == (6, ""), done.err
    assert done.err.startswith("tuibench: ")


def test_benchmark_cancelled_elsewhere_reports_it_and_its_cells(keeper: Shell) -> None:
    process = start(keeper)
    keeper.wait_for("execution_done")
    assert run(keeper, "cancel", "last").code == 0
    process.communicate(timeout=30)
    assert as_shell(process.returncode) == 1, "143 is for a command that got a signal itself"
    assert Services().runs.info("last").detail == Reason("cancelled_on_request")


@pytest.mark.parametrize(("place", "code"), [("/dev/full", 6), ("&-", 141)])
def test_detached_run_id_refused_by_stdout_is_printed_on_stderr(keeper: Shell, place: str, code: int) -> None:
    wrap = ("sh", "-c", f'exec "$@" >{place}', "sh")
    done = run(keeper, "benchmark", *LONG, "--detach", "--quiet", wrap=wrap)
    assert done.code == code, done.err
    (info,) = Services().runs.every()
    assert info.state in ALIVE
    short = short_id(info.id)
    assert f"tuibench attach {short}" in done.err and f"tuibench cancel {short}" in done.err
    end(keeper, short)

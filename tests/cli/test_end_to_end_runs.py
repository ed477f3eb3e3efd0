"""Runs that outlive the command that started them: let go, found again, ended, taken up, and saved exactly once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Done, Shell, as_shell, until
from tuibench.runs.journal import NAME, read_events, read_history
from tuibench.workbench.hall import Workbench

FAKE = ("sample:tiny", "-e", "fake", "-s", "sync", "-ncores", "1", "-w", "0.05")
LONG = (*FAKE, "--executions", "60", "-t", "30")
BRIEF = (*FAKE, "--executions", "3", "-t", "0.3")
SCRIPT = {"TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 300}})}
DEATH_S = 1.0


def run(shell: Shell, *arguments: str, **options: Any) -> Done:
    return shell.run(*arguments, env=SCRIPT, **options)


def detach(shell: Shell, *arguments: str) -> str:
    done = run(shell, "benchmark", *(arguments or LONG), "--detach")
    assert done.code == 0, done.err
    return done.out.strip()


def start(shell: Shell, *arguments: str) -> subprocess.Popen[bytes]:
    return shell.start("benchmark", *(arguments or LONG), env=SCRIPT)


def runner_of(shell: Shell) -> int:
    (pid,) = until(lambda: shell.pids("tuibench.runner"), "a runner")
    return pid


def state(token: str) -> str:
    return Workbench().runs.info(token).state


def stored() -> list[str]:
    return [row.id for row in Workbench().store.benchmarks.rows()]


def end(shell: Shell, short: str) -> None:
    assert run(shell, "cancel", short).code == 0
    until(lambda: not shell.processes(), "no process")


def test_a_detached_run_goes_on_and_is_saved_without_its_client(keeper: Shell) -> None:
    short = detach(keeper, *BRIEF)
    assert len(short) == 4
    until(lambda: state(short) == "finished", "the end")
    until(lambda: not keeper.processes(), "no process")
    assert [ulid[-4:].lower() for ulid in stored()] == [short]
    done = run(keeper, "attach", short)
    assert done.code == 0
    assert "µs" in done.lines[-1] or "ms" in done.lines[-1]
    (directory,) = keeper.run_root.iterdir()
    assert sorted(os.listdir(directory)) == ["journal.jsonl", "logs", "request.json", "runner.lock", "runner.log"]


def test_cancelling_a_detached_run_saves_what_it_has(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done")
    done = run(keeper, "cancel", short)
    assert done.code == 0, done.err
    assert "cancelled" in done.out and "saved" in done.out
    until(lambda: not keeper.processes(), "no process", DEATH_S)
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)
    again = run(keeper, "cancel", short)
    assert (again.code, "it is cancelled" in again.err) == (2, True)


def test_two_clients_attach_at_once_and_each_sees_every_event_once(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "--executions", "4", "-t", "0.8")
    watchers = [keeper.start("attach", short, "--json", env=SCRIPT) for _ in range(2)]
    outputs = [watcher.communicate(timeout=60)[0] for watcher in watchers]
    events = [[json.loads(line) for line in output.splitlines()] for output in outputs]
    assert events[0] == events[1]
    assert [e["seq"] for e in events[0]] == list(range(len(events[0])))
    assert events[0][-1]["ev"] == "run_end"
    late = run(keeper, "attach", short, "--json", "--from", "5")
    assert [json.loads(line) for line in late.lines] == events[0][5:]


def test_leaving_an_attached_run_does_not_end_it(keeper: Shell) -> None:
    short = detach(keeper)
    watcher = keeper.start("attach", short, env=SCRIPT)
    keeper.wait_for("execution_done")
    watcher.send_signal(signal.SIGINT)
    _, err = watcher.communicate(timeout=30)
    assert as_shell(watcher.returncode) == 130
    assert b"it goes on" in err
    assert state(short) == "running"
    end(keeper, short)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_without_a_terminal_the_end_of_the_client_is_the_end_of_the_run(keeper: Shell, number: int) -> None:
    process = start(keeper)
    keeper.wait_for("execution_done")
    begin = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=30)
    until(lambda: not keeper.processes(), "no process", 2.0 - (time.monotonic() - begin))
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1)


def test_a_second_benchmark_waits_for_the_first_and_says_for_whom(keeper: Shell) -> None:
    first = detach(keeper)
    keeper.wait_for("execution_done")
    second = detach(keeper, *BRIEF)
    until(lambda: state(second) == "waiting", "a waiting run")
    info = Workbench().runs.info(second)
    assert info.place == 1
    assert info.holder is not None
    assert info.holder.run[-4:].lower() == first
    busy = run(keeper, "benchmark", *BRIEF, "--no-wait")
    assert busy.code == 7
    assert f"run {first}" in busy.err
    assert "1 more before this one" in busy.err
    assert run(keeper, "benchmark", *BRIEF, "--wait", "0.2").code == 7
    assert run(keeper, "cancel", first).code == 0
    until(lambda: state(second) == "finished", "the second one")
    until(lambda: not keeper.processes(), "no process")
    result = Workbench().store.benchmarks.get(stored()[0]).result
    assert result.waited_s > 0
    # Those that gave up have left nothing to look at.
    assert len(list(keeper.run_root.iterdir())) == 2


def test_a_waiting_run_can_be_cancelled(keeper: Shell) -> None:
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


def test_a_run_whose_runner_died_is_interrupted_and_can_be_taken_up(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "-b", "1,2", "--executions", "3", "-t", "0.6")
    keeper.wait_for("execution_done", n=2)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: state(short) == "interrupted", "the state", DEATH_S)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    assert stored() == []
    done = run(keeper, "resume", short)
    assert done.code == 0, done.err
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.cells, row.measured) == ("finished", 2, 2)
    result = Workbench().store.benchmarks.get(row.id).result
    assert [len(cell.executions) for cell in result.cells] == [3, 3]
    assert {cell.sittings for cell in result.cells} == {2}
    assert len(result.sittings) == 2
    assert sum(sitting.executions for sitting in result.sittings) == 7, "six and the one that compares the sittings"
    again = run(keeper, "resume", short)
    assert (again.code, "finished and saved" in again.err) == (2, True)


def test_what_there_is_can_be_saved_without_measuring_more(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done", n=2)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    done = run(keeper, "resume", short, "--finish")
    assert done.code in (0, 1), done.err
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.measured) == ("interrupted", 1)
    assert state(short) == "finished"


def test_a_machine_that_measures_otherwise_now_is_refused_unless_mixed(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done", n=3)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    slower = {"TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 450}})}
    refused = keeper.run("resume", short, env=slower)
    assert refused.code == 14, refused.err
    assert "slower than before" in refused.err
    assert state(short) == "interrupted"
    taken = keeper.start("resume", short, "--mixed", "--detach", env=slower)
    taken.communicate(timeout=30)
    keeper.wait_for("execution_done", n=6)
    end(keeper, short)
    (row,) = Workbench().store.benchmarks.rows()
    result = Workbench().store.benchmarks.get(row.id).result
    assert any("--mixed" in warning for warning in result.warnings)


def test_a_model_that_changed_meanwhile_is_refused(keeper: Shell, folder: Path) -> None:
    from tests.engines.make import mlp

    model = Path(mlp().save(folder))
    short = detach(keeper, str(model), *LONG[1:])
    keeper.wait_for("execution_done")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    original = model.read_bytes()
    model.unlink()
    gone = run(keeper, "resume", short)
    assert (gone.code, "no longer there" in gone.err) == (3, True)
    model.write_bytes(original.replace(b"Relu", b"Tanh"))
    changed = run(keeper, "resume", short)
    assert (changed.code, "changed since" in changed.err) == (3, True)
    assert state(short) == "interrupted"
    model.write_bytes(original)
    taken = keeper.start("resume", short, env=SCRIPT)
    keeper.wait_for("sitting")
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > 3, "it goes on")
    taken.terminate()
    taken.communicate(timeout=30)
    assert len(stored()) == 1


def kill_and_resume(shell: Shell, kills: int, executions: int, seed: int) -> None:
    """One run, its runner killed over and over at times drawn at random, taken up each time, and brought to its end."""
    draw = random.Random(seed)
    wanted = (*FAKE, "-b", "1,2,4", "--executions", str(executions), "-t", str(executions * 0.03))
    short = detach(shell, *wanted)
    for _ in range(kills):
        time.sleep(draw.uniform(0.0, 1.6))
        for pid in shell.pids("tuibench.runner"):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not shell.processes(), "no orphan", DEATH_S)
        assert state(short) == "interrupted"
        done = run(shell, "resume", short, "--detach")
        assert done.code == 0, done.err
    attached = run(shell, "attach", short, "-q", seconds=300)
    assert attached.code == 0, attached.err
    (directory,) = shell.run_root.iterdir()
    history = read_history(directory)
    assert (history.damaged, history.lost) == ((), 0)
    measured = Counter((e["cell"], e["n"]) for e in history.events if e["ev"] == "execution_done" and not e["anchor"])
    assert set(measured.values()) == {1}, "an execution is in the journal twice"
    assert {*Counter(c for c, _ in measured).values()} == {executions}
    (row,) = Workbench().store.benchmarks.rows()
    assert (row.status, row.measured) == ("finished", 3)
    assert sum(e["ev"] == "run_end" for e in read_events(directory)) == 1


@pytest.mark.timeout(400)
@pytest.mark.slow
def test_a_runner_killed_at_twenty_random_points_measures_nothing_twice(keeper: Shell) -> None:
    kill_and_resume(keeper, 20, 30, seed=1)


def test_a_runner_killed_at_three_random_points_measures_nothing_twice(keeper: Shell) -> None:
    kill_and_resume(keeper, 3, 7, seed=3)


def test_two_resumes_of_one_run_do_not_meet(keeper: Shell) -> None:
    short = detach(keeper)
    keeper.wait_for("execution_done")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    both = [keeper.start("resume", short, "--detach", env=SCRIPT) for _ in range(2)]
    codes = []
    for process in both:
        process.communicate(timeout=60)
        codes.append(as_shell(process.returncode))
    assert sorted(codes) in ([0, 2], [0, 7])
    assert len(shell_runners(keeper)) == 1
    end(keeper, short)


def shell_runners(shell: Shell) -> list[int]:
    return shell.pids("tuibench.runner")


def test_damage_in_the_middle_of_a_journal_costs_what_it_held_and_nothing_else(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "--executions", "5", "-t", "2.5")
    keeper.wait_for("execution_done", n=3)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan", DEATH_S)
    (directory,) = keeper.run_root.iterdir()
    lines = (directory / NAME).read_bytes().splitlines(keepends=True)
    hit = next(i for i, line in enumerate(lines) if b'"execution_done"' in line)
    lines[hit] = lines[hit][:50] + b"#" + lines[hit][51:]
    (directory / NAME).write_bytes(b"".join(lines))
    assert "1 line of its journal cannot be read" in Workbench().runs.info(short).detail
    done = run(keeper, "resume", short)
    assert done.code == 0, done.err
    (row,) = Workbench().store.benchmarks.rows()
    assert len(Workbench().store.benchmarks.get(row.id).result.cells[0].executions) == 5


@pytest.mark.parametrize("end_of_file", [b"", b"0", b'1234abcd {"v": 1, "seq"'])
def test_a_run_killed_before_it_began_can_be_taken_up(keeper: Shell, end_of_file: bytes) -> None:
    short = detach(keeper, *BRIEF)
    until(lambda: not keeper.processes(), "the end")
    (directory,) = keeper.run_root.iterdir()
    (directory / NAME).write_bytes(end_of_file)
    for ulid in stored():
        Workbench().store.trash.remove([ulid])
    done = run(keeper, "resume", short)
    assert done.code == 0, done.err
    assert len(stored()) == 1


def test_everything_is_for_its_owner_alone_whatever_the_umask(keeper: Shell) -> None:
    done = run(keeper, "benchmark", *BRIEF, before=lambda: os.umask(0) and None)
    assert done.code == 0, done.err
    home = Path(os.environ["TUIBENCH_HOME"])
    modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
    assert len(modes) > 20
    assert {name: oct(mode) for name, mode in modes.items() if mode not in (0o700, 0o600)} == {}

"""Interrupted runs that are resumed: nothing is measured twice, unlike conditions are not mixed."""

from __future__ import annotations

import json
import os
import random
import secrets
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.cli.running import BRIEF, FAKE, LONG, SCRIPT, detach, end, run, runner_of, state, stored
from tests.cli.shell import Shell, as_shell, until
from tests.conftest import ROOT
from tests.engines.make import mlp
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.reason import SAVED_AS_FAR, Reason
from tuibench.runs.journal import NAME, encode, read_events, read_history
from tuibench.services.api import Services


@dataclass(frozen=True)
class Broken:
    """A run whose runner was killed after three executions."""

    home: Path
    copy: Path
    """Copy of the home as the runner left it."""
    short: str
    model: Path


@pytest.fixture(scope="module")
def broken_once(tmp_path_factory: pytest.TempPathFactory) -> Broken:
    """Make one broken run per session, because making it takes longer than most tests that use it."""
    home, copy = tmp_path_factory.mktemp("broken"), tmp_path_factory.mktemp("copy")
    model = Path(mlp().save(home))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TUIBENCH_HOME", str(home / "tuibench"))
        patched.setenv("TUIBENCH_HOST_LOCK", f"tuibench-{secrets.token_hex(8)}")
        patched.setenv("PYTHONPATH", str(ROOT))
        shell = Shell(tmp_path_factory.mktemp("tmp"), save=True)
        short, _ = break_off(shell, str(model), *LONG[1:], executions=3)
    shutil.copytree(home, copy, dirs_exist_ok=True)
    return Broken(home, copy, short, model)


@pytest.fixture
def broken(broken_once: Broken, monkeypatch: pytest.MonkeyPatch) -> Broken:
    """Restore the broken run at its original path, because its files contain paths."""
    shutil.rmtree(broken_once.home)
    shutil.copytree(broken_once.copy, broken_once.home)
    monkeypatch.setenv("TUIBENCH_HOME", str(broken_once.home / "tuibench"))
    return broken_once


def break_off(shell: Shell, *arguments: str, executions: int = 1) -> tuple[str, Path]:
    """Kill the runner of a run that has measured something; return its short id and its directory."""
    short = detach(shell, *arguments)
    shell.wait_for("execution_done", n=executions)
    os.kill(runner_of(shell), signal.SIGKILL)
    until(lambda: not shell.processes(), "no orphan")
    until(lambda: state(short) == "interrupted", "the state")
    (directory,) = shell.run_root.iterdir()
    return short, directory


def test_run_with_dead_runner_is_interrupted_and_resumable(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "-b", "1,2", "--executions", "3", "-t", "0.3")
    keeper.wait_for("execution_done", n=2)
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: state(short) == "interrupted", "the state")
    until(lambda: not keeper.processes(), "no orphan")
    assert stored() == []
    done = run(keeper, "resume", short)
    assert done.code == 0, done.err
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.cells, row.measured) == ("finished", 2, 2)
    result = Services().store.benchmarks.get(row.id).result
    assert [len(cell.executions) for cell in result.cells] == [3, 3]
    assert {cell.sittings for cell in result.cells} == {2}
    assert len(result.sittings) == 2
    assert sum(sitting.executions for sitting in result.sittings) == 7, "six and the one that compares the sittings"
    again = run(keeper, "resume", short)
    assert again.code == 2


def test_partial_data_can_be_saved_without_measuring_or_model(keeper: Shell, broken: Broken) -> None:
    broken.model.unlink()
    done = run(keeper, "resume", broken.short, "--finish")
    assert done.code in (0, 1), done.err
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("interrupted", 1)
    assert state(broken.short) == "finished"


def commands_that_work(short: str) -> tuple[str, str]:
    """Return the two commands for a run that this machine refuses to resume."""
    return f"tuibench resume {short} --mixed", f"tuibench resume {short} --finish"


def test_resume_on_a_changed_machine_is_refused_unless_mixed(keeper: Shell, broken: Broken) -> None:
    short = broken.short
    slower = {"TUIBENCH_FAKE": json.dumps({"default": {"latency_us": 450}})}
    refused = keeper.run("resume", short, env=slower)
    assert refused.code == 14, refused.err
    for command in commands_that_work(short):
        assert command in refused.err
    assert f"resume {short} measures" not in refused.err
    assert state(short) == "interrupted"
    taken = keeper.start("resume", short, "--mixed", "--detach", env=slower)
    taken.communicate(timeout=30)
    keeper.wait_for("execution_done", n=6)
    end(keeper, short)
    (row,) = Services().store.benchmarks.rows()
    result = Services().store.benchmarks.get(row.id).result
    assert any(warning.code == "mixed" for warning in result.warnings)


def test_resume_with_a_changed_model_is_refused(keeper: Shell, broken: Broken) -> None:
    short, model = broken.short, broken.model
    original = model.read_bytes()
    model.unlink()
    gone = run(keeper, "resume", short)
    assert gone.code == 3
    model.write_bytes(original.replace(b"Relu", b"Tanh"))
    changed = run(keeper, "resume", short)
    assert changed.code == 3
    assert state(short) == "interrupted"
    model.write_bytes(original)
    taken = keeper.start("resume", short, env=SCRIPT)
    measured = Services().runs.info(short).executions
    until(lambda: len([e for e in keeper.events() if e["ev"] == "execution_done"]) > measured, "it goes on")
    end(keeper, short)
    taken.communicate(timeout=30)
    assert len(stored()) == 1


def kill_and_resume(shell: Shell, kills: int, executions: int, seed: int) -> None:
    """Kill runners at random times and resume after each kill; start another run if one ends before all kills."""
    draw = random.Random(seed)
    wanted = (*FAKE, "-b", "1,2,4", "--executions", str(executions), "-t", str(executions * 0.03))
    short, runs, saved = detach(shell, *wanted), 1, set[str]()
    for _ in range(kills):
        time.sleep(draw.uniform(0.0, 1.3))
        while not (runners := shell.pids("tuibench.runner")):
            # Ended before the kill: by its last execution, or because this busy machine is slower than before.
            if state(short) == "finished":
                short, runs = detach(shell, *wanted), runs + 1
            else:
                go_on(shell, short)
        for pid in runners:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not shell.processes(), "no orphan")
        if settled(short) == "finished":
            saved.add(Services().runs.info(short).id)  # killed after its last result; perhaps before its last event
            short, runs = detach(shell, *wanted), runs + 1
        else:
            go_on(shell, short)
    attached = run(shell, "attach", short, "-q", seconds=600)
    assert attached.code == 0, attached.err
    directories = list(shell.run_root.iterdir())
    assert len(directories) == runs
    for directory in directories:
        history = read_history(directory)
        assert (history.damaged, history.lost) == ((), 0)
        done = (e for e in history.events if e["ev"] == "execution_done" and not e["anchor"])
        measured = Counter((e["cell"], e["n"]) for e in done)
        assert set(measured.values()) == {1}, "an execution is in the journal twice"
        assert {*Counter(c for c, _ in measured).values()} == {executions}
        info = Services().runs.info(directory.name)
        ends = [e["status"] for e in history.events if e["ev"] == "run_end"]
        if info.id in saved and "finished" not in ends:
            assert info.detail == Reason(SAVED_AS_FAR)
        else:
            assert ends.count("finished") == 1, ends
    rows = Services().store.benchmarks.rows()
    assert [(row.status, row.measured) for row in rows] == [("finished", 3)] * runs


def go_on(shell: Shell, short: str) -> None:
    """Resume an interrupted run with a detached runner."""
    assert settled(short) == "interrupted"
    done = run(shell, "resume", short, "--detach")
    assert done.code == 0, done.err


def settled(short: str) -> str:
    """Return the state of a run whose processes have ended; fail with all that is known about it in another state.

    The kernel frees a dead process's memory, which identifies it, before it releases its locks.
    """
    try:
        return until(lambda: found if (found := state(short)) in ("interrupted", "finished") else None, "the state")
    except AssertionError as error:
        info = Services().runs.info(short)
        events = [(e["seq"], e["ev"], e.get("status"), e.get("error")) for e in read_events(Path(info.directory))]
        raise AssertionError(f"{error}: {info}; stored {stored()}; {events[-20:]}") from error


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kills", "executions"), [(20, 30), (100, 90)])
def test_runner_killed_at_random_points_measures_nothing_twice(keeper: Shell, kills: int, executions: int) -> None:
    kill_and_resume(keeper, kills, executions, seed=kills)


def test_two_resumes_of_one_run_exclude_each_other(keeper: Shell, broken: Broken) -> None:
    both = [keeper.start("resume", broken.short, "--detach", env=SCRIPT) for _ in range(2)]
    codes = []
    for process in both:
        process.communicate(timeout=60)
        codes.append(as_shell(process.returncode))
    assert sorted(codes) in ([0, 2], [0, 7])
    assert len(keeper.pids("tuibench.runner")) == 1
    end(keeper, broken.short)


def test_damage_inside_a_journal_costs_only_the_damaged_events(keeper: Shell) -> None:
    short, directory = break_off(keeper, *FAKE, "--executions", "5", "-t", "0.5", executions=2)
    lines = (directory / NAME).read_bytes().splitlines(keepends=True)
    hit = next(i for i, line in enumerate(lines) if b'"execution_done"' in line)
    lines[hit] = lines[hit][:50] + b"#" + lines[hit][51:]
    (directory / NAME).write_bytes(b"".join(lines))
    detail = Services().runs.info(short).detail
    assert detail is not None and [one.code for one in detail.fields["reasons"]] == ["runner_died", "lines_unreadable"]
    done = run(keeper, "resume", short)
    assert done.code == 0, done.err
    (row,) = Services().store.benchmarks.rows()
    assert len(Services().store.benchmarks.get(row.id).result.cells[0].executions) == 5


@pytest.mark.slow
def test_run_killed_before_it_began_can_be_resumed(keeper: Shell) -> None:
    short = detach(keeper, *BRIEF)
    until(lambda: not keeper.processes(), "the end")
    (directory,) = keeper.run_root.iterdir()
    for end_of_file in (b"", b"0", b'1234abcd {"v": 1, "seq"'):
        (directory / NAME).write_bytes(end_of_file)
        Services().store.trash.remove(stored())
        Services().store.trash.empty()
        done = run(keeper, "resume", short)
        assert done.code == 0, (end_of_file, done.err)
        assert len(stored()) == 1, end_of_file


def test_losers_of_concurrent_resumes_remove_nothing(keeper: Shell) -> None:
    first = detach(keeper)
    second = detach(keeper)
    until(lambda: state(second) == "waiting", "a waiting run")
    for pid in keeper.pids(Services().runs.info(second).id):
        os.kill(pid, signal.SIGKILL)
    until(lambda: state(second) == "interrupted", "its end")
    several = [keeper.start("resume", second, env=SCRIPT) for _ in range(3)]
    until(lambda: sum(process.poll() is not None for process in several) == 2, "two losers")
    assert sorted(as_shell(p.returncode) for p in several if p.returncode is not None) in ([2, 2], [2, 7], [7, 7])
    # The winner announces itself before it reports that it waits.
    until(lambda: state(second) == "waiting", "the winner in line")
    assert run(keeper, "cancel", second).code == 0
    for process in several:
        process.communicate(timeout=30)
    end(keeper, first)


def happened(shell: Shell, ev: str, since: int) -> bool:
    return any(event["ev"] == ev for event in shell.events()[since:])


def test_interrupted_resume_leaves_the_run_resumable(keeper: Shell, broken: Broken) -> None:
    short = broken.short
    for moment in ("sitting", "granted", "execution_start"):
        seen = len(keeper.events())
        process = keeper.start("resume", short, env=SCRIPT)
        until(partial(happened, keeper, moment, seen), moment)
        process.terminate()
        process.communicate(timeout=30)
        assert as_shell(process.returncode) == 143
        assert Services().runs.info(short).resumable
    taken = keeper.start("resume", short, env=SCRIPT)
    until(lambda: sum(e["ev"] == "sitting" for e in keeper.events()) == 4, "a sitting")
    end(keeper, short)
    taken.communicate(timeout=30)
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("cancelled", 1), "cancel means the run, not the session"


def test_unresumable_run_can_be_discarded(keeper: Shell) -> None:
    short = detach(keeper)
    with refused(UsageError, "run_in_state", state="running", asked="discard"):
        Services().runs.discard(short)
    keeper.wait_for("execution_done")
    os.kill(runner_of(keeper), signal.SIGKILL)
    until(lambda: not keeper.processes(), "no orphan")
    (directory,) = keeper.run_root.iterdir()
    lines = (directory / NAME).read_bytes().splitlines(keepends=True)
    plan = next(i for i, line in enumerate(lines) if b'"ev":"plan"' in line)
    lines[plan] = b"#" + lines[plan][1:]
    (directory / NAME).write_bytes(b"".join(lines))
    until(lambda: state(short) == "interrupted", "the state")
    info = Services().runs.info(short)
    assert (info.state, info.resumable) == ("interrupted", False)
    done = run(keeper, "attach", short)
    assert (done.code, "internal error" in done.err) == (1, False)
    Services().runs.discard(short)
    assert Services().runs.every() == ()


def test_result_with_a_lost_record_is_saved_again_from_its_journal(keeper: Shell) -> None:
    short = detach(keeper, *FAKE, "--executions", "3", "-t", "0.15", "--name", "precious")
    until(lambda: not keeper.processes(), "the end")
    services = Services()
    before = services.store.benchmarks.get(stored()[0]).result
    (record,) = Path(os.environ["TUIBENCH_HOME"]).rglob(f"{before.id}.json")
    record.write_bytes(b"nothing of it")
    assert run(keeper, "store", "check", "--read-data", "--repair").code == 0
    assert stored() == []
    assert state(short) == "unsaved"
    assert run(keeper, "resume", "precious").code == 0
    after = Services().store.benchmarks.get(before.id)
    assert after.metadata.name == "precious"
    assert [cell.latency_ms for cell in after.result.cells] == [cell.latency_ms for cell in before.cells]
    assert after.result.seconds == pytest.approx(before.seconds)
    (directory,) = keeper.run_root.iterdir()
    end = read_history(directory).events[-1]
    assert (end["status"], end["reason"], end["saved"]) == ("finished", "", True), "its runner did not die"


def test_journal_without_its_head_still_yields_measurements(keeper: Shell, broken: Broken) -> None:
    short = broken.short
    (directory,) = keeper.run_root.iterdir()
    (directory / NAME).write_bytes(b"#" + (directory / NAME).read_bytes()[1:])
    info = Services().runs.info(short)
    assert (info.state, info.resumable) == ("interrupted", True)
    assert info.executions >= 2
    attached = run(keeper, "attach", short)
    assert (attached.code, "ms" in attached.out) == (1, True), attached.err
    done = run(keeper, "resume", short, "--finish")
    assert "saved as" in done.err
    (row,) = Services().store.benchmarks.rows()
    assert (row.status, row.measured) == ("interrupted", 1)


def test_purged_benchmark_leaves_no_run(keeper: Shell) -> None:
    short = detach(keeper, *BRIEF)
    until(lambda: not keeper.processes(), "the end")
    assert run(keeper, "remove", short, "-y").code == 0
    assert state(short) == "finished", "it is in the trash, and can come back"
    assert run(keeper, "trash", "empty", "-y").code == 0
    assert Services().runs.every() == ()


def test_run_on_another_host_is_not_judged_by_the_local_lock(keeper: Shell) -> None:
    short = detach(keeper, *BRIEF)
    until(lambda: not keeper.processes(), "the end")
    (directory,) = keeper.run_root.iterdir()
    events = list(read_events(directory))
    with (directory / NAME).open("wb") as journal:
        for event in events[:5]:
            journal.write(encode({**event, "host_id": "e" * 16} if event["ev"] == "run_start" else event))
    for command in (("attach", short), ("resume", short)):
        done = run(keeper, *command)
        assert done.code == 2, done.err
    assert "elsewhere" in run(keeper, "ps").out


def test_changed_machine_is_refused_unless_mixed_then_recorded(keeper: Shell) -> None:
    short, directory = break_off(keeper, *FAKE, "--executions", "4", "-t", "0.4")
    events = list(read_events(directory))
    events[0]["host"]["kernel"]["release"] = "5.4.0-before"
    (directory / NAME).write_bytes(b"".join(map(encode, events)))
    refused = run(keeper, "resume", short)
    assert (refused.code, "5.4.0-before" in refused.err) == (14, True)
    assert all(command in refused.err for command in commands_that_work(short))
    assert Services().runs.info(short).resumable
    assert run(keeper, "resume", short, "--mixed").code == 0
    result = Services().store.benchmarks.get(stored()[0]).result
    assert any("5.4.0-before" in change.fields.values() for change in result.sittings[-1].mixed)
    assert result.seconds < 600, "a refused session adds no time"


def test_resume_with_changed_inputs_is_refused(keeper: Shell, folder: Path) -> None:
    import numpy as np

    inputs = folder / "inputs.npz"
    np.savez(inputs, features=np.ones((1, 8), dtype=np.float32))
    short, _ = break_off(keeper, *LONG, "--inputs", str(inputs))
    np.savez(inputs, features=np.zeros((1, 8), dtype=np.float32))
    refused = run(keeper, "resume", short)
    assert (refused.code, "--inputs" in refused.err) == (3, True), refused.err
    assert Services().runs.info(short).resumable


def test_run_with_a_busy_store_ends_at_once_and_is_saved_later(keeper: Shell) -> None:
    import fcntl

    assert run(keeper, "benchmark", *BRIEF).code == 0
    (lock,) = Path(os.environ["TUIBENCH_HOME"]).rglob("tuibench.json.lock")
    process = keeper.start("benchmark", *LONG, env=SCRIPT)
    keeper.wait_for("execution_done", n=2)
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process.terminate()
        _, err = process.communicate(timeout=30)
        assert as_shell(process.returncode) == 143
        assert b"measured, not saved" in err
        # Well before the store's usual 10 s timeout: the lock is still held.
        until(lambda: not keeper.processes(), "no process")
        assert state("last") == "unsaved"
    assert run(keeper, "resume", "last").code in (0, 1)
    assert len(stored()) == 2

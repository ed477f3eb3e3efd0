"""A user's path from a fresh home to a comparison: real terminal, real ONNX Runtime, keys only."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import watched
from tests.cli.shell import Shell, until
from tests.tui.real_terminal import RealTerminal, TmuxTerminal
from tuibench.core import activity
from tuibench.core.ids import short_id
from tuibench.host.topology import read_topology
from tuibench.services.api import Services

TWO_CORES = read_topology(os.sched_getaffinity(0)).usable_cores >= 2
RUN_S = 180.0


@pytest.fixture
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    yield from watched(Shell(tmp_path_factory.mktemp("tmp"), save=True))


def focused(text: str) -> list[str]:
    """Return the places with the focus mark; the machine's load may change other rows at any time."""
    return re.findall(r">(?:[A-Z]|\[ RUN)\w*", text)


def go_to(terminal: RealTerminal, label: str) -> None:
    """Move to the named field, one key at a time; a frame read in parts shows two marks, the old and the new one."""
    for _ in range(40):
        terminal.until(lambda text: len(focused(text)) == 1, "one place has the focus")
        before = focused(terminal.text)
        if any(row.startswith(f">{label}") for row in terminal.rows):
            return
        terminal.press("up")
        terminal.until(lambda text, before=before: focused(text) != before, "the focus moves")  # type: ignore[misc]
    raise AssertionError(f"there is no field {label}\n{terminal.text}")


def fill(terminal: RealTerminal, label: str, value: str) -> None:
    """Replace the text of a field: focus selects it."""
    go_to(terminal, label)
    terminal.press(*value)
    terminal.until(lambda text: f">{label}" in text and f"[{value} " in text, f"{label} is {value}")


def benchmarks() -> list[str]:
    return [row.id for row in Services().library.list()]


@pytest.fixture(params=["a terminal", "tmux"])
def open_terminal(request: pytest.FixtureRequest, keeper: Shell, tmp_path: Path) -> Callable[[], RealTerminal]:
    """Open a terminal with the dashboard in it."""
    if request.param == "a terminal":
        return lambda: RealTerminal(keeper)
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux here")
    return lambda: TmuxTerminal(keeper, tmp_path)


@pytest.mark.slow
def test_user_path_from_fresh_home_to_rerun_and_detached_run(
    keeper: Shell, open_terminal: Callable[[], RealTerminal]
) -> None:
    terminal = open_terminal()
    first = measure_a_sweep(terminal)
    second = measure_again_and_compare(terminal, first)
    remove_and_undo(terminal, first, second)
    going = leave_while_a_run_goes_on(terminal)
    come_back_and_lose_the_terminal(open_terminal(), going)
    until(lambda: going in benchmarks() or None, "the run is saved", RUN_S)
    until(lambda: not keeper.processes() or None, "its processes have ended")


def measure_a_sweep(terminal: RealTerminal) -> str:
    """Create a project of the sample, measure two core counts times two short batches, and show scaling."""
    terminal.see("No project yet")
    terminal.press("enter")
    terminal.see("New project", "parameters")
    terminal.press("enter")
    terminal.see("New benchmark", "same as  tuibench benchmark")
    fill(terminal, "Batches", "1,2")
    fill(terminal, "Cores", "1,2" if TWO_CORES else "1")
    go_to(terminal, "Scenarios")
    terminal.press("left", " ")
    terminal.until(lambda text: "[ ] async" in text or "[ ] sync" in text, "one scenario")
    go_to(terminal, "Effort")
    terminal.press("right")
    terminal.see("(•) quick")
    terminal.press("ctrl+r")
    terminal.see("run ", "1 core")
    terminal.see("finished and saved", " re-run", patience_s=RUN_S)
    terminal.press("enter")
    terminal.see("[1 Base]")
    if TWO_CORES:
        terminal.press("2")
        terminal.see("[2 Cores]", "cores", "eff")
    terminal.press("q")
    terminal.see("Benchmarks (1)")
    (first,) = benchmarks()
    return first


def measure_again_and_compare(terminal: RealTerminal, first: str) -> str:
    """Measure again and compare by one key: the cursor of the list moves to the started run."""
    terminal.press("r")
    terminal.see("Re-run", "y")
    terminal.press("y")
    terminal.see("finished and saved", " re-run", patience_s=RUN_S)
    terminal.press("q")
    terminal.see("Benchmarks (2)")
    second, old = benchmarks()
    assert old == first
    terminal.press("c")
    terminal.see("Comparison", first[-4:].lower(), second[-4:].lower(), "no verdict")
    terminal.press("q")
    return second


def remove_and_undo(terminal: RealTerminal, first: str, second: str) -> None:
    """Remove the newest benchmark and restore it."""
    terminal.see("Benchmarks (2)")
    terminal.press("d")
    terminal.see("Remove", "u restores it")
    terminal.press("y")
    terminal.see("Benchmarks (1)")
    assert benchmarks() == [first]
    terminal.press("u")
    terminal.see("Benchmarks (2)")
    assert benchmarks() == [second, first]


def leave_while_a_run_goes_on(terminal: RealTerminal) -> str:
    """Quit while a run is active and check that it continues."""
    terminal.press("r")
    terminal.see("Re-run")
    terminal.press("y")
    terminal.see("execution 1")
    (going,) = [run.id for run in Services().runs.every() if run.state in activity.ALIVE]
    terminal.press("ctrl+q")
    terminal.see(f"run {short_id(going)} still running: tuibench attach {short_id(going)} follows it")
    assert terminal.end() == 0
    return going


def come_back_and_lose_the_terminal(terminal: RealTerminal, going: str) -> None:
    """Follow the run listed first in its project, then lose the terminal."""
    terminal.see("Projects (1)")
    terminal.press("enter")
    terminal.see(going[-4:].lower(), "cells")
    terminal.press("g", "enter")
    terminal.see(f"run {going[-4:].lower()}", "elapsed")
    terminal.cut()
    assert terminal.wait() == 129


def test_terminal_screen_is_restored_on_exit(keeper: Shell) -> None:
    terminal = RealTerminal(keeper)
    terminal.see("No project yet")
    terminal.press("q")
    assert terminal.end() == 0
    shown = terminal.shown
    assert shown.rstrip().endswith(("\x1b[?25h", "\x1b[?1004l", "\x1b[?1049l", "\x1b[<u")) or "\x1b[?1049l" in shown
    assert shown.rfind("\x1b[?1049l") > shown.rfind("\x1b[?1049h"), "the other screen is left"
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l"), "the cursor is seen again"


def test_ssh_session_requests_no_mouse(keeper: Shell) -> None:
    terminal = RealTerminal(keeper, env={"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"})
    terminal.see("No project yet")
    terminal.press("q")
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[\?100[0236]h", terminal.shown)


def test_path_argument_opens_form_and_one_key_measures(keeper: Shell, tmp_path: Path) -> None:
    model = tmp_path / "mine.onnx"
    sample = Path(__file__).resolve().parents[2] / "tuibench" / "data" / "samples" / "tiny.onnx"
    model.write_bytes(sample.read_bytes())
    terminal = RealTerminal(keeper, str(model))
    terminal.see("mine", "same as  tuibench benchmark")
    terminal.press("enter")
    terminal.see("run ", "elapsed")
    terminal.press("X")
    terminal.see("Cancel this run?")
    terminal.press("y")
    terminal.see("cancelled")
    terminal.press("ctrl+q")
    assert terminal.end() == 0

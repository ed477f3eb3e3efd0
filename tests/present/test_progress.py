from __future__ import annotations

import io
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.text import show, width_of
from tuibench.present.progress import PAINT_EVERY_S, ProgressPainter, Snapshot, can_repaint, progress_line

FULL = Snapshot(4, 12, "onnxruntime sync 2×8", 17.1, 0.031, "A", 190.0, "execution 3 of 5")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A terminal that interprets carriage returns only."""

    def screen(self) -> str:
        line: list[str] = []
        for chunk in self.getvalue().rpartition("\n")[2].split("\r"):
            line = [*chunk, *line[len(chunk) :]]
        return "".join(line).rstrip()


def test_snapshot_becomes_one_line() -> None:
    assert progress_line(FULL) == "5/12 · onnxruntime sync 2×8 · 17.1 ms ±3.1 % · A · 3m10 left · execution 3 of 5"
    assert progress_line(Snapshot(0, 0, activity="inspecting the model")) == "inspecting the model"
    assert progress_line(Snapshot(12, 12)) == "12/12"
    assert progress_line(Snapshot(0, 2, p50_ms=0.004)) == "1/2 · 4.00 µs"


def test_single_part_has_the_whole_line() -> None:
    waiting = "queued, position 1: pid 7834 of root, run k6sq, about 17 s left, and then it begins"
    assert progress_line(Snapshot(0, 0, activity=waiting[:79])) == waiting[:79]
    assert progress_line(Snapshot(0, 0, activity=waiting)) == waiting[:78] + "…"


def test_least_important_parts_are_cut_first() -> None:
    long = replace(FULL, label="a very long engine and model name " * 3)
    line = progress_line(long)
    assert width_of(line) <= 79 and "execution 3" not in line
    assert "17.1 ms ±3.1 %" in line and "3m10 left" in line
    assert "17.1 ms" in progress_line(long, width=40)


@given(
    st.builds(
        Snapshot, st.integers(0, 9999), st.integers(0, 9999), st.text(max_size=90), st.none() | st.floats(1e-6, 1e9),
        st.none() | st.floats(0, 10), st.sampled_from([None, "A", "\x1b[2J"]), st.none() | st.floats(-5, 1e7),
        st.text(max_size=90),
    )
)  # fmt: skip
def test_any_snapshot_fits_and_cannot_drive_the_terminal(snapshot: Snapshot) -> None:
    line = progress_line(snapshot)
    assert width_of(line) <= 79
    assert show(line) == line


def painter(in_place: bool, ascii_only: bool = False) -> tuple[ProgressPainter, Terminal, Clock]:
    terminal, clock = Terminal(), Clock()
    return ProgressPainter(terminal, clock, in_place, ascii_only), terminal, clock


def test_terminal_is_repainted_at_most_once_a_second() -> None:
    paint, terminal, clock = painter(in_place=True)
    for step in range(100):
        paint.update(replace(FULL, p50_ms=10.0 + step / 10))
        clock.now += 0.0625
    assert terminal.getvalue().count("\r") == 7
    assert terminal.screen() == progress_line(replace(FULL, p50_ms=10.0 + 96 / 10))


def test_unchanged_line_writes_nothing() -> None:
    paint, terminal, clock = painter(in_place=True)
    for _ in range(5):
        paint.update(FULL)
        clock.now += PAINT_EVERY_S
    assert terminal.getvalue().count("\r") == 1


def test_shorter_line_erases_the_longer_one() -> None:
    paint, terminal, clock = painter(in_place=True)
    paint.update(FULL)
    clock.now += PAINT_EVERY_S
    paint.update(Snapshot(5, 12))
    assert terminal.screen() == "6/12"


def test_clear_leaves_an_empty_line_without_escape_codes() -> None:
    paint, terminal, _ = painter(in_place=True)
    paint.clear()
    assert terminal.getvalue() == ""
    paint.update(FULL)
    paint.clear()
    assert terminal.screen() == "" and terminal.getvalue().endswith("\r")
    assert "\x1b" not in terminal.getvalue()


def test_permanent_line_replaces_the_repainted_one() -> None:
    paint, terminal, _ = painter(in_place=True)
    paint.update(FULL)
    paint.say("cell failed: \x1b[31m")
    assert terminal.getvalue().endswith("\rcell failed: \\e[31m\n")
    paint.update(FULL)
    assert terminal.screen() == progress_line(FULL)


def test_repainted_line_fits_a_narrow_terminal() -> None:
    terminal = Terminal()
    ProgressPainter(terminal, Clock(), True, columns=partial(_given, 50)).update(FULL)
    assert width_of(progress_line(FULL)) > 49 >= width_of(terminal.screen()) > 0


def _given(columns: int | None) -> int | None:
    return columns


@pytest.mark.parametrize("ascii_only", [False, True])
def test_permanent_line_breaks_between_words_at_a_terminal_only(ascii_only: bool) -> None:
    text = "this machine is measuring: pid 7 of ann, run 8n5p, about 1 min left; this run is queued (--no-wait: exit)"
    for columns in (40, None):
        terminal = Terminal()
        ProgressPainter(terminal, Clock(), columns is not None, ascii_only, partial(_given, columns)).say(text)
        lines = terminal.getvalue().splitlines()
        assert " ".join(line.strip() for line in lines) == text
        assert (max(map(len, lines)) <= 40) is (columns is not None)


def test_pipe_gets_a_line_per_cell_and_every_30_seconds() -> None:
    paint, terminal, clock = painter(in_place=False)
    for _ in range(70):
        paint.update(FULL)
        clock.now += 1
    assert terminal.getvalue().splitlines() == [progress_line(FULL)] * 2
    paint.cell_done("done: 17.1 ms")
    clock.now += 29
    paint.update(FULL)
    assert terminal.getvalue().splitlines()[2:] == ["done: 17.1 ms"]
    assert "\r" not in terminal.getvalue()


def test_finished_cell_adds_no_line_on_a_terminal() -> None:
    paint, terminal, _ = painter(in_place=True)
    paint.cell_done("done")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("in_place", [True, False])
def test_ascii_progress_is_ascii_and_fits(in_place: bool) -> None:
    paint, terminal, clock = painter(in_place, ascii_only=True)
    clock.now += 31
    paint.update(replace(FULL, label="×" * 40))
    assert terminal.getvalue().isascii() and terminal.getvalue()
    assert all(len(line) <= 79 for line in terminal.screen().splitlines())


def test_only_a_terminal_with_a_cursor_is_repainted() -> None:
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert can_repaint(Tty(), "xterm") is True
    assert can_repaint(Tty(), "dumb") is False
    assert can_repaint(Tty(), "") is False
    assert can_repaint(io.StringIO(), "xterm") is False


class Gone(io.StringIO):
    """A pipe whose reader is gone."""

    tries = 0

    def write(self, text: str) -> int:
        self.tries += 1
        raise BrokenPipeError(32, "Broken pipe")


def test_closed_reader_is_no_error_and_is_written_once() -> None:
    stream = Gone()
    paint = ProgressPainter(stream, Clock(), True)
    paint.write("the plan\n")
    paint.update(FULL)
    paint.say("a warning")
    paint.clear()
    assert stream.tries == 1

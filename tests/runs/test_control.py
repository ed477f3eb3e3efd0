"""Control requests as files: each counts once, and invalid ones do no harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runs.test_schedule import make
from tuibench.runs.control import ControlPoller, ControlRequests, MoreTime
from tuibench.runs.journal import Journal, read_events
from tuibench.runs.supervision import Bounds

OLD, NEW = "01M7QJXH866DK1S3FNRAFAA4P6", "01M7QJXH866DK1S3FNRAFAA4P7"


def test_no_file_is_no_request(tmp_path: Path) -> None:
    box = ControlRequests(tmp_path)
    assert (box.finish_asked, box.more_time(), os.listdir(tmp_path)) == (False, (), [])
    box.forget_finish()


def test_repeated_finish_requests_count_once(tmp_path: Path) -> None:
    box = ControlRequests(tmp_path)
    box.ask_to_finish()
    box.ask_to_finish()
    assert ControlRequests(tmp_path).finish_asked
    box.forget_finish()
    assert not box.finish_asked


def test_extensions_are_oldest_first_until_withdrawn(tmp_path: Path) -> None:
    box = ControlRequests(tmp_path)
    box.ask_for_time(NEW, 5.0)
    box.ask_for_time(OLD, 30.0)
    assert ControlRequests(tmp_path).more_time() == (MoreTime(OLD, 30.0), MoreTime(NEW, 5.0))
    box.withdraw(OLD)
    box.withdraw(OLD)
    assert box.more_time() == (MoreTime(NEW, 5.0),)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"more_s": "x"}', '{"more_s": NaN}', '{"more_s": -1}', '{"more_s": 1e300}', "[" * 9999]
)
def test_invalid_request_file_is_ignored(tmp_path: Path, content: str) -> None:
    box = ControlRequests(tmp_path)
    box.ask_for_time(OLD, 1.0)
    (tmp_path / "wishes" / OLD).write_text(content)
    (tmp_path / "wishes" / "notes").write_text('{"more_s": 1}')
    os.mkfifo(tmp_path / "wishes" / NEW)
    assert box.more_time() == ()


def test_each_request_is_granted_once_after_a_crash(tmp_path: Path) -> None:
    box, journal, schedule = ControlRequests(tmp_path), Journal(tmp_path), make(1)
    box.ask_for_time(OLD, 10.0)
    first = ControlPoller(tmp_path, journal, Bounds(1.0, None))
    first.poll(schedule)
    first.poll(schedule)
    box.ask_for_time(OLD, 10.0)
    ControlPoller(tmp_path, journal, Bounds(1.0, None), {OLD}).poll(schedule)
    assert box.more_time() == ()
    box.ask_for_time(NEW, 5.0)
    first.poll(schedule)
    (one, two) = read_events(tmp_path)
    assert [(e["ev"], e["wish"], e["limit_s"], e["executions"]) for e in (one, two)] == [
        ("extended", OLD, 10.0, 6),
        ("extended", NEW, 5.0, 3),
    ]
    (key,) = schedule.tracks
    assert two["cells"] == {key: {"limit_s": 25.0, "executions": 15}}


def test_extension_waits_for_the_plan_and_moves_the_command_end(tmp_path: Path) -> None:
    box, journal, bounds = ControlRequests(tmp_path), Journal(tmp_path), Bounds(1.0, 100.0)
    control = ControlPoller(tmp_path, journal, bounds)
    box.ask_for_time(OLD, 7.0)
    control.poll(None)
    assert (bounds.deadline, list(read_events(tmp_path))) == (100.0, [])
    control.poll(make(1))
    assert bounds.deadline == 107.0


def test_finishing_run_gets_no_extension(tmp_path: Path) -> None:
    box, journal = ControlRequests(tmp_path), Journal(tmp_path)
    control = ControlPoller(tmp_path, journal, Bounds(1.0, None))
    box.ask_for_time(OLD, 7.0)
    box.ask_to_finish()
    for _ in range(2):
        control.poll(make(1))
    assert control.finishing
    assert [event["ev"] for event in read_events(tmp_path)] == ["finish_asked"]

"""Journal lines with a valid checksum and invalid content: every reader reports damage, none crashes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.services.script import HERE, ScriptedRun
from tuibench.cli.publication import page
from tuibench.core import activity
from tuibench.core.errors import StoreDamaged, TuibenchError
from tuibench.core.reason import Reason, because
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.reason import reason_words
from tuibench.runs.journal import NAME, decode, read_history
from tuibench.runs.observer import RunObserver, StateContext, read_replay, read_state
from tuibench.services.run_view import RunWatch

OBSERVER = StateContext(HERE, "")
NONSENSE: tuple[Any, ...] = (None, -1, 0, 2**62, True, "x", [None], {})
BODIES = (
    b"[" * 100_000,
    b'{"seq":2,"t_ns":3,"ev":"warning","message":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"seq":2,"t_ns":3,"ev":"warning","message":"x","a":NaN}',
    b'{"seq":2,"t_ns":3,"ev":"warning","message":"x","a":1e999}',
    b'{"seq":2,"t_ns":3,"ev":"warning","message":"x","a":%d}' % 2**63,
    b'{"seq":-2,"t_ns":3,"ev":"warning","message":"x"}',
    b'{"seq":2,"t_ns":null,"ev":"warning","message":"x"}',
    b'{"seq":2,"t_ns":3,"ev":["warning"],"message":"x"}',
    b'{"seq":2,"t_ns":3,"v":"1","ev":"warning","message":"x"}',
    b"null",
    b"{}",
    b"",
)


def line(body: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(body), body)


@pytest.fixture
def run(tmp_path: Path) -> ScriptedRun:
    """A run with every kind of event."""
    run = ScriptedRun(tmp_path)
    run.begin(pid_start=5)
    holder = {"pid": 7, "user": "ada", "run": "", "eta_s": 5.0, "stopped": False, "brief": False}
    run.say("waiting", place=1, holder=holder)
    run.say("granted", waited_s=1.5, shared=False)
    run.plan()
    run.start(0, 1)
    run.progress(0, half_width_pct=2.0, grade="A")
    run.done(0, 1)
    run.done(0, -1, anchor=True)
    run.finish(0)
    run.say("extended", wish="w", limit_s=3.0, executions=2, cells={run.cells[0].key: {"limit_s": 3, "executions": 2}})
    run.progress(None, activity="looking", stage="layers", done=1, of=2, eta_s=3.0)
    run.fail(1)
    run.say("warning", cell=run.cells[0].key, message="slow")
    run.say("sitting", boot_id="c" * 36, pid=3, started_utc="2026-11-18T11:00:00Z", mixed=[])
    run.say("finish_asked")
    run.end(reason="", saved=True)
    return run


def read_all(run: ScriptedRun) -> list[str]:
    """Read a run as every command does; return the readers' errors."""
    info = read_state(run.directory, OBSERVER)
    said = [reason_words(info.detail)]
    attached = RunObserver(run.directory.path)
    eyes = RunWatch(run.directory, lambda: OBSERVER)

    def attach() -> None:
        list(attached.events())
        page(attached.result(), False)

    def save() -> None:
        read_replay(run.directory)[0].result()

    for read in (attach, eyes.look, save):
        try:
            read()
        except TuibenchError as error:
            said.append(message_words(error))
    return said


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a JSON value."""
    yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("number", [n for n in range(17) if n != 7])  # 6 and 7 are alike
def test_any_value_at_any_place_breaks_no_reader(run: ScriptedRun, number: int) -> None:
    path = run.directory.path / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 17
    event = decode(lines[number])
    assert event is not None
    for index, place in enumerate(places(event)):
        # Neighbours have the other values: most places have several of their kind.
        for new in NONSENSE[index % 2 :: 2]:
            body = json.dumps(changed(event, place, new)).encode()
            path.write_bytes(b"".join([*lines[:number], line(body), *lines[number + 1 :]]))
            read_all(run)


@pytest.mark.parametrize("body", BODIES)
def test_line_that_is_no_event_is_damage(run: ScriptedRun, body: bytes) -> None:
    path = run.directory.path / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], line(body), *lines[3:-1]]))
    assert read_history(run.directory.path).damaged == (3,)
    assert "1 line of its journal cannot be read" in reason_words(read_state(run.directory, OBSERVER).detail)
    attached = RunObserver(run.directory.path)
    assert list(attached.events())
    view = RunWatch(run.directory, lambda: OBSERVER).look()
    for warnings in (attached.result().warnings, view.warnings, read_replay(run.directory)[0].result().warnings):
        assert warnings[-1] == because("lines_unreadable", lines=1)


def test_nonsense_event_is_damage_to_every_reader(run: ScriptedRun) -> None:
    path = run.directory.path / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    event = decode(lines[6])
    assert event is not None
    event["result"]["p50_ns"] = -5.0
    path.write_bytes(b"".join([*lines[:6], line(json.dumps(event).encode()), *lines[7:-1]]))
    said = read_all(run)
    assert len(said) == 4 and all("event 6 (execution_done) is damaged" in words for words in said)
    with pytest.raises(StoreDamaged) as caught:
        read_replay(run.directory)
    assert "start the benchmark again" in hint_words(caught.value)


@pytest.mark.parametrize("content", [b"\n", b" \n\n", b"\0" * 4096, b"junk\n"])
def test_blank_journal_is_damage(tmp_path: Path, content: bytes) -> None:
    run = ScriptedRun(tmp_path)
    (run.directory.path / NAME).write_bytes(content)
    info = read_state(run.directory, OBSERVER)
    assert info.state == activity.INTERRUPTED
    assert "its journal is damaged" in reason_words(info.detail) or "cannot be read" in reason_words(info.detail)
    read_all(run)


def test_empty_journal_has_not_begun(tmp_path: Path) -> None:
    run = ScriptedRun(tmp_path)
    (run.directory.path / NAME).touch()
    assert read_state(run.directory, OBSERVER).detail == Reason("not_begun")

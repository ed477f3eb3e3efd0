"""Journals with nonsense under a valid checksum: every command reports damage, none crashes."""

from __future__ import annotations

import zlib

import pytest

from tests.cli.running import BRIEF, FAKE, run
from tests.cli.shell import Shell
from tests.cli.test_end_to_end_resume import break_off
from tuibench.runs.journal import NAME, encode, read_events


def with_checksum(body: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(body), body)


def test_a_nested_line_with_a_valid_checksum_is_damage(keeper: Shell) -> None:
    short, directory = break_off(keeper, *FAKE, "--executions", "3", "-t", "0.4", executions=1)
    with (directory / NAME).open("ab") as journal:
        journal.write(with_checksum(b"[" * 100_000))
        journal.write(encode({"v": 1, "seq": 10**6, "t_ns": 10**6, "ev": "heartbeat"}))
    words = "1 line of its journal cannot be read"
    listed, attached = run(keeper, "ps"), run(keeper, "attach", short)
    assert words in listed.out and words in attached.err
    done = run(keeper, "resume", short)
    assert done.code == 0 and words in done.err, done.err


def test_nonsense_event_is_reported_by_every_command(keeper: Shell) -> None:
    short, directory = break_off(keeper, *FAKE, "--executions", "3", "-t", "0.4", executions=1)
    events = list(read_events(directory))
    events[-1] |= {"ev": "granted", "waited_s": None, "shared": False}
    events.append({**events[-1], "ev": "granted", "waited_s": -1, "shared": False})
    (directory / NAME).write_bytes(b"".join(map(encode, events)))
    before = (directory / NAME).read_bytes()
    assert "damaged" in run(keeper, "ps").out
    for command, code in ((("attach", short), 6), (("resume", short), 2), (("resume", short, "--finish"), 2)):
        done = run(keeper, *command)
        assert (done.code, "(granted)" in done.err) == (code, True), done.err
    assert (directory / NAME).read_bytes() == before


@pytest.mark.parametrize(("content", "code", "words"), [(b"\n", 1, "nothing to save"), (b" \n\n", 2, "cannot be read")])
def test_blank_journal_has_nothing_to_save(keeper: Shell, content: bytes, code: int, words: str) -> None:
    short, directory = break_off(keeper, *BRIEF)
    (directory / NAME).write_bytes(content)
    assert "be read" in run(keeper, "ps").out
    done = run(keeper, "resume", short, "--finish")
    assert (done.code, words in done.err, "internal error" in done.err) == (code, True, False), done.err

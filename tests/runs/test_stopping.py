"""Signals and lifeline events that a waiting runner receives, and the effect of each."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tuibench.core.reason import because
from tuibench.runs.task import DETACH, KNOCK, SIGNALS, Cancelled, StopSwitch


@pytest.fixture
def listening() -> Iterator[StopSwitch]:
    """A switch that handles this process's signals until the test ends."""
    before = {number: signal.getsignal(number) for number in (*SIGNALS, KNOCK)}
    stop = StopSwitch()
    stop.listen()
    yield stop
    for number, handler in before.items():
        signal.signal(number, handler)
    stop.close()


def test_wake_signal_calls_every_beat_at_once_and_ends_nothing(listening: StopSwitch) -> None:
    called = []
    listening.beat_with(lambda: called.append("first"))
    listening.beat_with(lambda: called.append("second"))
    for _ in range(100_000):
        listening._hear_knocking(KNOCK, None)
    os.kill(os.getpid(), KNOCK)
    listening.pause(0.0)
    assert called == ["first", "second"], "however often somebody knocked"
    listening.pause(0.0)
    assert len(called) == 2, "and nobody knocked since"
    listening.check()


def test_wake_signal_to_a_process_without_handler_ends_nothing() -> None:
    sleeper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    sleeper.send_signal(KNOCK)
    assert sleeper.communicate(b"alive")[0] == b"alive"


def test_signal_ends_the_wait_with_its_name(listening: StopSwitch) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(Cancelled) as caught:
        listening.pause(60.0)
    assert caught.value.reason == because("signal", signal="SIGTERM")


@pytest.mark.parametrize(("word", "ends"), [(DETACH, False), (b"", True)])
def test_end_of_the_client_counts_unless_it_detached(word: bytes, ends: bool) -> None:
    reader, writer = os.pipe()
    stop = StopSwitch(reader)
    os.write(writer, word)
    if word:
        stop.check()
    os.close(writer)
    if ends:
        with pytest.raises(Cancelled, match="client_gone"):
            stop.check()
    else:
        stop.pause(0.0)
    stop.close()
    os.close(reader)


def test_run_detached_from_the_start_ignores_its_client() -> None:
    reader, writer = os.pipe()
    stop = StopSwitch(reader)
    stop.detach()
    os.close(writer)
    stop.pause(0.0)
    stop.check()
    stop.close()
    os.close(reader)

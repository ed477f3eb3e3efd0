"""Signals raise where they arrive, survive finalizers, and wait while they are blocked."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tuibench.cli.terminal import CODES, Ended, Interruption, held_back


@pytest.fixture
def defaults() -> Iterator[None]:
    """Reset the signals, which the test runner may ignore; restore its handlers afterwards."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in CODES}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def interruption(defaults: None) -> Interruption:
    """An installed interruption."""
    interruption = Interruption()
    interruption.listen()
    return interruption


def test_signals_ignored_by_the_parent_stay_ignored(defaults: None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interruption = Interruption()
    interruption.listen()
    signal.raise_signal(signal.SIGHUP)
    interruption.check()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_first_signal_raises_and_sets_the_exit_code(interruption: Interruption, number: signal.Signals) -> None:
    with pytest.raises(Ended) as ended:
        signal.raise_signal(number)
    assert ended.value.code == CODES[number]


def test_further_signals_do_not_disturb_the_shutdown(interruption: Interruption) -> None:
    with pytest.raises(Ended):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    with pytest.raises(Ended) as ended:
        interruption.check()
    assert ended.value.code == CODES[signal.SIGTERM]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signal_inside_a_finalizer_is_raised_at_the_next_check(interruption: Interruption) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    interruption.check()
    Finalized()
    with pytest.raises(Ended):
        interruption.check()


def test_blocked_signal_is_raised_at_the_end_of_the_block(interruption: Interruption) -> None:
    done: list[str] = []

    def work() -> None:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            done.append("the rest of the block")

    with pytest.raises(Ended):
        work()
    assert done

"""A signal is raised where it arrives, is not lost where Python forgets it, and waits where it must."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tuibench.cli.interruption import CODES, Ended, Interruption, held_back


@pytest.fixture
def defaults() -> Iterator[None]:
    """The tests may have been started with some ignored; the handlers of their runner come back afterwards."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in CODES}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def interruption(defaults: None) -> Interruption:
    """One that listens."""
    interruption = Interruption()
    interruption.listen()
    return interruption


def test_what_whoever_started_us_ignores_stays_ignored(defaults: None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interruption = Interruption()
    interruption.listen()
    signal.raise_signal(signal.SIGHUP)
    interruption.check()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_raises_and_gives_the_code(interruption: Interruption, number: signal.Signals) -> None:
    with pytest.raises(Ended) as ended:
        signal.raise_signal(number)
    assert ended.value.code == CODES[number]


def test_further_signals_do_not_disturb_the_end(interruption: Interruption) -> None:
    with pytest.raises(Ended):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    with pytest.raises(Ended) as ended:
        interruption.check()
    assert ended.value.code == CODES[signal.SIGTERM]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_inside_a_finalizer_is_raised_at_the_next_check(interruption: Interruption) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    interruption.check()
    Finalized()
    with pytest.raises(Ended):
        interruption.check()


def test_what_is_held_back_comes_at_the_end_of_the_block(interruption: Interruption) -> None:
    done: list[str] = []

    def work() -> None:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            done.append("the rest of the block")

    with pytest.raises(Ended):
        work()
    assert done

"""What takes long is told on stderr, and leaves no trace on a terminal."""

from __future__ import annotations

import io
import itertools
import sys
import threading
from typing import Any

import pytest

from tests.cli.shell import Shell
from tuibench.cli import patience
from tuibench.workbench.profiles import Profiles


class Heard(io.StringIO):
    """A stream that says when something was written into it."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.spoken = threading.Semaphore(0)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        written = super().write(text)
        self.spoken.release()
        return written


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for."""
    monkeypatch.setattr(patience, "AFTER_S", 0.0)
    monkeypatch.setattr(patience, "_EVERY_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_terminal_has_a_line_that_counts_and_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    heard, ticks = Heard(is_terminal=True), itertools.count()
    monkeypatch.setattr(sys, "stderr", heard)
    monkeypatch.setenv("TERM", "xterm")
    with patience.told("counting", quiet=False, ascii_only=False, clock=lambda: 2.0 * next(ticks)):
        assert heard.spoken.acquire(timeout=30) and heard.spoken.acquire(timeout=30)
    lines = heard.getvalue().split("\r")
    assert lines[1].startswith("counting, ") and lines[1] != lines[2]
    assert lines[-1] == "" and not lines[-2].strip(), "blanks, and back to the beginning"


@pytest.mark.usefixtures("impatient")
def test_elsewhere_it_is_one_line_and_quiet_none(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", heard)
    with patience.told("counting", quiet=False, ascii_only=False):
        assert heard.spoken.acquire(timeout=30)
    with patience.told("weighing", quiet=True, ascii_only=False):
        pass
    assert heard.getvalue() == "counting ...\n"


def test_what_is_over_at_once_needs_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "AFTER_S", 30.0)
    heard = Heard(is_terminal=False)
    monkeypatch.setattr(sys, "stderr", heard)
    with pytest.raises(ValueError, match="refused"), patience.told("counting", quiet=False, ascii_only=False):
        raise ValueError("refused")
    assert heard.getvalue() == ""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("flags", "method", "words"),
    [
        (("--flops",), "costs_of", "counting what each layer costs ...\n"),
        (("--dry-run",), "plan_anew", "counting what each layer costs ...\n"),
        (("--loss", "--approximate"), "weights_of", "looking at the weights ...\n"),
    ],
)
def test_costs_and_weights_of_large_models_are_not_waited_for_in_silence(
    quick: Shell, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], method: str, words: str
) -> None:
    real = getattr(Profiles, method)

    def slow(self: Profiles, *asked: Any) -> Any:
        for teller in [one for one in threading.enumerate() if one.name == "patience"]:
            teller.join(30)
        return real(self, *asked)

    monkeypatch.setattr(Profiles, method, slow)
    done = quick.call("profile", "sample:tiny", *flags)  # type: ignore[attr-defined]
    assert done.code == 0 and words in done.err
    done = quick.call("profile", "sample:tiny", *flags, "-q")  # type: ignore[attr-defined]
    assert done.code == 0 and words not in done.err

from __future__ import annotations

import signal

from tuibench.core.errors import signal_name


def test_every_signal_has_a_name() -> None:
    assert (signal_name(signal.SIGSEGV), signal_name(40), signal_name(0)) == ("SIGSEGV", "signal 40", "signal 0")
    assert all(signal_name(number) for number in range(1, signal.NSIG))

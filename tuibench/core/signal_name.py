"""What a signal is called in words about who died by it: real-time ones have numbers alone."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """SIGSEGV for 11; 'signal 40' where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

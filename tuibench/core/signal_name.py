"""The name of a signal for messages about a killed process; real-time signals have only numbers."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """Return SIGSEGV for 11; 'signal 40' for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""The message and the hint of an error, for shell, dashboard and exports alike."""

from __future__ import annotations

from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason
from tuibench.present.reason import reason_hint, reason_words

_MAX_CHARS = 2000


def message_words(error: TuibenchError, *, beside: bool = False, limit: int = _MAX_CHARS) -> str:
    """Return what happened, safe to print. Omit the flag if `beside`: for use next to its form field."""
    reason = error.reason
    if beside:
        reason = Reason(reason.code, {name: one for name, one in reason.fields.items() if name != "subject"})
    return reason_words(reason, limit)


def hint_words(error: TuibenchError) -> str:
    """Return the hint, safe to print; '' if there is none."""
    return reason_hint(error.reason)


def error_line(error: TuibenchError, *, beside: bool = False) -> str:
    """Return message and hint in one line."""
    message, hint = message_words(error, beside=beside), hint_words(error)
    return f"{message}; {hint}" if hint else message

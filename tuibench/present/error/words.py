"""The message and the hint of an error, for shell, dashboard and exports alike."""

from __future__ import annotations

from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason
from tuibench.present import reason as words

_MAX_CHARS = 2000


def message_words(error: TuibenchError, *, beside: bool = False, limit: int = _MAX_CHARS) -> str:
    """Return what happened, safe to print; `beside` its own form field without the flag that stands for it."""
    reason = error.reason
    if beside:
        reason = Reason(reason.code, {name: one for name, one in reason.fields.items() if name != "subject"})
    return words.reason_words(reason, limit)


def hint_words(error: TuibenchError) -> str:
    """Return how to mend it, safe to print; '' without a hint."""
    return words.reason_hint(error.reason)


def error_line(error: TuibenchError, *, beside: bool = False) -> str:
    """Return message and hint in one line."""
    message, hint = message_words(error, beside=beside), hint_words(error)
    return f"{message}; {hint}" if hint else message

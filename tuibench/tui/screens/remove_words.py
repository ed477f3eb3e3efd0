"""The question before a removal, which names first what cannot be restored."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.short_id import short_id


def remove_words(wanted: Sequence[str], going: Sequence[str], lost: Sequence[str]) -> tuple[str, str]:
    """Return the question and the word for `y`; `going` are still running, `lost` were never saved."""
    if going and lost:
        # Name permanent losses first, since the line may be cut.
        return f"Remove unsaved {_names(lost)} for good, cancel {_names(going)}?", "cancel and remove"
    verb, go = ("is", "goes") if len(wanted) == 1 else ("are", "go")
    if going and len(going) < len(wanted):
        return f"Cancel {_names(going)}, and remove {_names(wanted)}?", "cancel and remove"
    if going:
        return f"{_names(wanted)} still {go} on: cancel and remove?", "cancel and remove"
    if lost and len(lost) < len(wanted):
        return f"Remove unsaved {_names(lost)} for good, and {len(wanted) - len(lost)} more?", "remove"
    if lost:
        return f"{_names(wanted)} {verb} not saved: nothing brings back what you remove", "remove"
    return f"Remove {_names(wanted)}? u brings it back.", "remove"


def _names(ids: Sequence[str]) -> str:
    return ", ".join(map(short_id, ids[:3])) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")

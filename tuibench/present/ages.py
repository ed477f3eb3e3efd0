"""Ages of stored results: 3h in a column, "3h ago" in a line, date and age on a page."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_MOST_DAYS = 100


def age(utc: str, now: float) -> str:
    """Return the time from `utc` to `now` (seconds since 1970): 12m, 3h, 5d, then the month; '-' for an invalid one."""
    moment = _parse(utc)
    if moment is None:
        return "-"
    seconds = now - moment.timestamp()
    # A clock that was set back, or another machine's, could give negative ages.
    if seconds < _MINUTE:
        return "now"
    for unit, length, most in (("m", _MINUTE, _HOUR), ("h", _HOUR, _DAY), ("d", _DAY, _MOST_DAYS * _DAY)):
        if seconds < most:
            return f"{int(seconds // length)}{unit}"
    return f"{moment.year:04d}-{moment.month:02d}"


def ago_words(utc: str, now: float) -> str:
    """Return the age in words: 3h ago, just now, or the month; '' for an invalid time."""
    ago = age(utc, now)
    return "just now" if ago == "now" else f"{ago} ago" if "-" not in ago else ago.strip("-")


def moment_words(utc: str, now: float) -> str:
    """Return date, time and age, for a page with enough space; '' for an invalid time."""
    moment = _parse(utc)
    if moment is None:
        return ""
    ago = age(utc, now)
    said = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    return said if "-" in ago else f"{said} (just now)" if ago == "now" else f"{said} ({ago} ago)"


def _parse(utc: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(utc)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None

"""Options of a profile's page, and profiles without the values that their own rows contradict."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tuibench.core.profile import PerformanceProfile, Profile
from tuibench.core.profile_facts import find_withheld, withhold
from tuibench.present.profile.summary import cautions
from tuibench.present.reason import reason_words

WIDTH, TOP = 80, 20


@dataclass(frozen=True, slots=True)
class Shown:
    """The printed part of a profile, its order and its bars; '' means the default."""

    width: int = WIDTH
    ascii_only: bool = False
    sort: str = ""
    """The column to sort by."""
    top: int | None = TOP
    """Most layers shown; None for all."""
    now: float | None = None
    """Seconds since 1970, to show the profile's age; None leaves the age out."""
    reverse: bool = False
    text: str = ""
    """Show only layers that contain each of these words."""
    summary: str = ""
    """Type of the bars."""
    display: str = ""
    """Display of the bars: values, logarithmic scale or shares."""
    layer: str = ""
    """A layer's number, node or weight: show its details in place of the page."""


def shown_profile(profile: Profile) -> Profile:
    """Return the profile as pages and exports show it; the stored one keeps all values."""
    measured = profile.performance
    found = find_withheld(measured) if measured is not None else None
    if measured is None or found is None:
        return profile
    return replace(profile, performance=withhold(measured, found))


def shown_cautions(measured: PerformanceProfile) -> tuple[str, ...]:
    """Return the cautions of a profile; the reason for what is not shown comes first."""
    found = find_withheld(measured)
    return (*([reason_words(found)] if found is not None else []), *cautions(measured))

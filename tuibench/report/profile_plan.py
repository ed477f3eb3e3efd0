"""The expected time of a profile: its basis, and the flags that shorten it."""

from __future__ import annotations

from tuibench.core.profile_spec import LOSS, ProfileSpec
from tuibench.core.units import count_of, ms, seconds

_LONG_S = 300.0


def time_lines(asked: ProfileSpec, expected_s: float | None, basis: str) -> list[str]:
    """Return the expected time and its basis; for a long one, the flags of this kind that shorten it."""
    if expected_s is None:
        return ["Time: not known, as nothing tells how long one inference takes"]
    lines = [f"Time: about {seconds(expected_s)}, from {basis}"]
    return lines + ([f"That is long; shorter by {', '.join(_shorter(asked))}"] if expected_s > _LONG_S else [])


def left_line(points: int, ms_each: float) -> str:
    """Return the remaining time of a loss profile after its first change was timed; it replaces the guess."""
    left = seconds(points * ms_each / 1000)
    return f"Time: about {left} from here: {count_of(points, 'change')} of {ms(ms_each)} each, as measured just now"


def _shorter(asked: ProfileSpec) -> list[str]:
    """Return the flags of this kind that can still shorten it."""
    if asked.kind == LOSS:
        flags = (
            ("--budget", len(asked.levels) > 1 and not asked.budget),
            ("fewer levels (--level)", len(asked.levels) > 1),
            ("fewer --samples", asked.samples > 1),
        )
    else:
        flags = (
            ("no --what-if", bool(asked.what_if)),
            ("fewer --processes", asked.processes > 1),
            ("fewer --runs", asked.runs > 1),
        )
    return [*(flag for flag, helps in flags if helps), "--max-time"]

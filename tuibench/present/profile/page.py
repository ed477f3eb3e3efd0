"""Profiles and comparisons as a command's page or an export."""

from __future__ import annotations

import json
from dataclasses import replace

from tuibench.core.ids import short_id
from tuibench.core.label import model_names
from tuibench.core.profile import CostProfile, LossProfile
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.core.spec import LOSS, ProfileSpec
from tuibench.core.stored import Metadata
from tuibench.core.text import show
from tuibench.core.units import count_of, ms, seconds
from tuibench.present.headline import result_headline
from tuibench.present.json_export import finite
from tuibench.present.profile.comparison import LossComparison, ProfileComparison, compare_profiles
from tuibench.present.profile.csv import profile_csv
from tuibench.present.profile.kind import settle, view_of
from tuibench.present.profile.lines import ProfileHeading, profile_lines
from tuibench.present.profile.markdown import profile_markdown
from tuibench.present.profile.shown import Shown, shown_profile
from tuibench.present.profile.two import profile_comparison_lines
from tuibench.present.reason import export_words, reason_words
from tuibench.present.table import moment_words, to_ascii

SCHEMA = 1
_LONGEST = 500


def heading_of(result: RunResult, metadata: Metadata | None = None, now: float | None = None) -> ProfileHeading:
    """Return the heading of a stored profile."""
    return ProfileHeading(
        name=metadata.name if metadata is not None else "",
        id=short_id(result.id),
        model=", ".join(model_names(result.spec.models)),
        started=result.started_utc if now is None else moment_words(result.started_utc, now),
        note=metadata.note if metadata is not None else "",
    )


def profile_page(
    result: RunResult, metadata: Metadata | None = None, shown: Shown | None = None, compared: str = ""
) -> str:
    """Return the page of a stored profile; its last line is the headline.

    `compared` is the page of its comparison with another profile.
    """
    shown = shown or Shown()
    profile = result.profile
    lines: list[str] = []
    if profile is not None and (profile.performance or profile.loss) is not None:
        lines = profile_lines(view_of(profile), heading_of(result, metadata, shown.now), shown)
    if shown.layer:
        return "\n".join(lines) + "\n"
    said = [f"Warning: {reason_words(warning, _LONGEST)}" for warning in result.warnings]
    said += [f"Run {show(result.status, 40)}: what was measured is shown"] * (result.status != "finished")
    beside = ["", *compared.splitlines()] if compared else []
    text = "\n".join([*lines, *beside, "", *said, result_headline(result)]) + "\n"
    return to_ascii(text) if shown.ascii_only else text


def theory_page(found: CostProfile | LossProfile, heading: ProfileHeading, shown: Shown) -> str:
    """Return the page of an unmeasured profile: FLOPS, or approximated loss."""
    return "\n".join(profile_lines(view_of(found), heading, shown)) + "\n"


def theory_text(found: CostProfile | LossProfile, heading: ProfileHeading, form: str) -> str:
    """Return an unmeasured profile as csv or markdown."""
    return profile_csv(view_of(found)) if form == "csv" else profile_markdown(view_of(found), heading)


def profile_text(result: RunResult, form: str, shown: Shown | None = None, name: str = "") -> str:
    """Return the export of a profile as csv or markdown: the whole, or what `shown` selects."""
    profile = result.profile
    if profile is None:
        return ""
    chosen = settle(profile.kind, shown or Shown(top=None), profile.loss)
    heading = replace(heading_of(result), name=name)
    view = view_of(profile)
    return profile_csv(view, chosen) if form == "csv" else profile_markdown(view, heading, chosen)


def theory_json(kind: str, model: str, found: CostProfile | LossProfile) -> str:
    """Return an unmeasured profile as JSON."""
    reasons: dict[str, str] = {}
    plain = finite(
        {"schema": SCHEMA, "kind": kind, "model": model, "profile": to_plain(found, export_words)}, "", reasons
    )
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def comparison_page(
    old: RunResult, new: RunResult, environment: tuple[str, ...], names: tuple[str, str], shown: Shown
) -> str:
    """Return the comparison of two profiles of a kind by layer; `names` are their names."""
    if old.profile is None or new.profile is None:
        return ""
    headings = replace(heading_of(old), name=names[0]), replace(heading_of(new), name=names[1])
    lines = profile_comparison_lines(
        old.profile, new.profile, headings,
        environment=environment, width=shown.width, ascii_only=shown.ascii_only, top=shown.top,
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def comparison_json(old: RunResult, new: RunResult, environment: tuple[str, ...]) -> str:
    """Return the comparison as JSON."""
    reasons: dict[str, str] = {}
    found = to_plain(_compared(old, new, environment), export_words) or {}
    body = {"schema": SCHEMA, "old_id": old.id, "new_id": new.id, "comparison": found}
    plain = finite(body, "", reasons)
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def count_pairs(old: RunResult, new: RunResult) -> int:
    """Return the number of compared layers, without the engine's own work; 0 means that nothing was compared."""
    found = _compared(old, new, ())
    if isinstance(found, ProfileComparison):
        return sum(bool(pair.old and pair.new and pair.nodes) for pair in found.pairs)
    return sum(pair.delta is not None for pair in found.pairs) if found is not None else 0


def _compared(
    old: RunResult, new: RunResult, environment: tuple[str, ...]
) -> ProfileComparison | LossComparison | None:
    if old.profile is None or new.profile is None:
        return None
    return compare_profiles(shown_profile(old.profile), shown_profile(new.profile), environment)


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

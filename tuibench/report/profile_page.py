"""Profiles and comparisons as a command's page or an export."""

from __future__ import annotations

import json
from dataclasses import replace

from tuibench.core.card import Metadata
from tuibench.core.label import model_names
from tuibench.core.profile import CostProfile, LossProfile, Profile
from tuibench.core.record import to_plain
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.insight.comparison import ProfileComparison
from tuibench.insight.loss_comparison import LossComparison
from tuibench.insight.two_profiles import compare_profiles
from tuibench.report.age import moment_words
from tuibench.report.headline import result_headline
from tuibench.report.json_export import finite
from tuibench.report.profile_choice import settle
from tuibench.report.profile_comparison import profile_comparison_lines
from tuibench.report.profile_costs import cost_lines
from tuibench.report.profile_csv import cost_csv, loss_csv, profile_csv
from tuibench.report.profile_heading import ProfileHeading
from tuibench.report.profile_lines import profile_lines
from tuibench.report.profile_loss import loss_lines
from tuibench.report.profile_markdown import cost_markdown, loss_markdown, profile_markdown
from tuibench.report.profile_shown import Shown
from tuibench.report.profile_trust import shown_profile
from tuibench.report.style import to_ascii

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
    lines = _body(result.profile, heading_of(result, metadata, shown.now), shown) if result.profile is not None else []
    if shown.layer:
        return "\n".join(lines) + "\n"
    said = [f"Warning: {show(warning, _LONGEST)}" for warning in result.warnings]
    said += [f"Run {show(result.status, 40)}: what was measured is shown"] * (result.status != "finished")
    beside = ["", *compared.splitlines()] if compared else []
    text = "\n".join([*lines, *beside, "", *said, result_headline(result)]) + "\n"
    return to_ascii(text) if shown.ascii_only else text


def theory_page(found: CostProfile | LossProfile, heading: ProfileHeading, shown: Shown) -> str:
    """Return the page of an unmeasured profile: FLOPS, or approximated loss."""
    if isinstance(found, CostProfile):
        lines = cost_lines(found, heading, shown)
    else:
        lines = loss_lines(found, heading, shown)
    return "\n".join(lines) + "\n"


def theory_text(found: CostProfile | LossProfile, heading: ProfileHeading, form: str) -> str:
    """Return an unmeasured profile as csv or markdown."""
    if isinstance(found, CostProfile):
        return cost_csv(found) if form == "csv" else cost_markdown(found, heading)
    return loss_csv(found) if form == "csv" else loss_markdown(found, heading)


def _body(profile: Profile, heading: ProfileHeading, shown: Shown) -> list[str]:
    if profile.performance is None and profile.loss is not None:
        return loss_lines(profile.loss, heading, shown)
    return profile_lines(profile, heading, shown) if profile.performance is not None else []


def profile_text(result: RunResult, form: str, shown: Shown | None = None, name: str = "") -> str:
    """Return the export of a profile as csv or markdown: the whole, or what `shown` selects."""
    profile = result.profile
    if profile is None:
        return ""
    chosen = settle(profile.kind, shown or Shown(top=None), profile.loss)
    heading = replace(heading_of(result), name=name)
    return profile_csv(profile, chosen) if form == "csv" else profile_markdown(profile, heading, chosen)


def theory_json(kind: str, model: str, found: CostProfile | LossProfile) -> str:
    """Return an unmeasured profile as JSON."""
    reasons: dict[str, str] = {}
    plain = finite({"schema": SCHEMA, "kind": kind, "model": model, "profile": to_plain(found)}, "", reasons)
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
    found = to_plain(_compared(old, new, environment)) or {}
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

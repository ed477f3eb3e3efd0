"""A profile on its way out: as the page of a command, or in one of the forms of an export; and two of them."""

from __future__ import annotations

import json

from tuibench.core.card import Card
from tuibench.core.errors import UsageError
from tuibench.core.label import model_names
from tuibench.core.profile import LEVELS, CostProfile, LossProfile, Profile
from tuibench.core.record import to_plain
from tuibench.core.run import RunResult
from tuibench.core.short_id import short_id
from tuibench.core.text import show
from tuibench.insight.column import column_of
from tuibench.insight.comparison import ProfileComparison
from tuibench.insight.cost import COST_COLUMNS
from tuibench.insight.layer import COLUMNS
from tuibench.insight.loss import loss_columns
from tuibench.insight.loss_comparison import LossComparison
from tuibench.insight.two_profiles import compare_profiles, other_models
from tuibench.report.age import moment_words
from tuibench.report.json_export import finite
from tuibench.report.profile_comparison import profile_comparison_lines
from tuibench.report.profile_costs import cost_lines
from tuibench.report.profile_csv import profile_csv
from tuibench.report.profile_heading import ProfileHeading
from tuibench.report.profile_lines import profile_lines
from tuibench.report.profile_loss import loss_lines
from tuibench.report.profile_markdown import profile_markdown
from tuibench.report.profile_shown import Shown
from tuibench.report.style import to_ascii

SCHEMA = 1
_LONGEST = 500
_ANY_LOSS = LossProfile("measured", "", LEVELS, (), classes=True)
"""With every column that one can have."""


def heading_of(result: RunResult, card: Card | None = None, now: float | None = None) -> ProfileHeading:
    """What a profile is called, and of what it is."""
    return ProfileHeading(
        name=card.name if card is not None else "",
        id=short_id(result.id),
        model=", ".join(model_names(result.spec.models)),
        started=result.started_utc if now is None else moment_words(result.started_utc, now),
        note=card.note if card is not None else "",
    )


def check_sort(kind: str, sort: str) -> None:
    """Raise UsageError for what is no column of such a profile."""
    every: dict[str, list[tuple[str, str]]] = {
        "performance": [(column.key, column.title) for column in COLUMNS],
        "loss": [(column.key, column.title) for column in loss_columns(_ANY_LOSS)],
    }
    known = every.get(kind, [(column.key, column.title) for column in COST_COLUMNS])
    if sort and not any(sort.casefold() in (key.casefold(), title.casefold()) for key, title in known):
        names = ", ".join(key for key, _ in known)
        raise UsageError(f"--sort takes a column of the table, not '{show(sort, 40)}'", f"columns: {names}")


def profile_page(result: RunResult, card: Card | None = None, shown: Shown | None = None) -> str:
    """The whole page of a stored profile; its last line is the headline."""
    shown = shown or Shown()
    lines = _body(result.profile, heading_of(result, card, shown.now), shown) if result.profile is not None else []
    said = [f"Warning: {show(warning, _LONGEST)}" for warning in result.warnings]
    said += [f"Run {show(result.status, 40)}: what was measured is shown"] * (result.status != "finished")
    text = "\n".join([*lines, "", *said, show(result.headline, _LONGEST)]) + "\n"
    return to_ascii(text) if shown.ascii_only else text


def costs_page(costs: CostProfile, heading: ProfileHeading, shown: Shown) -> str:
    """The FLOPS profile."""
    lines = cost_lines(
        costs, heading, width=shown.width, ascii_only=shown.ascii_only, top=shown.top, sort=shown.sort or "flops"
    )
    return "\n".join(lines) + "\n"


def losses_page(loss: LossProfile, heading: ProfileHeading, shown: Shown) -> str:
    """A loss profile that is no record: the approximated one."""
    sort = shown.sort if column_of(loss_columns(loss), shown.sort) else "worst"
    lines = loss_lines(loss, heading, width=shown.width, ascii_only=shown.ascii_only, top=shown.top, sort=sort)
    return "\n".join(lines) + "\n"


def _body(profile: Profile, heading: ProfileHeading, shown: Shown) -> list[str]:
    if profile.performance is None:
        loss = profile.loss
        return losses_page(loss, heading, shown).rstrip("\n").split("\n") if loss is not None else []
    return profile_lines(
        profile, heading, width=shown.width, ascii_only=shown.ascii_only, top=shown.top, sort=shown.sort or "ms"
    )


def profile_text(result: RunResult, form: str) -> str:
    """The export of a profile as csv or markdown."""
    if result.profile is None:
        return ""
    return profile_csv(result.profile) if form == "csv" else profile_markdown(result.profile, heading_of(result))


def theory_json(kind: str, model: str, found: CostProfile | LossProfile) -> str:
    """What needs no measuring, for programs."""
    reasons: dict[str, str] = {}
    plain = finite({"schema": SCHEMA, "kind": kind, "model": model, "profile": to_plain(found)}, "", reasons)
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def comparison_page(
    old: RunResult, new: RunResult, environment: tuple[str, ...], width: int, *, ascii_only: bool = False
) -> str:
    """Two profiles of a kind, layer by layer."""
    if old.profile is None or new.profile is None:
        return ""
    lines = profile_comparison_lines(
        old.profile, new.profile, (heading_of(old), heading_of(new)),
        environment=(*other_models(old, new), *environment), width=width, ascii_only=ascii_only,
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def comparison_json(old: RunResult, new: RunResult, environment: tuple[str, ...]) -> str:
    """The same for programs."""
    reasons: dict[str, str] = {}
    found = to_plain(_compared(old, new, environment)) or {}
    body = {"schema": SCHEMA, "old_id": old.id, "new_id": new.id, "comparison": found}
    plain = finite(body, "", reasons)
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def count_pairs(old: RunResult, new: RunResult) -> int:
    """Layers that both have: where there is none, nothing was compared. Work of the engine's own is no layer."""
    found = _compared(old, new, ())
    if isinstance(found, ProfileComparison):
        return sum(bool(pair.old and pair.new and pair.nodes) for pair in found.pairs)
    return sum(pair.delta is not None for pair in found.pairs) if found is not None else 0


def _compared(
    old: RunResult, new: RunResult, environment: tuple[str, ...]
) -> ProfileComparison | LossComparison | None:
    if old.profile is None or new.profile is None:
        return None
    return compare_profiles(old.profile, new.profile, (*other_models(old, new), *environment))

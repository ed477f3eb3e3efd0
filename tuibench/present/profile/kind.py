"""The kinds of profiles: the view of each, and the choices that its page offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tuibench.core.errors import UsageError
from tuibench.core.profile import LEVELS, LOSS, PERFORMANCE, CostProfile, LossProfile, Profile
from tuibench.core.text import show
from tuibench.present.column import Column, column_of
from tuibench.present.profile.cost_view import CostView
from tuibench.present.profile.costs import COST_COLUMNS
from tuibench.present.profile.layers import COLUMNS
from tuibench.present.profile.loss import loss_columns, loss_types
from tuibench.present.profile.loss_view import LossView
from tuibench.present.profile.performance_view import PerformanceView
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import COST_TYPES, DISPLAYS, SHARES, SUMMARY_TYPES
from tuibench.present.profile.view import ProfileView

_ANY_LOSS = LossProfile("measured", "", LEVELS, (), classes=True)
"""A loss profile with every possible column."""


def view_of(profile: Profile | CostProfile | LossProfile) -> ProfileView[Any]:
    """Return the view of a stored profile or of one that needs no measurement."""
    if isinstance(profile, CostProfile):
        return CostView(profile)
    if isinstance(profile, LossProfile):
        return LossView(profile)
    if profile.performance is not None:
        return PerformanceView(profile)
    return CostView(profile.costs) if profile.loss is None else LossView(profile.loss)


def settle(kind: str, shown: Shown, loss: LossProfile | None = None) -> Shown:
    """Return the choices by their full names; raise UsageError for one that this kind of profile does not have.

    `loss` is the profile if it is known already, or an empty one with the levels that it will have.
    """
    check_sort(kind, shown.sort, loss)
    bars = {PERFORMANCE: SUMMARY_TYPES, LOSS: loss_types(loss or _ANY_LOSS)}.get(kind, COST_TYPES)
    # `0.9` is easier to type in a shell than `pruned 0.9`.
    shares = {_bare(name.removeprefix("pruned ")): name for name in bars}
    return replace(
        shown,
        summary=_named("--summary-type", shown.summary, bars, shares),
        display=_named("--value", shown.display, DISPLAYS, {"%": SHARES}),
    )


def check_sort(kind: str, sort: str, loss: LossProfile | None = None) -> None:
    """Raise UsageError if such a profile has no column of that name."""
    every: dict[str, Sequence[Column[Any]]] = {PERFORMANCE: COLUMNS, LOSS: loss_columns(loss or _ANY_LOSS)}
    known = every.get(kind, COST_COLUMNS)
    if sort and column_of(known, sort) is None:
        names = ", ".join(column.key for column in known)
        raise UsageError(f"--sort takes a column of the table, not '{show(sort, 40)}'", f"columns: {names}")


def _named(flag: str, typed: str, known: Sequence[str], also: Mapping[str, str]) -> str:
    if not typed:
        return ""
    found = {**also, **{_bare(name): name for name in known}}.get(_bare(typed))
    if found is None:
        raise UsageError(f"{flag} takes {', '.join(known[:-1])} or {known[-1]}, not '{show(typed, 40)}'")
    return found


def _bare(name: str) -> str:
    """Return a name without case, blanks, hyphens and underscores."""
    return "".join(name.casefold().replace("-", " ").replace("_", " ").split())

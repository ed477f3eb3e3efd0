"""Comparison page of two profiles, for `compare` and the end of `rerun`."""

from __future__ import annotations

from tuibench.cli.session import width
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.result import RunResult
from tuibench.present.profile.shown import WIDTH, Shown
from tuibench.services.api import Services


def name_of(services: Services, result: RunResult) -> str:
    """Return the name of a result; '' for an unsaved run."""
    try:
        return services.library.find(result.id).name
    except (UnknownId, StoreError):
        return ""


def compared_page(
    services: Services, old: RunResult, new: RunResult, ascii_only: bool = False, shown: Shown | None = None
) -> str:
    """Return the page of two profiles of one kind; '' if either has no measurements."""
    from tuibench.present.profile.page import comparison_page  # lazy: only profiles need it

    if old.profile is None or new.profile is None or old.profile.kind != new.profile.kind:
        return ""
    names = name_of(services, old), name_of(services, new)
    shown = shown or Shown(width() or WIDTH, ascii_only)
    return comparison_page(old, new, services.exchange.differences(old, new), names, shown)

"""Comparison page of two profiles, for `compare` and the end of `rerun`."""

from __future__ import annotations

from tuibench.cli.session import width
from tuibench.core.errors import StoreError, UnknownId
from tuibench.core.run import RunResult
from tuibench.report.profile_shown import WIDTH, Shown
from tuibench.workbench.hall import Workbench


def name_of(bench: Workbench, result: RunResult) -> str:
    """Return the name of a result; '' for an unsaved run."""
    try:
        return bench.library.find(result.id).name
    except (UnknownId, StoreError):
        return ""


def compared_page(
    bench: Workbench, old: RunResult, new: RunResult, ascii_only: bool = False, shown: Shown | None = None
) -> str:
    """Return the page of two profiles of one kind; '' if either has no measurements."""
    from tuibench.report.profile_page import comparison_page  # lazy: only profiles need it

    if old.profile is None or new.profile is None or old.profile.kind != new.profile.kind:
        return ""
    names = name_of(bench, old), name_of(bench, new)
    shown = shown or Shown(width() or WIDTH, ascii_only)
    return comparison_page(old, new, bench.exchange.differences(old, new), names, shown)

"""The keys in the bottom line of a project's tabs: only those that apply."""

from __future__ import annotations

_LIST = (
    "open", "new", "rerun", "rerun-changed", "compare", "remove", "undo", "mark", "filter", "sort", "export",
    "copy-command", "edit", "wide", "tab-next", "palette", "help",
)  # fmt: skip
_PROFILES = (
    "open", "new", "compare", "mark", "edit", "remove", "undo", "rerun", "rerun-changed", "filter", "sort", "export",
    "copy-command", "wide", "tab-next", "palette", "help",
)  # fmt: skip
_SETTINGS = ("edit", "page-down", "tab-previous", "system", "trash", "palette", "help")
_EMPTY = ("new", "undo", "tab-next", "system", "trash", "palette", "help")
_THEORY = ("open", "new", "undo", "export", "copy-command", "tab-next", "system", "trash", "palette", "help")
"""If the list contains only the theoretical profile."""


def hints_of(tab: str, *, is_empty: bool, has_project: bool) -> tuple[str, ...]:
    """Return the keys for a tab; `is_empty` if its list has no record and no run."""
    if tab == "settings":
        return _SETTINGS
    is_profiles = tab != "benchmarks"
    hints: tuple[str, ...]
    if is_empty:
        hints = _THEORY if is_profiles and has_project else _EMPTY
    else:
        hints = _PROFILES if is_profiles else _LIST
    return tuple(each for each in hints if has_project or each != "new")

"""Parses the user's input for a project: its name and its sizes of symbolic dims."""

from __future__ import annotations

from collections.abc import Mapping

from tuibench.core.text import too_long

_MOST = 1 << 40
PREFIX = "dim:"


def dims_of(fields: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Return the dims from fields named `dim:NAME`, without empty ones, and the errors by field, `name` first."""
    dims: dict[str, int] = {}
    wrong = too_long(fields["name"]) if fields["name"] else "a project needs a name"
    errors = {"name": wrong} if wrong else {}
    for name, text in fields.items():
        if not name.startswith(PREFIX) or not text:
            continue
        # int() accepts blanks, underscores and digits of other scripts.
        if text.isascii() and text.isdigit() and len(text) <= 13 and int(text) <= _MOST:
            dims[name.removeprefix(PREFIX)] = int(text)
        else:
            errors[name] = f"a whole number from 0 to {_MOST}; several sizes are measured from the benchmark's form"
    return dims, errors

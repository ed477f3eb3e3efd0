"""What people type of a project: its name, and sizes of symbolic dims for it to remember."""

from __future__ import annotations

from collections.abc import Mapping

from tuibench.core.text import too_long

_MOST = 1 << 40
PREFIX = "dim:"


def dims_of(fields: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Dims from fields called `dim:NAME`, empty ones left out; and what is wrong with which field, `name` first."""
    dims: dict[str, int] = {}
    wrong = too_long(fields["name"]) if fields["name"] else "a project needs a name"
    errors = {"name": wrong} if wrong else {}
    for name, text in fields.items():
        if not name.startswith(PREFIX) or not text:
            continue
        # int() takes spaces, underscores and other scripts' digits.
        if text.isascii() and text.isdigit() and len(text) <= 13 and int(text) <= _MOST:
            dims[name.removeprefix(PREFIX)] = int(text)
        else:
            errors[name] = f"a whole number from 0 to {_MOST}; several sizes are measured from the benchmark's form"
    return dims, errors

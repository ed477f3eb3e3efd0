"""Sizes of symbolic dims as people type them, for a project to remember."""

from __future__ import annotations

from collections.abc import Mapping

_MOST = 1 << 40
PREFIX = "dim:"


def dims_of(fields: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Dims from fields called `dim:NAME`, empty ones left out; and what is wrong with which field."""
    dims: dict[str, int] = {}
    errors: dict[str, str] = {}
    for name, text in fields.items():
        if not name.startswith(PREFIX) or not text:
            continue
        # int() takes spaces, underscores and other scripts' digits.
        if text.isascii() and text.isdigit() and len(text) <= 13 and int(text) <= _MOST:
            dims[name.removeprefix(PREFIX)] = int(text)
        else:
            errors[name] = f"a whole number from 0 to {_MOST}; several sizes are measured from the benchmark's form"
    return dims, errors

"""Completes a partly typed path with directories and models; uses stat alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

MOST = 50
_MODELS = (".onnx", ".ort")


def complete(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return at most fifty completions as typed: directories first, with a slash; `names` are no paths."""
    known = [name for name in names if text and name.startswith(text)]
    folder, begun = os.path.split(text)
    try:
        entries = os.scandir(os.path.expanduser(folder) or os.curdir)
    except (OSError, ValueError):
        return tuple(known[:MOST])
    with entries:
        # Hidden entries only if the typed name begins with a dot.
        fitting = [e for e in entries if e.name.startswith(begun) and (begun[:1] == "." or e.name[:1] != ".")]
    folders = sorted(os.path.join(folder, entry.name, "") for entry in fitting if _is(entry.is_dir))
    models = sorted(os.path.join(folder, e.name) for e in fitting if e.name.endswith(_MODELS) and _is(e.is_file))
    # A name that cannot be displayed cannot be typed either.
    found = [path for path in (*known, *folders, *models) if path.isprintable()]
    return tuple(found[:MOST])


def _is(question: Callable[[], bool]) -> bool:
    """Return whether an entry is of a kind; False if stat fails, as for a link to itself."""
    try:
        return question()
    except OSError:
        return False

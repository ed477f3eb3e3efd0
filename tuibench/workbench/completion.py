"""What a path that somebody began to type may go on as: directories and models, looked at with stat alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

MOST = 50
_MODELS = (".onnx", ".ort")


def complete(text: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """At most fifty, as they would be typed: directories end in a slash and come first; `names` are no paths."""
    known = [name for name in names if text and name.startswith(text)]
    folder, begun = os.path.split(text)
    try:
        entries = os.scandir(os.path.expanduser(folder) or os.curdir)
    except (OSError, ValueError):
        return tuple(known[:MOST])
    with entries:
        # Hidden ones only for whoever asks for them.
        fitting = [e for e in entries if e.name.startswith(begun) and (begun[:1] == "." or e.name[:1] != ".")]
    folders = sorted(os.path.join(folder, entry.name, "") for entry in fitting if _is(entry.is_dir))
    models = sorted(os.path.join(folder, e.name) for e in fitting if e.name.endswith(_MODELS) and _is(e.is_file))
    # What the bytes of a name cannot be shown as cannot be typed either.
    found = [path for path in (*known, *folders, *models) if path.isprintable()]
    return tuple(found[:MOST])


def _is(question: Callable[[], bool]) -> bool:
    """Whether an entry is of a kind; one that cannot be looked at, such as a link to itself, is of none."""
    try:
        return question()
    except OSError:
        return False

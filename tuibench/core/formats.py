"""Formats of exported files, each declared once; `present/export.py` writes them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tuibench.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Format:
    """One format, chosen by the ending of the file's name."""

    name: str
    title: str
    endings: tuple[str, ...]
    of_benchmark: str = ""
    """Its contents, behind the first ending, for dialogs."""
    of_profile: str = ""
    """The same for profiles."""


JSON = Format("json", "JSON", (".json",))
"""The default format."""
FORMATS = (
    JSON,
    Format("csv", "CSV", (".csv",), "has a line per cell", "has a line per layer"),
    Format("markdown", "Markdown", (".md",), "is a page with figures", "is a page"),
)


PLANNED = (Format("html", "HTML", (".html", ".htm")),)
"""Formats that other versions may have; their names are refused, not taken for JSON."""


def format_of(path: str) -> str:
    """Return the name of the format by the ending of a path; raise UsageError for a planned one."""
    ending = os.path.splitext(path)[1].lower()
    planned = next((one for one in PLANNED if ending in one.endings), None)
    if planned is not None:
        endings = [one.endings[0] for one in FORMATS]
        raise UsageError("format_unsupported", path=path, format=planned.title, allowed=endings)
    return next((one.name for one in FORMATS if ending in one.endings), JSON.name)


def titles() -> str:
    """Return the formats for help: JSON, CSV or Markdown."""
    *others, last = (one.title for one in FORMATS)
    return f"{', '.join(others)} or {last}"


def endings() -> str:
    """Return the endings for help: .csv, .md, any other name JSON."""
    return f"{', '.join(one.endings[0] for one in FORMATS if one is not JSON)}, any other name JSON"


def contents(*, of_profile: bool = False) -> str:
    """Return the contents per ending, for dialogs."""
    others = ((one, one.of_profile if of_profile else one.of_benchmark) for one in FORMATS if one is not JSON)
    return f"{', '.join(f'{one.endings[0]} {words}' for one, words in others)}, any other is JSON."

"""Formats of exported files, each declared once; `present/export.py` writes them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tuibench.core.errors import UsageError
from tuibench.core.text import show


@dataclass(frozen=True, slots=True)
class Format:
    """One format, chosen by the ending of the file's name."""

    name: str
    title: str
    ending: str
    of_benchmark: str = ""
    """Its contents, behind the ending, for dialogs."""
    of_profile: str = ""


JSON = Format("json", "JSON", ".json")
"""The default format."""
FORMATS = (
    JSON,
    Format("csv", "CSV", ".csv", "has a line per cell", "has a line per layer"),
    Format("markdown", "Markdown", ".md", "is a page with figures", "is a page"),
)


def format_of(path: str) -> str:
    """Return the name of the format by the ending of a path."""
    ending = os.path.splitext(path)[1].lower()
    if ending in (".html", ".htm"):
        raise UsageError(f"{show(path)}: HTML is not supported in this version", "use .md, .csv or .json")
    return next((one.name for one in FORMATS if one.ending == ending), JSON.name)


def titles() -> str:
    """Return the formats for help: JSON, CSV or Markdown."""
    *others, last = (one.title for one in FORMATS)
    return f"{', '.join(others)} or {last}"


def endings() -> str:
    """Return the endings for help: .csv, .md, any other name JSON."""
    return f"{', '.join(one.ending for one in FORMATS if one is not JSON)}, any other name JSON"


def contents(*, of_profile: bool = False) -> str:
    """Return the contents per ending, for dialogs."""
    each = (f"{one.ending} {one.of_profile if of_profile else one.of_benchmark}" for one in FORMATS if one is not JSON)
    return f"{', '.join(each)}, any other is JSON."

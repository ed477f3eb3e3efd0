"""Exports of a result: one writer for each format."""

from __future__ import annotations

import importlib

from tuibench.core.errors import UsageError
from tuibench.core.formats import JSON
from tuibench.core.result import RunResult, SideBySide
from tuibench.present.profile.export import profile_text
from tuibench.present.profile.shown import Shown

_WRITERS = {
    "json": "tuibench.present.json_export",
    "csv": "tuibench.present.csv_export",
    "markdown": "tuibench.present.markdown_export",
}
"""Module of each format of a benchmark; `profile/export.py` has those of a profile."""


def render(
    run: RunResult, form: str, beside: SideBySide | None = None, shown: Shown | None = None, name: str = ""
) -> str:
    """Return the text of an export in a format; only JSON can include another result beside it.

    `shown` chooses the part of a profile, and `name` is the profile's name.
    """
    if form != JSON.name and run.spec.profile is not None:
        return profile_text(run, form, shown, name)
    if shown is not None:
        raise UsageError("no_choice_of_benchmark")
    # lazy: each format needs another module
    writer = importlib.import_module(_WRITERS[form])
    return str(writer.dumps(run, beside) if form == JSON.name else writer.dumps(run))

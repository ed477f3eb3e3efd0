"""A profile as CSV: one row per layer, or per layer and level, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from typing import Any

from tuibench.core import units
from tuibench.present.csv_export import safe_text
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.view import ProfileView, top_rows

_WHOLE = Shown(top=None)


def profile_csv(view: ProfileView[Any], shown: Shown = _WHOLE) -> str:
    """Return the table as text: every row in the order of the model, unless `shown` chooses otherwise."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(view.csv_columns)
    for row in top_rows(view.selected(shown, usual=""), shown):
        writer.writerows(view.csv_rows(row))
    return out.getvalue()


def all_of(names: Sequence[str]) -> str:
    """Return all names, however many: programs look names up in this cell."""
    return safe_text(" ".join(names), sys.maxsize)


def number(value: float | None) -> str:
    """Return a number for programs; '' for an unknown one."""
    return "" if value is None else units.number(value)


def count(value: int | None) -> str:
    """Return a count for programs; '' for an unknown one."""
    return "" if value is None else str(value)

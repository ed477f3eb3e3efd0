"""Exports of a profile: CSV, JSON, and Markdown in which no name can become markup."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tuibench.core.profile import CostProfile, LossProfile
from tuibench.core.record import to_plain
from tuibench.core.result import RunResult
from tuibench.present.json_export import finite
from tuibench.present.markdown_export import bullets, escape, markdown_table
from tuibench.present.profile.page import (
    SCHEMA,
    ProfileHeading,
    capital,
    heading_lines,
    heading_of,
    left_out,
    settle,
    view_of,
)
from tuibench.present.profile.shown import Shown
from tuibench.present.profile.summary import SHARES, VALUES
from tuibench.present.profile.view import ProfileView, top_rows
from tuibench.present.reason import export_words

_MOST_ROWS = 200
_WHOLE = Shown(top=None)


def profile_markdown(view: ProfileView[Any], heading: ProfileHeading, shown: Shown = _WHOLE) -> str:
    """Return summary, bars as a table and layers as a table; only the CSV has all rows."""
    sections = _details(view, heading, shown) if shown.layer else _sections(view, heading, shown)
    return "\n\n".join([view.markdown_title, *sections]) + "\n"


def _sections(view: ProfileView[Any], heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    yield bullets([*heading_lines(heading), *view.model_lines()])
    if not view.rows:
        return
    yield "## Layer summaries"
    if conclusions := view.conclusions():
        yield bullets(map(capital, conclusions))
    yield from _summary(view, shown)
    yield "## Layer results"
    if view.is_ratio:
        yield bullets(view.legend(()))
    rows = view.selected(shown)
    # An issue gets a limited table unless the user asks for more.
    kept = top_rows(rows, shown if shown.top is not None else replace(shown, top=_MOST_ROWS))
    texts = [[column.text(row) for column in view.columns] for row in kept]
    yield markdown_table([column.title for column in view.columns], [column.right for column in view.columns], texts)
    if len(kept) < len(rows):
        yield bullets(left_out(len(kept), len(rows), "CSV has all"))


def _summary(view: ProfileView[Any], shown: Shown) -> Iterator[str]:
    """Yield a row per operator; with values and shares if neither was chosen."""
    kind = shown.summary or view.usual
    found = view.summarize(kind, shown.display or VALUES)
    if found.bars:
        titles = ["operator", "layers", found.title]
        rows = [[bar.label, str(bar.layers), bar.text] for bar in found.bars]
        if not shown.display and not view.is_ratio:
            titles.append("%")
            shares = view.summarize(kind, SHARES).bars
            rows = [[*row, bar.text] for row, bar in zip(rows, shares, strict=True)]
        yield markdown_table(titles, [False, True, True, True], rows)
    if found.words:
        yield bullets(found.words)


def _details(view: ProfileView[Any], heading: ProfileHeading, shown: Shown) -> Iterator[str]:
    yield bullets(heading_lines(heading))
    details = view.details(shown)
    kept = top_rows(details, shown)
    for each in kept:
        yield f"## {escape(each.title)}"
        yield bullets(f"{label}: {value}" for label, value in each.pairs)
    if len(kept) < len(details):
        yield bullets(left_out(len(kept), len(details), "--top N"))


def profile_csv(view: ProfileView[Any], shown: Shown = _WHOLE) -> str:
    """Return the table as text: every row in the order of the model, unless `shown` chooses otherwise."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(view.csv_columns)
    for row in top_rows(view.selected(shown, usual=""), shown):
        writer.writerows(view.csv_rows(row))
    return out.getvalue()


_WRITERS: dict[str, Callable[[ProfileView[Any], ProfileHeading, Shown], str]] = {
    "csv": lambda view, _, shown: profile_csv(view, shown),
    "markdown": profile_markdown,
}
"""By name of the format."""


def theory_text(found: CostProfile | LossProfile, heading: ProfileHeading, form: str) -> str:
    """Return an unmeasured profile as csv or markdown."""
    return _WRITERS[form](view_of(found), heading, _WHOLE)


def profile_text(result: RunResult, form: str, shown: Shown | None = None, name: str = "") -> str:
    """Return the export of a profile as csv or markdown: the whole, or what `shown` selects."""
    profile = result.profile
    if profile is None:
        return ""
    chosen = settle(profile.kind, shown or Shown(top=None), profile.loss)
    heading = replace(heading_of(result), name=name)
    view = view_of(profile)
    return _WRITERS[form](view, heading, chosen)


def theory_json(kind: str, model: str, found: CostProfile | LossProfile) -> str:
    """Return an unmeasured profile as JSON."""
    reasons: dict[str, str] = {}
    plain = finite(
        {"schema": SCHEMA, "kind": kind, "model": model, "profile": to_plain(found, export_words)}, "", reasons
    )
    return json.dumps(plain | {"reasons": reasons}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"

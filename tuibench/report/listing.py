"""The list of benchmarks, newest first: one line each, or the rows as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace

from tuibench.core.card import BenchmarkRow
from tuibench.core.headline import row_headline
from tuibench.core.short_id import short_ids
from tuibench.core.text import show
from tuibench.core.units import count_of
from tuibench.report.age import age
from tuibench.report.column import Column, lay_out
from tuibench.report.headline import brief_headline, headline_sentence
from tuibench.report.style import to_ascii, width_of

WIDTH = 80
NEWEST = 30
"""Number of rows shown by default."""
SCHEMA = 1

_COLUMNS = (
    Column("id"),
    Column("age", right=True),
    Column("name", least=16),
    Column("engine", least=10, rank=1),
    Column("scenario", rank=2),
    Column("cores", least=5, rank=3),
    Column("batch", least=5, rank=4),
    Column("cells", right=True, rank=5),
    Column("result"),
    Column("grade"),
)
_PROFILE_COLUMNS = (
    Column("id"),
    Column("age", right=True),
    Column("name", least=16),
    Column("kind"),
    Column("engine", least=10, rank=2),
    Column("cores", least=5, rank=3),
    Column("batch", least=5, rank=4),
    Column("result", least=24),
    Column("grade"),
)
_RESULT = 8
_LEAST_RESULT, _MOST_RESULT = 20, 40
_FOREIGN = "foreign"
_PLAIN = [field.name for field in fields(BenchmarkRow) if field.name not in ("facts", "headline")]
_FIELDS = (*_PLAIN[: _PLAIN.index("grade")], "headline", *_PLAIN[_PLAIN.index("grade") :])
_LONGEST = 200
_FINISHED = "finished"


def listing(
    rows: Sequence[BenchmarkRow],
    now: float,
    *,
    limit: int | None = NEWEST,
    width: int | None = WIDTH,
    ascii_only: bool = False,
) -> str:
    """Return the first `limit` rows, newest first; '' without any. `width` None cuts nothing, for pipes."""
    names = short_ids(row.id for row in rows)
    shown = rows if limit is None else rows[: max(limit, 0)]
    if not shown:
        return ""
    table = [_cells(row, names[row.id], now) for row in shown]
    lines = lay_out(_fit_columns(shown, table), table, width)
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


def profile_listing(
    rows: Sequence[BenchmarkRow],
    now: float,
    *,
    limit: int | None = NEWEST,
    width: int | None = WIDTH,
    ascii_only: bool = False,
) -> str:
    """Return the list of profiles, with a kind instead of scenarios and cells."""
    names = short_ids(row.id for row in rows)
    shown = rows if limit is None else rows[: max(limit, 0)]
    if not shown:
        return ""
    text = (
        "\n".join(lay_out(_PROFILE_COLUMNS, [_profile_cells(row, names[row.id], now) for row in shown], width)) + "\n"
    )
    return to_ascii(text) if ascii_only else text


def hidden_words(total: int, limit: int | None = NEWEST, noun: str = "benchmark") -> str:
    """Return the line below a shortened or empty list; '' if nothing is hidden."""
    if total == 0:
        verb = "makes" if noun == "profile" else "measures"
        return f"no {noun} is stored yet: tuibench {noun} MODEL {verb} one"
    more = 0 if limit is None else total - max(limit, 0)
    return f"and {count_of(more, f'older {noun}')} (-n {total} or --all)" if more > 0 else ""


def profile_words(count: int) -> str:
    """Return the line below a list of benchmarks if there are profiles too."""
    return f"and {count_of(count, 'profile')}: tuibench list --profiles"


def rows_json(rows: Sequence[BenchmarkRow], limit: int | None = None) -> str:
    """Return the rows as stored, each with its short id, as ASCII without control characters."""
    names = short_ids(row.id for row in rows)
    shown = rows if limit is None else rows[: max(limit, 0)]
    lines = [json.dumps({"short": names[row.id], **_plain(row), "facts": row.facts}) for row in shown]
    # One line per benchmark: readable, good for diff, and ten times as fast as indenting.
    listed = "".join(f"\n{line}" + "," * (i < len(lines)) for i, line in enumerate(lines, 1))
    return f'{{"schema": {SCHEMA}, "total": {len(rows)}, "benchmarks": [{listed}\n]}}\n'


def headline_words(row: BenchmarkRow) -> str:
    """Return the headline without facts in other columns; a status other than finished comes first."""
    found = row_headline(row)
    if found is not None:
        return brief_headline(found)
    # A row of an older version has a sentence until its facts are derived; a damaged row has neither.
    return show(row.headline or ("" if row.status == _FINISHED else row.status), _LONGEST)


def _plain(row: BenchmarkRow) -> dict[str, str | int]:
    """Return the values of a row, with its whole headline in words."""
    found = row_headline(row)
    said = row.headline if found is None else headline_sentence(found)
    return {name: getattr(row, name) for name in _FIELDS} | {"headline": said}


def _fit_columns(rows: Sequence[BenchmarkRow], table: Sequence[tuple[str, ...]]) -> list[Column]:
    """Return the columns; the result column is wide enough for numbers, but not for long reasons of failed rows."""
    numbers = (width_of(cells[_RESULT]) for row, cells in zip(rows, table, strict=True) if row.measured)
    least = min(max(_LEAST_RESULT, *numbers), _MOST_RESULT)
    return [replace(column, least=least) if column.title == "result" else column for column in _COLUMNS]


def _cells(row: BenchmarkRow, name: str, now: float) -> tuple[str, ...]:
    measured = str(row.cells) if row.measured == row.cells else f"{row.measured}/{row.cells}"
    return (
        name,
        age(row.started_utc, now),
        show(row.name or row.models, _LONGEST),
        show(row.engines, _LONGEST),
        show(row.scenarios, _LONGEST),
        show(row.cores, _LONGEST),
        show(row.batches, _LONGEST),
        measured,
        headline_words(row),
        _FOREIGN if row.foreign else show(row.grade, 4) or "-",
    )


def _profile_cells(row: BenchmarkRow, name: str, now: float) -> tuple[str, ...]:
    return (
        name,
        age(row.started_utc, now),
        show(row.name or row.models, _LONGEST),
        show(row.kind, 20),
        show(row.engines, _LONGEST),
        show(row.cores, _LONGEST),
        show(row.batches, _LONGEST) or "-",
        headline_words(row),
        _FOREIGN if row.foreign else show(row.grade, 4) or "-",
    )

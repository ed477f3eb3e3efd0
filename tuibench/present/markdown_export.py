"""A run as Markdown, to paste into an issue: no name in it can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from tuibench.core.cell import CellResult, Estimate, p50_latency
from tuibench.core.engine import with_version
from tuibench.core.result import RunResult
from tuibench.core.text import show
from tuibench.present.amount import plus_minus
from tuibench.present.cells import (
    axis_value,
    check_text,
    describe,
    differences,
    failure_text,
    no_interval_notes,
    provenance_lines,
    support_lines,
    varying,
)
from tuibench.present.command import command_of
from tuibench.present.csv_export import number
from tuibench.present.headline import conclusions, result_headline
from tuibench.present.reason import all_words, reason_words
from tuibench.present.summary import TITLE, drawings, tradeoff_lines
from tuibench.present.table import Column
from tuibench.present.verdict import verdict_sentence

_MARKUP = re.compile(r"([\\`*_\[\]#!|~$])")
_MAX_CHARS = 100_000
_FIGURE_WIDTH = 80


def dumps(run: RunResult) -> str:
    """Return headline, table of cells, problems, figures, conclusions, environment and the command."""
    parts = ["# tuibench benchmark", escape(result_headline(run)), _table(run)]
    notes = _notes(run)
    parts += [bullets(notes)] if notes else []
    parts += _figures_of(run)
    said = [verdict_sentence(found.verdict) for found in run.comparisons] + [
        found.sentence for found in conclusions(run)
    ]
    parts += ["## Conclusions", bullets(said)] if said else []
    choices = tradeoff_lines(run)
    parts += [f"## {TITLE}", "\n".join(f"    {line}".rstrip() for line in choices)] if choices else []
    parts += ["## Warnings", bullets(all_words(run.warnings))] if run.warnings else []
    versions = ", ".join(with_version(name, version) for name, version in run.versions.items())
    parts += [escape(f"{run.id} · {run.started_utc} · {number(run.seconds)} s · {versions}")]
    # An indented block is literal to the last character, so the command can be copied.
    parts += [f"Again:\n\n    {command}"] if (command := command_of(run)) else []
    return "\n\n".join(parts) + "\n"


def escape(text: object) -> str:
    """Return text with HTML and Markdown marks escaped and control characters visible."""
    return _MARKUP.sub(r"\\\1", html.escape(show(text, _MAX_CHARS), quote=False))


def markdown_table(titles: Sequence[str], right: Sequence[bool], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; `right` tells for each column whether it is aligned to the right."""
    rule = ["---:" if is_right else "---" for _, is_right in zip(titles, right, strict=False)]
    escaped = ([escape(text) for text in row] for row in (titles, *rows))
    head, *body = (f"| {' | '.join(row)} |" for row in escaped)
    return "\n".join([head, f"| {' | '.join(rule)} |", *body])


def bullets(texts: Iterable[str]) -> str:
    """Return a list with an item for each text."""
    return "\n".join(f"- {escape(text)}" for text in texts)


def _table(run: RunResult) -> str:
    axes = varying(run) or ["scenario"]
    titles = [*axes, *(column.title for column in _COLUMNS)]
    right = [False] * len(axes) + [column.right for column in _COLUMNS]
    rows = (
        [*(axis_value(run, cell, axis) for axis in axes), *(column.text(cell) for column in _COLUMNS)]
        for cell in run.cells
    )
    return markdown_table(titles, right, rows)


_COLUMNS: tuple[Column[CellResult], ...] = (
    Column("p50", "p50 ms/batch", 0, lambda cell: number(p50_latency(cell).value), right=True),
    Column("p50 half", "±", 0, lambda cell: plus_minus(p50_latency(cell)), right=True),
    Column("rate", "items/s", 0, lambda cell: number(cell.items_per_sec.value), right=True),
    Column("rate half", "±", 0, lambda cell: plus_minus(cell.items_per_sec), right=True),
    Column("p99", "p99 ms", 0, lambda cell: number(cell.latency_ms.get("p99", Estimate(None)).value), right=True),
    Column("grade", "grade", 0, lambda cell: cell.grade.letter if cell.grade else ""),
    Column("outputs", "outputs", 0, lambda cell: check_text(cell.check) if cell.pooled else ""),
    Column("status", "status", 0, lambda cell: failure_text(cell) or cell.status),
)  # fmt: skip
"""Columns of the table of cells; those of the shell are `cells.py:CELL_COLUMNS`."""


def _figures_of(run: RunResult) -> Iterator[str]:
    """Yield each figure in an indented block, which is literal after a heading but not after a list."""
    for drawing in drawings(run, _FIGURE_WIDTH):
        yield f"## {escape(drawing.title)}"
        yield "\n".join(f"    {line}".rstrip() for line in drawing.text.splitlines())
        if drawing.sentences:
            yield bullets(drawing.sentences)


def _notes(run: RunResult) -> list[str]:
    axes = varying(run)
    notes = [f"{describe(run, cell, axes)}: {text}" for cell in run.cells for text in differences(cell)]
    notes += support_lines(run) + no_interval_notes(run) + provenance_lines(run)
    return notes + [
        f"{describe(run, cell, axes)}: grade {cell.grade.letter}: {reason_words(cell.grade.cause)}"
        for cell in run.cells
        if cell.grade is not None and cell.grade.letter in ("C", "D")
    ]

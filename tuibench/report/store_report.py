"""The results of `store check` and `store migrate`: a line per problem, worst first, then one summary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import wrap

from tuibench.core.record import to_plain
from tuibench.core.text import show
from tuibench.core.trash import NEWER, Problem, StoreReport
from tuibench.core.units import count_of
from tuibench.report.style import to_ascii

SCHEMA = 1
_WORDS = {
    "unlisted": "not listed",
    "missing": "missing",
    "damaged": "damaged",
    "stale": "out of date",
    "leftover": "left behind",
    "unfinished": "begun and not ended",
    NEWER: "left to a newer version",
    "edited": "changed by hand",
}
_LONGEST = 1000
_INDENT = "    "


def store_report(report: StoreReport, *, ascii_only: bool = False, width: int | None = None) -> str:
    """Return the text for stdout, wrapped at `width` columns if given; its end summarizes the state of the store."""
    problems = sorted(report.problems, key=lambda problem: (problem.repaired, problem.kind == NEWER))
    lines = [line for problem in problems for line in _lines(problem, width)]
    text = "\n".join([*lines, *(part for line in _ending(report) for part in _wrap(line, width))]) + "\n"
    return to_ascii(text) if ascii_only else text


def store_json(report: StoreReport) -> str:
    """Return the report as JSON."""
    return json.dumps({"schema": SCHEMA, **to_plain(report), "exit_code": report.exit_code}, indent=1) + "\n"


def _lines(problem: Problem, width: int | None) -> Iterator[str]:
    mark = "repaired" if problem.repaired else "newer" if problem.kind == NEWER else "PROBLEM"
    where = f"{mark} {show(problem.path, _LONGEST)}"
    detail = f": {show(problem.detail, _LONGEST)}" if problem.detail else ""
    what = _WORDS.get(problem.kind, show(problem.kind, 40)) + detail
    if width is None or len(where) + len(what) + 2 <= width:
        yield f"{where}: {what}"
        return
    # Do not wrap a path, so that it can be copied.
    yield where
    yield from _wrap(what, width, _INDENT)


def _wrap(text: str, width: int | None, indent: str = "") -> list[str]:
    if width is None:
        return [indent + text]
    room = max(width, 2 * len(_INDENT))
    return wrap(
        text, room, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _ending(report: StoreReport) -> Iterator[str]:
    looked = f"{count_of(report.checked, 'file')} looked at, {report.read} read and verified"
    looked += f", {report.migrated} migrated" if report.migrated else ""
    newer = sum(problem.kind == NEWER for problem in report.problems)
    looked += f", {newer} left to a newer version" if newer else ""
    left = sum(not problem.repaired for problem in report.problems) - newer
    repaired = len(report.problems) - left - newer
    within = " in what was read (--read-data reads all)" if report.partial else ""
    if left:
        yield f"{looked}: {count_of(left, 'problem')} left" + (f", {repaired} repaired" if repaired else "")
        if any(problem.mendable for problem in report.problems):
            how = "tuibench store check --repair" if report.partial else "tuibench store check --read-data --repair"
            yield f"{how} mends what can be mended; nothing that was saved is deleted."
    elif repaired:
        yield f"{looked}: {count_of(repaired, 'problem')} repaired, none left{within}"
    else:
        yield f"{looked}: nothing is wrong{within}"

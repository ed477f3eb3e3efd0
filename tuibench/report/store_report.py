"""What `store check` and `store migrate` found: a line per problem, worst first, and one sentence at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tuibench.core.record import to_plain
from tuibench.core.text import show
from tuibench.core.trash import Problem, StoreReport
from tuibench.core.units import count_of
from tuibench.report.style import to_ascii

SCHEMA = 1
_WORDS = {
    "unlisted": "not in the index",
    "missing": "listed, but its file is gone",
    "damaged": "not what was written",
    "stale": "older than what it belongs to",
    "leftover": "left behind by a writer that died",
    "unfinished": "begun and not ended",
    "newer": "written by a newer version",
    "edited": "changed by hand",
}
_MENDABLE = frozenset({"unlisted", "missing", "stale", "leftover", "unfinished"})
_LONGEST = 1000


def store_report(report: StoreReport, *, ascii_only: bool = False) -> str:
    """The text for stdout; its last line says how the store is."""
    problems = sorted(report.problems, key=lambda problem: problem.repaired)
    text = "\n".join([*map(_line, problems), *_ending(report)]) + "\n"
    return to_ascii(text) if ascii_only else text


def store_json(report: StoreReport) -> str:
    """The same for programs."""
    return json.dumps({"schema": SCHEMA, **to_plain(report), "exit_code": report.exit_code}, indent=1) + "\n"


def _line(problem: Problem) -> str:
    mark = "repaired" if problem.repaired else "PROBLEM"
    words = _WORDS.get(problem.kind, show(problem.kind, 40))
    detail = f": {show(problem.detail, _LONGEST)}" if problem.detail else ""
    return f"{mark} {show(problem.path, _LONGEST)}: {words}{detail}"


def _ending(report: StoreReport) -> Iterator[str]:
    looked = f"{count_of(report.checked, 'file')} looked at, {report.read} read and verified"
    looked += f", {report.migrated} migrated" if report.migrated else ""
    left = sum(not problem.repaired for problem in report.problems)
    repaired = len(report.problems) - left
    if left:
        yield f"{looked}: {count_of(left, 'problem')} left" + (f", {repaired} repaired" if repaired else "")
        if any(not problem.repaired and problem.kind in _MENDABLE for problem in report.problems):
            yield "What can be repaired is by: tuibench store check --repair"
    elif repaired:
        yield f"{looked}: {count_of(repaired, 'problem')} repaired, none left"
    else:
        yield f"{looked}: nothing is wrong"

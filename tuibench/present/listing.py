"""Lists of benchmarks, profiles, projects and the trash: columns for the shell and the screen, text and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tuibench.core.headline import row_headline
from tuibench.core.ids import short_ids
from tuibench.core.model import UNCHANGED, ModelState
from tuibench.core.record import to_plain
from tuibench.core.spec import LOSS, PERFORMANCE
from tuibench.core.stored import BenchmarkRow, ProjectRow, TrashEntry, Version
from tuibench.core.text import pad, show, width_of
from tuibench.core.units import count_of, size
from tuibench.present.ages import age
from tuibench.present.headline import brief_headline, headline_sentence
from tuibench.present.table import Column, as_text, table_lines

WIDTH = 80
NEWEST = 30
"""Number of rows shown by default."""
SCHEMA = 1

_MAX_CHARS = 200


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a list: a benchmark, a profile, or a run of either that is not stored yet."""

    id: str = ""
    age: str = ""
    name: str = ""
    engine: str = ""
    scenario: str = ""
    cores: str = ""
    batch: str = ""
    sizes: str = ""
    """Cores and batches together, for the screen."""
    cells: str = ""
    """Number of cells, or measured / requested."""
    kind: str = ""
    """Kind of a profile."""
    result: str = ""
    half: str = ""
    """Half-width of the interval in percent."""
    grade: str = ""
    note: str = ""
    sign: str = ""
    """Sign of the state, for the screen."""


def _benchmark_column(key: str, head: str = "", width: int = 0, **more: Any) -> Column[Listed]:
    """Declare a column that shows the field `key`."""
    return Column(key, key, width, lambda line: show(getattr(line, key), _MAX_CHARS), head=head, **more)


_SHELL_BENCHMARKS = (
    _benchmark_column("id"),
    _benchmark_column("age", right=True),
    _benchmark_column("name", least=16),
    _benchmark_column("engine", least=10, rank=1),
    _benchmark_column("scenario", rank=2),
    _benchmark_column("cores", least=5, rank=3),
    _benchmark_column("batch", least=5, rank=4),
    _benchmark_column("cells", right=True, rank=5),
    _benchmark_column("result"),
    _benchmark_column("grade"),
)
_SHELL_PROFILES = (
    *_SHELL_BENCHMARKS[:3],
    _benchmark_column("kind"),
    _benchmark_column("engine", least=10, rank=2),
    *_SHELL_BENCHMARKS[5:7],
    _benchmark_column("result", least=24),
    _benchmark_column("grade"),
)
BENCHMARK_COLUMNS = (
    _benchmark_column("sign", " ", 1),
    _benchmark_column("id", "ID", 4),
    _benchmark_column("age", "AGE", 4, right=True),
    _benchmark_column("engine", "ENGINE", 7, rank=2, wide=22),
    _benchmark_column("scenario", "SCEN", 5, rank=3, wide=10),
    _benchmark_column("sizes", "CORES×BATCH", 12, rank=1, wide=24),
    _benchmark_column("result", "BEST", 24, grow=True, wide=48),
    _benchmark_column("half", "±%", 4, right=True),
    _benchmark_column("grade", "G", 1),
    _benchmark_column("name", "NAME", 12, grow=True, rank=5, wide=30),
    _benchmark_column("note", "NOTE", 16, grow=True, rank=6, wide=40),
)
"""Columns of benchmarks on the screen."""
_NAMED = (
    *(replace(column, frozen=True) for column in BENCHMARK_COLUMNS[:3]),
    _benchmark_column("name", "NAME", 12, grow=True, wide=30, part=5, frozen=True),
    _benchmark_column("engine", "ENGINE", 7, rank=3, wide=12, part=8),
    _benchmark_column("batch", "BATCH", 5, rank=2, right=True),
    _benchmark_column("cores", "CORES", 5, rank=1, right=True),
)
_NOTE = _benchmark_column("note", "NOTE", 16, grow=True, rank=7, wide=40)
PROFILE_COLUMNS = {
    PERFORMANCE: (
        *_NAMED,
        _benchmark_column("result", "TIME", 20, grow=True, wide=60, part=4),
        *BENCHMARK_COLUMNS[7:9],
        _NOTE,
    ),
    LOSS: (*_NAMED, _benchmark_column("result", "MOST SENSITIVE", 26, grow=True, wide=60, part=3), _NOTE),
}
"""Columns of profiles on the screen, by kind."""
_LEAST_RESULT, _MOST_RESULT = 20, 40
_FOREIGN = "foreign"
_PLAIN = [field.name for field in fields(BenchmarkRow) if field.name not in ("facts", "headline")]
_FIELDS = (*_PLAIN[: _PLAIN.index("grade")], "headline", *_PLAIN[_PLAIN.index("grade") :])
_FINISHED = "finished"


def listing(
    rows: Sequence[BenchmarkRow],
    now: float,
    *,
    limit: int | None = NEWEST,
    width: int | None = WIDTH,
    ascii_only: bool = False,
    profiles: bool = False,
) -> str:
    """Return the first `limit` rows, newest first; '' without any. `width` None cuts nothing, for pipes.

    `profiles` lists a kind instead of scenarios and cells.
    """
    names = short_ids(row.id for row in rows)
    shown = rows if limit is None else rows[: max(limit, 0)]
    if not shown:
        return ""
    lines = [_listed(row, names[row.id], now) for row in shown]
    columns = _SHELL_PROFILES if profiles else _fit_columns(shown, lines)
    return as_text(table_lines(columns, lines, width), ascii_only)


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
    return show(row.headline or ("" if row.status == _FINISHED else row.status), _MAX_CHARS)


def _plain(row: BenchmarkRow) -> dict[str, str | int]:
    """Return the values of a row, with its whole headline in words."""
    found = row_headline(row)
    said = row.headline if found is None else headline_sentence(found)
    return {name: getattr(row, name) for name in _FIELDS} | {"headline": said}


def _fit_columns(rows: Sequence[BenchmarkRow], lines: Sequence[Listed]) -> list[Column[Listed]]:
    """Return the columns; the result column is wide enough for numbers, but not for long reasons of failed rows."""
    numbers = (width_of(line.result) for row, line in zip(rows, lines, strict=True) if row.measured)
    least = min(max((_LEAST_RESULT, *numbers)), _MOST_RESULT)
    return [replace(column, least=least) if column.key == "result" else column for column in _SHELL_BENCHMARKS]


def _listed(row: BenchmarkRow, name: str, now: float) -> Listed:
    return Listed(
        id=name,
        age=age(row.started_utc, now),
        name=row.name or row.models,
        engine=row.engines,
        scenario=row.scenarios,
        cores=row.cores,
        batch=row.batches or ("-" if row.kind else ""),
        cells=str(row.cells) if row.measured == row.cells else f"{row.measured}/{row.cells}",
        kind=row.kind,
        result=headline_words(row),
        grade=_FOREIGN if row.foreign else show(row.grade, 4) or "-",
    )


_LEAST_NAME, _LEAST_MODEL = 12, 8
_INDENT = 12


@dataclass(frozen=True, slots=True)
class ListedProject:
    """One line of a list of projects, or a run that has no project yet."""

    name: str
    model: str = ""
    count: str = ""
    """Number of stored benchmarks and profiles."""
    benchmarks: str = ""
    profiles: str = ""
    size: str = ""
    modified: str = ""
    created: str = ""
    now: str = ""
    """State of the project's current run."""
    id: str = ""


def _project_column(key: str, title: str = "", width: int = 0, **more: Any) -> Column[ListedProject]:
    """Declare a column that shows the field `key`."""
    return Column(key, title or key, width, lambda line: show(getattr(line, key), _MAX_CHARS), **more)


_SHELL_PROJECTS = (
    _project_column("id"),
    _project_column("name", least=_LEAST_NAME),
    _project_column("model", least=_LEAST_MODEL, start=True),
    _project_column("benchmarks", right=True),
    _project_column("profiles", right=True),
    _project_column("size", right=True),
    _project_column("modified", "modified (UTC)"),
)
PROJECT_COLUMNS = (
    _project_column("name", "PROJECT", 16, grow=True, frozen=True),
    _project_column("model", "MODEL", 14, grow=True, rank=2),
    _project_column("now", "NOW", 14, wide=24, part=5),
    _project_column("count", "MEASURED", 8, right=True),
    _project_column("modified", "CHANGED", 7, right=True),
    _project_column("created", "MADE", 7, right=True, rank=3),
    _project_column("size", "SIZE", 8, right=True, rank=1),
)
"""Columns of projects on the screen."""


def listed_project(row: ProjectRow, now: float) -> ListedProject:
    """Return a project's line on the screen, with ages and the model's file name."""
    project = row.project
    asked = project.versions[-1].model.asked if project.versions else ""
    return ListedProject(
        project.name,
        asked.rstrip("/").rpartition("/")[2] or asked,
        str(row.measured) if row.size_text else "",
        size=row.size_text,
        modified=age(project.modified_utc, now),
        created=age(project.created_utc, now),
    )


def project_list(rows: Sequence[ProjectRow], width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line for each project; '' for none. `width` None cuts nothing, for pipes."""
    if not rows:
        return ""
    names = short_ids(row.project.id for row in rows)
    lines = [_shell_project(row, names[row.project.id]) for row in rows]
    return as_text(table_lines(_SHELL_PROJECTS, lines, width), ascii_only)


def project_text(row: ProjectRow, states: Mapping[str, ModelState], short: str, ascii_only: bool = False) -> str:
    """Return all facts about one project; `states` has the current state of each version's model, by version id."""
    project = row.project
    lines = [f"{show(project.name, _MAX_CHARS)} ({short})"]
    lines += [f"  {show(line, 500)}" for line in project.description.splitlines()]
    for version in project.versions:
        lines += _version_lines(version, states.get(version.id))
    if project.dims:
        lines.append(_named("dims", ", ".join(f"{show(name, 60)}={length}" for name, length in project.dims.items())))
    last = f", the last {_minute(row.last_run_utc)}" if row.last_run_utc else ""
    lines.append(_named("stored", f"{row.held}{last}"))
    lines.append(_named("on disk", row.size_text))
    lines.append(_named("created", _minute(project.created_utc)))
    lines.append(_named("modified", _minute(project.modified_utc)))
    return as_text(lines, ascii_only)


def projects_json(rows: Sequence[ProjectRow], states: Mapping[str, ModelState] | None = None) -> str:
    """Return all facts about the projects as one object, in ASCII, since names may contain escape sequences."""
    names = short_ids(row.project.id for row in rows)
    listed = [_project_list_plain(row, names[row.project.id], states) for row in rows]
    return json.dumps({"schema": SCHEMA, "projects": listed}, indent=2, ensure_ascii=True) + "\n"


def _project_list_plain(row: ProjectRow, short: str, states: Mapping[str, ModelState] | None) -> dict[str, Any]:
    project: dict[str, Any] = to_plain(row.project)
    for version in project["versions"] if states is not None else ():
        version["state"] = to_plain((states or {}).get(version["id"]))
    counted = {
        "benchmarks": row.benchmarks,
        "profiles": row.profiles,
        "size_bytes": row.size_bytes,
        "last_run_utc": row.last_run_utc,
    }
    return {"short": short, **project, **counted}


def _shell_project(row: ProjectRow, short: str) -> ListedProject:
    project = row.project
    model = project.versions[-1].model if project.versions else None
    return ListedProject(
        project.name,
        "" if model is None else model.asked if ":" in model.asked else model.file.path,
        benchmarks=str(row.benchmarks),
        profiles=str(row.profiles),
        size=row.size_text,
        modified=_minute(project.modified_utc),
        id=short,
    )


def _version_lines(version: Version, state: ModelState | None) -> list[str]:
    model = version.model
    weights = f" and {count_of(len(model.external), 'file')} of weights" if model.external else ""
    total = model.file.size + sum(stamp.size for stamp in model.external)
    lines = [_named(show(version.name, _INDENT - 2), show(model.asked, _MAX_CHARS))]
    if model.asked != model.file.path:
        lines.append(_named("", show(model.file.path, _MAX_CHARS)))
    lines.append(_named("", f"{size(total)}{weights}, sha256 {show(model.sha256, 13)}"))
    if state is not None and state.state != UNCHANGED:
        lines.append(_named("", f"{show(state.file, _MAX_CHARS)} is {state.state}"))
    lines += [_named("", show(line, _MAX_CHARS)) for line in version.note.splitlines()]
    return lines


def _named(name: str, text: str) -> str:
    return f"  {pad(name, _INDENT)}{text}"


def _minute(utc: str) -> str:
    return show(utc.replace("T", " ")[:16], 16)


_MAX_NAMES_CHARS = 400
_SHOWN = 5


Aged = tuple[TrashEntry, str, float]
"""An entry, its short id and the current time."""


def _held(one: Aged) -> str:
    return show(", ".join(one[0].names), _MAX_NAMES_CHARS) or count_of(len(one[0].benchmarks), "benchmark")


_AGE: Column[Aged] = Column(
    "age", "removed", 8, lambda one: age(one[0].removed_utc, one[2]), head="REMOVED", right=True
)
_KIND: Column[Aged] = Column("kind", "kind", 9, lambda one: show(one[0].kind, 20), head="WHAT")
_SIZE: Column[Aged] = Column("size", "size", 8, lambda one: size(one[0].size_bytes), head="SIZE", right=True)
_SHELL_TRASH: tuple[Column[Aged], ...] = (
    Column("id", "id", 0, lambda one: one[1]),
    _AGE,
    _KIND,
    _SIZE,
    Column("held", "held", 0, _held, least=16),
)
TRASH_COLUMNS: tuple[Column[Aged], ...] = (
    _AGE,
    _KIND,
    Column("names", "names", 20, lambda one: ", ".join(one[0].names), head="NAMES", grow=True),
    Column("count", "count", 10, lambda one: str(len(one[0].benchmarks)), head="BENCHMARKS", right=True, rank=2),
    replace(_SIZE, rank=1),
)
"""Columns of the trash on the screen."""


def trash_list(
    entries: Sequence[TrashEntry], now: float, *, width: int | None = WIDTH, ascii_only: bool = False
) -> str:
    """Return a line per removal and their total; '' for an empty trash."""
    if not entries:
        return ""
    names = short_ids(entry.id for entry in entries)
    lines = table_lines(_SHELL_TRASH, [(entry, names[entry.id], now) for entry in entries], width)
    held = sum(entry.size_bytes for entry in entries)
    lines.append(f"{count_of(len(entries), 'removal')}, {size(held)}; tuibench undo restores the newest")
    return as_text(lines, ascii_only)


def trash_json(entries: Sequence[TrashEntry]) -> str:
    """Return the trash as JSON."""
    return json.dumps({"schema": SCHEMA, "trash": [to_plain(entry) for entry in entries]}, indent=1) + "\n"


def held_words(entry: TrashEntry) -> str:
    """Return the names in a removal, shortened to one line."""
    return listed_words(entry.names) or count_of(len(entry.benchmarks), "benchmark")


def listed_words(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(show(name, 80) for name in names[:_SHOWN]) + more

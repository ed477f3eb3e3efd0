"""The list of benchmarks, newest first: one line each, or the rows as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tuibench.core.headline import row_headline
from tuibench.core.ids import short_ids
from tuibench.core.model import UNCHANGED, ModelState
from tuibench.core.record import to_plain
from tuibench.core.stored import BenchmarkRow, ProjectRow, TrashEntry, Version
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.present.headline import brief_headline, headline_sentence
from tuibench.present.table import Column, age, fit, fit_end, lay_out, pad, to_ascii, width_of

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


_TITLES = ("id", "name", "model", "benchmarks", "profiles", "size", "modified (UTC)")
_RIGHT = ("benchmarks", "profiles", "size")
_LEAST_NAME, _LEAST_MODEL = 12, 8
_INDENT = 12


def project_list(rows: Sequence[ProjectRow], width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line for each project; '' for none. `width` None cuts nothing, for pipes."""
    if not rows:
        return ""
    names = short_ids(row.project.id for row in rows)
    table = [_TITLES, *(_project_list_cells(row, names[row.project.id]) for row in rows)]
    room = [max(width_of(line[i]) for line in table) for i in range(len(_TITLES))]
    if width is not None:
        room[1], room[2] = _share(room, width)
    return _encode([_line(cells, room) for cells in table], ascii_only)


def project_text(row: ProjectRow, states: Mapping[str, ModelState], short: str, ascii_only: bool = False) -> str:
    """Return all facts about one project; `states` has the current state of each version's model, by version id."""
    project = row.project
    lines = [f"{show(project.name, _LONGEST)} ({short})"]
    lines += [f"  {show(line, 500)}" for line in project.description.splitlines()]
    for version in project.versions:
        lines += _version_lines(version, states.get(version.id))
    if project.dims:
        lines.append(_named("dims", ", ".join(f"{show(name, 60)}={length}" for name, length in project.dims.items())))
    last = f", the last {_minute(row.last_run_utc)}" if row.last_run_utc else ""
    lines.append(_named("stored", f"{row.held}{last}"))
    lines.append(_named("on disk", size(row.size_bytes)))
    lines.append(_named("created", _minute(project.created_utc)))
    lines.append(_named("modified", _minute(project.modified_utc)))
    return _encode(lines, ascii_only)


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


def _project_list_cells(row: ProjectRow, short: str) -> tuple[str, ...]:
    project = row.project
    model = project.versions[-1].model if project.versions else None
    path = "" if model is None else model.asked if ":" in model.asked else model.file.path
    counts, modified = (str(row.benchmarks), str(row.profiles)), _minute(project.modified_utc)
    return short, show(project.name, _LONGEST), show(path, _LONGEST), *counts, size(row.size_bytes), modified


def _share(room: Sequence[int], width: int) -> tuple[int, int]:
    """Return the widths of name and model; the model is cut first, since its end identifies it."""
    left = width - 2 * (len(room) - 1) - sum(room) + room[1] + room[2]
    name = min(room[1], max(left - min(room[2], _LEAST_MODEL), _LEAST_NAME))
    if room[1] + room[2] > left and name > left // 2:
        name = max(left - room[2], left // 2)
    return name, max(min(room[2], left - name), 0)


def _line(cells: Sequence[str], room: Sequence[int]) -> str:
    cut = [
        fit_end(cell, w) if title == "model" else fit(cell, w)
        for title, cell, w in zip(_TITLES, cells, room, strict=True)
    ]
    padded = (pad(cell, w, right=title in _RIGHT) for title, cell, w in zip(_TITLES, cut, room, strict=True))
    return "  ".join(padded).rstrip()


def _version_lines(version: Version, state: ModelState | None) -> list[str]:
    model = version.model
    weights = f" and {count_of(len(model.external), 'file')} of weights" if model.external else ""
    total = model.file.size + sum(stamp.size for stamp in model.external)
    lines = [_named(show(version.name, _INDENT - 2), show(model.asked, _LONGEST))]
    if model.asked != model.file.path:
        lines.append(_named("", show(model.file.path, _LONGEST)))
    lines.append(_named("", f"{size(total)}{weights}, sha256 {show(model.sha256, 13)}"))
    if state is not None and state.state != UNCHANGED:
        lines.append(_named("", f"{show(state.file, _LONGEST)} is {state.state}"))
    lines += [_named("", show(line, _LONGEST)) for line in version.note.splitlines()]
    return lines


def _named(name: str, text: str) -> str:
    return f"  {pad(name, _INDENT)}{text}"


def _minute(utc: str) -> str:
    return show(utc.replace("T", " ")[:16], 16)


def _encode(lines: Sequence[str], ascii_only: bool) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return to_ascii(text) if ascii_only else text


_TRASH_LIST_COLUMNS = (
    Column("id"),
    Column("removed", right=True),
    Column("kind"),
    Column("size", right=True),
    Column("held", least=16),
)
_TRASH_LIST_LONGEST = 400
_SHOWN = 5


def trash_list(
    entries: Sequence[TrashEntry], now: float, *, width: int | None = WIDTH, ascii_only: bool = False
) -> str:
    """Return a line per removal and their total; '' for an empty trash."""
    if not entries:
        return ""
    names = short_ids(entry.id for entry in entries)
    lines = lay_out(_TRASH_LIST_COLUMNS, [_trash_list_cells(entry, names[entry.id], now) for entry in entries], width)
    held = sum(entry.size_bytes for entry in entries)
    lines.append(f"{count_of(len(entries), 'removal')}, {size(held)}; the newest comes back with: tuibench undo")
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


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


def _trash_list_cells(entry: TrashEntry, name: str, now: float) -> tuple[str, ...]:
    held = show(", ".join(entry.names), _TRASH_LIST_LONGEST) or count_of(len(entry.benchmarks), "benchmark")
    return name, age(entry.removed_utc, now), show(entry.kind, 20), size(entry.size_bytes), held

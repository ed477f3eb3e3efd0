"""The list of projects, as text at 80 columns and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tuibench.core.project import ProjectRow, Version
from tuibench.core.record import to_plain
from tuibench.core.reference import UNCHANGED, ModelState
from tuibench.core.short_id import short_ids
from tuibench.core.text import show
from tuibench.core.units import count_of, size
from tuibench.report.style import fit, fit_end, pad, to_ascii, width_of

WIDTH = 80
SCHEMA = 1
_TITLES = ("id", "name", "model", "benchmarks", "profiles", "size", "modified (UTC)")
_RIGHT = ("benchmarks", "profiles", "size")
_LONGEST = 200
_LEAST_NAME, _LEAST_MODEL = 12, 8
_INDENT = 12


def project_list(rows: Sequence[ProjectRow], width: int | None = WIDTH, ascii_only: bool = False) -> str:
    """Return a line for each project; '' for none. `width` None cuts nothing, for pipes."""
    if not rows:
        return ""
    names = short_ids(row.project.id for row in rows)
    table = [_TITLES, *(_cells(row, names[row.project.id]) for row in rows)]
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
    listed = [_plain(row, names[row.project.id], states) for row in rows]
    return json.dumps({"schema": SCHEMA, "projects": listed}, indent=2, ensure_ascii=True) + "\n"


def _plain(row: ProjectRow, short: str, states: Mapping[str, ModelState] | None) -> dict[str, Any]:
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


def _cells(row: ProjectRow, short: str) -> tuple[str, ...]:
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

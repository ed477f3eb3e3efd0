from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.model import ModelState
from tuibench.core.stored import FileStamp, ModelReference, Project, ProjectRow, Version
from tuibench.core.text import width_of
from tuibench.present.listing import project_list, project_text, projects_json

NASTY = "\x1b[31mred\nline\u202e"


def make_row(number: int = 1, name: str = "resnet", path: str = "/models/resnet.onnx", **changes: object) -> ProjectRow:
    ulid = f"01M7QKKCAZ09667G12Y95800{number:02d}"
    stamp = FileStamp(path, 25_000_000, 1, "ab" * 32)
    model = ModelReference(path, stamp, "cd" * 32, (FileStamp(path + "_data", 75_000_000, 1, "ef" * 32),))
    version = Version(ulid, ulid, "original", "2026-11-18T15:14:58Z", model)
    fields = {"description": "", "dims": {}, **changes}
    project = Project(ulid, name, created_utc="2026-11-18T15:14:58Z", modified_utc="2026-11-19T16:00:00Z",
                      versions=(version,), **fields)  # type: ignore[arg-type]  # fmt: skip
    return ProjectRow(project, 3, 12_345, "2026-11-19T15:59:00Z", 2)


def test_list_has_a_line_per_project() -> None:
    lines = project_list([make_row(1), make_row(2, "bert", "/m/bert.onnx")]).splitlines()
    assert lines[0].split() == ["id", "name", "model", "benchmarks", "profiles", "size", "modified", "(UTC)"]
    assert lines[1] == "0001  resnet  …dels/resnet.onnx           3         2  12.3 kB  2026-11-19 16:00"
    assert len(lines) == 3 and project_list([]) == ""


@given(st.text(max_size=300), st.text(max_size=300))
def test_project_names_cannot_break_the_page(name: str, path: str) -> None:
    rows = [make_row(1, name, path), make_row(2)]
    text = project_list(rows) + project_text(rows[0], {}, "0001")
    assert all(line.isprintable() for line in text.splitlines() if line.isascii())
    assert all(width_of(line) <= 80 for line in project_list(rows).splitlines())
    assert len(project_list(rows).splitlines()) == 3
    assert project_list(rows, None, ascii_only=True).isascii()


def test_long_name_keeps_the_end_of_the_path() -> None:
    line = project_list([make_row(1, "n" * 200, "/very/long/path/" * 9 + "net.onnx")]).splitlines()[1]
    assert "net.onnx" in line and width_of(line) <= 80
    assert "n" * 200 in project_list([make_row(1, "n" * 200)], None), "a pipe gets the whole name"


def test_remote_model_is_named_as_requested() -> None:
    row = make_row(1, path="hf:org/repo")
    assert "hf:org/repo" in project_list([row])


def test_project_page_shows_all_its_facts() -> None:
    row = make_row(1, NASTY, description="first\nsecond", dims={"seq": 128, NASTY: 2})
    version = row.project.versions[0].id
    text = project_text(row, {version: ModelState("changed", "/models/resnet.onnx")}, "0001")
    for part in (
        "\\e[31mred\\nline\\u202e (0001)\n  first\n  second\n",
        "100 MB and 1 file of weights, sha256 cdcdcdcdcdcd…",
        "/models/resnet.onnx is changed",
        "seq=128, \\e[31mred\\nline\\u202e=2",
        "stored      3 benchmarks, 2 profiles, the last 2026-11-19 15:59",
        "on disk     12.3 kB",
    ):
        assert part in text, text
    assert " is " not in project_text(row, {version: ModelState("unchanged")}, "0001")


def test_json_is_complete_and_ascii() -> None:
    row = make_row(1, NASTY)
    text = projects_json([row], {row.project.versions[0].id: ModelState("gone", "/m")})
    found = json.loads(text)
    assert text.isascii() and found["schema"] == 1 and "\x1b" not in text
    (project,) = found["projects"]
    assert (
        project["name"] == NASTY
        and project["short"] == "0001"
        and (project["benchmarks"], project["profiles"]) == (3, 2)
    )
    assert project["versions"][0]["model"]["external"][0]["size"] == 75_000_000
    assert project["versions"][0]["state"] == {"state": "gone", "file": "/m"}
    assert json.loads(projects_json([])) == {"schema": 1, "projects": []}


@pytest.mark.parametrize("utc", ["", "x", NASTY * 5])
def test_invalid_times_are_harmless(utc: str) -> None:
    row = make_row(1)
    broken = ProjectRow(row.project, 0, 0, utc)
    assert all(line.isprintable() for line in project_text(broken, {}, "1").splitlines())

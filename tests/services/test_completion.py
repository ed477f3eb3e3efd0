from __future__ import annotations

import os
from pathlib import Path

import pytest

from tuibench.services.models import MOST, complete_path

NAMES = ("sample", "sample:text", "sample:tiny")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models" / "deep").mkdir(parents=True)
    (tmp_path / "minor").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("my.onnx", "my.ort", "notes.txt", ".secret.onnx"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "mount.onnx").mkdir()
    os.mkfifo(tmp_path / "pipe.onnx")
    return tmp_path


def test_directories_come_first_and_models_follow(folder: Path) -> None:
    assert complete_path(f"{folder}/m") == (
        f"{folder}/minor/",
        f"{folder}/models/",
        f"{folder}/mount.onnx/",
        f"{folder}/my.onnx",
        f"{folder}/my.ort",
    )


def test_everything_in_a_directory_but_hidden_files_is_offered(folder: Path) -> None:
    found = complete_path(f"{folder}/")
    assert f"{folder}/my.onnx" in found
    assert not any("hidden" in path or "secret" in path or "notes" in path or "pipe" in path for path in found)
    assert complete_path(f"{folder}/.s") == (f"{folder}/.secret.onnx",)


def test_path_is_completed_in_its_typed_form(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (home / "mine.onnx").write_bytes(b"x")
    assert complete_path("mo") == ("models/", "mount.onnx/")
    assert complete_path("./models/") == ("./models/deep/",)
    assert complete_path("~/mi") == ("~/mine.onnx",)


def test_names_that_are_no_paths_come_before_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "samples").mkdir()
    assert complete_path("sam", NAMES) == (*NAMES, "samples/")
    assert complete_path("sample:t", NAMES) == ("sample:text", "sample:tiny")
    assert "sample" not in complete_path("", NAMES)


@pytest.mark.parametrize("text", ["/nowhere/at/all", "\0", "a\0/b", "/dev/null/x"])
def test_dead_path_has_no_completion(text: str) -> None:
    assert complete_path(text) == ()


def test_unprintable_names_are_not_offered(folder: Path) -> None:
    (folder / "two\nlines.onnx").write_bytes(b"x")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.onnx")).write_bytes(b"x")
    assert complete_path(f"{folder}/two") == ()
    assert all(path.isprintable() for path in complete_path(f"{folder}/"))


def test_unreadable_entry_hides_no_other(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    (folder / "loop.onnx").symlink_to("loop.onnx")
    found = complete_path(f"{folder}/")
    assert found and not any("loop" in path for path in found)


def test_number_of_completions_is_limited(folder: Path) -> None:
    for number in range(2 * MOST):
        (folder / f"n{number:03}.onnx").write_bytes(b"x")
    assert len(complete_path(f"{folder}/n")) == MOST

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tuibench.services.state_file import StateFile


def test_saved_state_is_reloaded_and_other_keys_stay(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "dashboard.json"
    mine, theirs = StateFile(path), StateFile(path)
    assert mine.read() == {}
    assert mine.change({"sort": "name"}) and theirs.change({"project": "\udc80 ü"})
    assert (mine.read(), theirs.read()) == ({"sort": "name"}, {"project": "\udc80 ü"}), "each by what it knows"
    assert StateFile(path).read() == {"sort": "name", "project": "\udc80 ü"}
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_unreadable_state_starts_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dashboard.json"
    path.write_bytes(content)
    state = StateFile(path)
    assert state.read() == {}
    assert state.change({"sort": "name"}) and state.read() == {"sort": "name"}


def test_fifo_as_state_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dashboard.json")
    assert StateFile(tmp_path / "dashboard.json").read() == {}


def test_unchanged_state_is_not_written(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "dashboard.json")
    state.change({"sort": "name"})
    before = os.stat(tmp_path / "dashboard.json")
    assert state.change({"sort": "name"})
    assert os.stat(tmp_path / "dashboard.json").st_ino == before.st_ino


def test_unwritable_state_path_is_no_error_and_leaves_no_partial_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not StateFile(tmp_path / "file" / "dashboard.json").change({"sort": "name"})
    # A directory in its place allows the temporary file but not the rename.
    (tmp_path / "dashboard.json").mkdir()
    assert not StateFile(tmp_path / "dashboard.json").change({"sort": "name"})
    assert sorted(os.listdir(tmp_path)) == ["dashboard.json", "file"]


def test_symlink_at_temporary_path_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = tmp_path / "dashboard.json"
    (tmp_path / f".{path.name}.{os.getpid()}.part").symlink_to(victim)
    assert StateFile(path).change({"sort": "name"})
    assert victim.read_text() == "mine" and not path.is_symlink()


def test_noted_state_is_visible_at_once_and_written_on_save(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.json"
    state = StateFile(path)
    assert state.note({"sort": "name"}) and state.read() == {"sort": "name"}
    assert not path.exists()
    assert state.keep() and StateFile(path).read() == {"sort": "name"}
    assert not state.note({"sort": "name"}), "there is nothing to keep"


def test_state_noted_during_write_is_in_next_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "dashboard.json"
    state = StateFile(path)
    replace = os.replace

    def replace_late(*given: Path) -> None:
        state.note({"sort": "created", "project": "p"})
        replace(*given)

    monkeypatch.setattr(os, "replace", replace_late)
    assert state.change({"sort": "name"})
    monkeypatch.setattr(os, "replace", replace)
    assert StateFile(path).read() == {"sort": "name"}
    assert state.keep() and StateFile(path).read() == {"sort": "created", "project": "p"}


def test_failed_state_write_is_retried(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.json"
    path.mkdir()
    state = StateFile(path)
    assert not state.change({"sort": "name"})
    path.rmdir()
    assert state.keep() and StateFile(path).read() == {"sort": "name"}

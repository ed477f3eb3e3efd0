from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from tuibench.core.errors import ModelError, WriteError
from tuibench.fetch.shelf import Shelf


def hold(shelf: Shelf) -> int:
    """As another process that is fetching: locks of separate descriptors exclude each other."""
    lock = os.open(shelf.path(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_a_second_process_waits_until_the_first_is_done(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path), "key")
    lock = hold(shelf)
    said: list[str] = []

    def pause(_: float) -> None:
        Path(shelf.part("m")).write_bytes(b"x" * len(said))
        if len(said) == 5:
            os.close(lock)

    with shelf.locked(lambda: said.append("waiting"), 1.0, pause):
        assert len(said) == 5
    with shelf.locked(lambda: said.append("again"), 1.0, pause):
        assert "again" not in said, "the lock is given back"


def test_one_that_stands_still_is_named(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path), "key")
    lock = hold(shelf)
    pauses: list[float] = []
    with (
        pytest.raises(ModelError, match=r"stands still for 2 s") as caught,
        shelf.locked(lambda: None, 2.0, pauses.append),
    ):
        pass
    assert ".lock" in caught.value.hint and sum(pauses) == 2.5
    os.close(lock)


def test_the_lock_goes_with_an_error_too(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path), "key")
    with pytest.raises(ZeroDivisionError), shelf.locked(lambda: None, 1.0, lambda _: None):
        raise ZeroDivisionError
    with shelf.locked(lambda: pytest.fail("it is still held"), 1.0, lambda _: None):
        pass


def test_directories_on_the_way_are_private_and_those_that_exist_stay(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shelf = Shelf(str(shared / "new"), "key")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert {stat.S_IMODE(p.stat().st_mode) for p in (shared / "new").rglob("*")} == {0o700}
    assert Shelf(str(shared / "new"), "key").directory == shelf.directory


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_bytes(b"")
    with pytest.raises(WriteError, match="cannot be written"):
        Shelf(str(tmp_path), "key")


def test_a_note_is_whole_or_not_there(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path), "key")
    shelf.write_note("m", {"a": 1})
    with pytest.raises(TypeError):
        shelf.write_note("m", {"a": object()})
    assert shelf.read_note("m") == {"a": 1} and shelf.read_note("other") == {}

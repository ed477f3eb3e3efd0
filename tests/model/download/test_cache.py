from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from tests.refusal import refused
from tuibench.core.errors import ModelError, WriteError
from tuibench.model.download.cache import ModelCache


def hold(cache: ModelCache) -> int:
    """Lock as another fetching process does: locks of separate descriptors exclude each other."""
    lock = os.open(cache.path(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_second_process_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    cache = ModelCache(str(tmp_path), "key")
    lock = hold(cache)
    with refused(ModelError, "model_being_fetched", path=cache.path(".lock")), cache.locked():
        pass
    os.close(lock)
    with pytest.raises(ZeroDivisionError), cache.locked():
        raise ZeroDivisionError
    with cache.locked():
        pass


def test_new_directories_are_private_and_existing_ones_unchanged(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    cache = ModelCache(str(shared / "new"), "key")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert {stat.S_IMODE(p.stat().st_mode) for p in (shared / "new").rglob("*")} == {0o700}
    assert ModelCache(str(shared / "new"), "key").directory == cache.directory


def test_file_at_the_cache_path_is_reported(tmp_path: Path) -> None:
    (tmp_path / "models").write_bytes(b"")
    with refused(WriteError, "download_unwritable"):
        ModelCache(str(tmp_path), "key")


def test_note_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    cache = ModelCache(str(tmp_path), "key")
    cache.write_note("m", {"a": 1})
    with pytest.raises(TypeError):
        cache.write_note("m", {"a": object()})
    assert cache.read_note("m") == {"a": 1} and cache.read_note("other") == {}

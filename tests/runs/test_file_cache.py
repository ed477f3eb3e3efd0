"""Cache entries are found by key, form and age; damaged ones are not."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tuibench.core.record import strictly
from tuibench.runs.journal import decode, encode
from tuibench.runs.profile.cache import FileCache


@dataclass(frozen=True)
class Thing:
    name: str
    speed: float | None = None
    parts: tuple[float, ...] = ()


KEY = "roofline, 2 cores, a CPU with \x1b[31m odd / name"
FOUND = Thing("one", 2.0, (1.0, 2.5))


@pytest.fixture
def cache(tmp_path: Path) -> FileCache[Thing]:
    return FileCache(tmp_path / "things", 3, strictly(Thing))


def test_entry_is_found_under_its_key_and_no_other(cache: FileCache[Thing]) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, FOUND)
    assert cache.get(KEY) == FOUND
    assert cache.get(KEY + ".") is None
    (file,) = cache.directory.iterdir()
    assert file.name.startswith("roofline-2-cores-a-CPU") and file.stat().st_mode & 0o077 == 0
    cache.path(KEY + ".").write_bytes(file.read_bytes())
    assert cache.get(KEY + ".") is None


def test_forgotten_entry_is_missing_and_others_are_found(cache: FileCache[Thing]) -> None:
    cache.put(KEY, FOUND)
    cache.put("other", FOUND)
    for _ in range(2):
        cache.forget(KEY)
        assert cache.get(KEY) is None and cache.get("other") == FOUND


def test_entry_of_another_form_is_not_used(cache: FileCache[Thing]) -> None:
    cache.put(KEY, FOUND)
    assert replace(cache, form=4).get(KEY) is None
    assert cache.get(KEY) == FOUND


def test_entry_expires(cache: FileCache[Thing]) -> None:
    cache.put(KEY, FOUND)
    written = cache.path(KEY).stat().st_mtime
    assert replace(cache, oldest_s=100.0, clock=lambda: written + 99).get(KEY) == FOUND
    assert replace(cache, oldest_s=100.0, clock=lambda: written + 101).get(KEY) is None
    assert replace(cache, clock=lambda: written + 1e9).get(KEY) == FOUND


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        "x",
        {},
        {"name": 3},
        {"name": "x", "speed": "fast"},
        {"name": "x", "parts": [1.0, None]},
        {"name": "x", "parts": {"columns": []}},
    ],
)
def test_invalid_entry_is_missing(cache: FileCache[Thing], result: Any) -> None:
    cache.put(KEY, FOUND)
    cache.path(KEY).write_bytes(encode({"form": 3, "key": KEY, "result": result}))
    assert cache.get(KEY) is None
    cache.put(KEY, FOUND)
    assert cache.get(KEY) == FOUND


def test_every_damaged_byte_and_every_cut_is_detected(cache: FileCache[Thing]) -> None:
    cache.put(KEY, FOUND)
    path = cache.path(KEY)
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.get(KEY) in (None, FOUND) and decode(path.read_bytes()) is None, place
        path.write_bytes(whole[:place])
        assert cache.get(KEY) is None
    path.write_bytes(b"[" * 100_000)
    assert cache.get(KEY) is None
    path.unlink()
    path.mkdir()
    assert cache.get(KEY) is None
    cache.put(KEY, FOUND)


def test_invalid_numbers_are_not_cached(cache: FileCache[Thing]) -> None:
    cache.put(KEY, Thing("x", float("nan")))
    cache.put(KEY, Thing("x", parts=(float("inf"),)))
    assert cache.get(KEY) is None and not cache.directory.exists()


def test_unwritable_cache_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = FileCache(tmp_path / "file" / "things", 1, strictly(Thing))
    cache.put(KEY, FOUND)
    assert cache.get(KEY) is None


def test_oldest_entries_are_evicted_first(cache: FileCache[Thing], monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put("first", FOUND)
    monkeypatch.setattr("tuibench.runs.profile.cache._ROOM_BYTES", 3 * cache.path("first").stat().st_size + 20)
    for place, key in enumerate(("first", "other", "third", "later")):
        cache.put(key, FOUND)
        os.utime(cache.path(key), (1e9 + place, 1e9 + place))
    assert [cache.get(key) for key in ("first", "other", "third", "later")] == [None, FOUND, FOUND, FOUND]


def test_oversized_file_is_not_read(cache: FileCache[Thing], monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, FOUND)
    monkeypatch.setattr("tuibench.runs.profile.cache._MOST_BYTES", cache.path(KEY).stat().st_size - 1)
    assert cache.get(KEY) is None

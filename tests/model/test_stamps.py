from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from tests.refusal import refused
from tuibench.core.errors import ModelError
from tuibench.model.file import Checksums

NOW = 1_800_000_000_000_000_000
OLD = NOW - 3_000_000_000


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = []
    for name, content in (("m.onnx", b"model"), ("w.bin", b"weights")):
        path = tmp_path / name
        path.write_bytes(content)
        os.utime(path, ns=(OLD, OLD))
        made.append(path)
    return made


def make(cache: Path | None) -> Checksums:
    return Checksums(str(cache) if cache else None, lambda: NOW)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_files_are_hashed_once_each_and_together(files: list[Path], tmp_path: Path) -> None:
    first = make(tmp_path / "cache")
    stamps, whole = first.stamps(files)
    assert [stamp.sha256 for stamp in stamps] == [sha(b"model"), sha(b"weights")] and whole == sha(b"modelweights")
    assert (stamps[1].path, stamps[1].size, stamps[1].mtime_ns) == (str(files[1]), 7, OLD)
    assert first.read_bytes == 12
    first.save()
    second = make(tmp_path / "cache")
    assert second.stamps(files) == (stamps, whole) and second.read_bytes == 0


def test_content_in_memory_is_not_read_again(files: list[Path]) -> None:
    stamps, whole = make(None).stamps(files, b"model")
    assert whole == sha(b"modelweights") and stamps[0].sha256 == sha(b"model")
    with refused(ModelError, "changed_while_read", path=str(files[0])):
        make(None).stamps(files, b"another model")


def test_checksums_without_a_cache_write_nothing(files: list[Path], tmp_path: Path) -> None:
    checksums = make(None)
    checksums.stamps(files)
    checksums.save()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx", "w.bin"]


@pytest.mark.parametrize("change", ["content", "time", "inode"])
def test_changed_file_is_hashed_again(files: list[Path], tmp_path: Path, change: str) -> None:
    first = make(tmp_path)
    first.stamps(files)
    first.save()
    if change == "inode":
        (tmp_path / "new").write_bytes(b"MODEL")
        os.replace(tmp_path / "new", files[0])
    else:
        files[0].write_bytes(b"longer model" if change == "content" else b"MODEL")
    os.utime(files[0], ns=(OLD, OLD + (1 if change == "time" else 0)))
    second = make(tmp_path)
    assert second.stamps(files)[0][0].sha256 == sha(files[0].read_bytes()) and second.read_bytes > 0


@pytest.mark.parametrize("age_ns", [0, 1_999_999_999, -5_000_000_000])
def test_recently_changed_file_is_not_cached(files: list[Path], tmp_path: Path, age_ns: int) -> None:
    os.utime(files[0], ns=(NOW - age_ns, NOW - age_ns))
    first = make(tmp_path)
    first.stamps(files)
    first.save()
    second = make(tmp_path)
    second.stamps(files[:1])
    assert second.read_bytes == 5


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"a": 5}', b"\xff\xfe", b'{"a": "short"}'])
def test_damaged_checksum_cache_is_ignored_and_replaced(files: list[Path], tmp_path: Path, damage: bytes) -> None:
    memory = tmp_path / "cache" / "checksums.json"
    memory.parent.mkdir()
    memory.write_bytes(damage)
    checksums = make(tmp_path / "cache")
    assert checksums.stamps(files)[1] == sha(b"modelweights")
    checksums.save()
    assert len(json.loads(memory.read_bytes())) == 3


def test_checksum_cache_is_private_bounded_and_complete(files: list[Path], tmp_path: Path) -> None:
    memory = tmp_path / "cache" / "checksums.json"
    memory.parent.mkdir()
    memory.write_text(json.dumps({f"1:{n}:1:1": "0" * 64 for n in range(3000)}))
    checksums = make(tmp_path / "cache")
    checksums.stamps(files)
    checksums.save()
    kept = json.loads(memory.read_bytes())
    assert len(kept) == 2000 and sha(b"model") in kept.values() and "1:0:1:1" not in kept
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600 and os.listdir(memory.parent) == ["checksums.json"]


def test_checksum_cache_that_cannot_be_written_is_ignored(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    checksums = make(tmp_path / "cache")
    assert checksums.stamps(files)[1] == sha(b"modelweights")
    checksums.save()


def test_unreadable_file_has_no_stamp(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("none", "pipe", "a\0b"):
        assert make(None).stamp_or_none(str(tmp_path / name)) is None
    assert make(None).stamp_or_none(str(tmp_path)) is None

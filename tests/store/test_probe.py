from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import make_result, make_store
from tests.store.moody import ReadOnly
from tuibench.core.errors import StoreError
from tuibench.core.reason import because
from tuibench.core.stored import Metadata
from tuibench.present.error.words import message_words
from tuibench.store.disk import NAMELESS, Disk
from tuibench.store.files import ROOM_BYTES


class Small(Disk):
    """A disk with little room, or none."""

    def __init__(self, room: int, full: bool = False, nameless: bool = True) -> None:
        self._room = room
        self._full = full
        self._nameless = nameless

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        if flags == NAMELESS and not self._nameless:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return super().open(path, flags, mode)

    def room(self, path: str) -> int:
        return self._room

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self._full:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return super().write(fd, data)


def test_probe_of_a_writable_store_is_empty_and_leaves_no_file(tmp_path: Path) -> None:
    assert make_store(tmp_path / "not" / "yet").probe() is None
    assert make_store(tmp_path, disk=Small(ROOM_BYTES, nameless=False)).probe() is None
    assert list(tmp_path.iterdir()) == []


def test_probe_reports_what_prevents_a_write(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    assert make_store(tmp_path, disk=ReadOnly()).probe() == because("store_read_only", root=str(tmp_path))
    full = make_store(tmp_path, disk=Small(1 << 40, full=True)).probe()
    assert full == because("store_quota_used", root=str(tmp_path))
    little = make_store(tmp_path, disk=Small(1_000_000)).probe()
    assert little == because("little_room", bytes=1_000_000, needed_bytes=ROOM_BYTES)
    (tmp_path / "file").write_text("x")
    blocked = make_store(tmp_path / "file" / "data").probe()
    assert blocked == because("place_not_entered", path=str(tmp_path / "file"))


@pytest.mark.parametrize("root", ["nowhere/data", "nowhere"])
def test_store_that_cannot_be_created_is_named_by_its_path(root: str) -> None:
    store = make_store(Path("/proc") / root)
    with refused(StoreError, "no_place_for_store", root=f"/proc/{root}", why=None) as caught:
        store.benchmarks.add(make_result(1), Metadata())
    assert message_words(caught.value) == f"no store can be made in /proc/{root}"
    assert store.probe() == caught.value.reason

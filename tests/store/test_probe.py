from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.store.build import make_result, make_store
from tests.store.moody import ReadOnly
from tuibench.core.errors import StoreError
from tuibench.core.stored import Metadata
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
    assert make_store(tmp_path / "not" / "yet").probe() == ""
    assert make_store(tmp_path, disk=Small(ROOM_BYTES, nameless=False)).probe() == ""
    assert list(tmp_path.iterdir()) == []


def test_probe_reports_what_prevents_a_write(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata())
    assert make_store(tmp_path, disk=ReadOnly()).probe() == f"the store is read-only: {tmp_path}"
    full = make_store(tmp_path, disk=Small(1 << 40, full=True)).probe()
    assert full == f"the quota of the store is used up: {tmp_path}"
    assert "only 1.00 MB left" in make_store(tmp_path, disk=Small(1_000_000)).probe()
    (tmp_path / "file").write_text("x")
    assert "is not a directory" in make_store(tmp_path / "file" / "data").probe()


@pytest.mark.parametrize("root", ["nowhere/data", "nowhere"])
def test_store_that_cannot_be_created_is_named_by_its_path(root: str) -> None:
    store = make_store(Path("/proc") / root)
    with pytest.raises(StoreError) as caught:
        store.benchmarks.add(make_result(1), Metadata())
    assert caught.value.message == f"no store can be made in /proc/{root}"
    assert caught.value.hint == "TUIBENCH_HOME=DIR keeps it elsewhere."
    assert store.probe() == caught.value.message

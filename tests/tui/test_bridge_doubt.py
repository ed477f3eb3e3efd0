"""The dashboard's warning about an unwritable store."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.store.disks.failing import FailingDisk
from tests.tui.test_bridge import at
from tuibench.tui.bridge import Bridge


@pytest.fixture
def data(home: Path) -> Path:
    return home / "tuibench" / "data"


def test_unwritable_store_is_reported_once_before_measuring(data: Path) -> None:
    disk = FailingDisk(1, errno.EROFS, lasting=True)
    bridge = Bridge(at(data, disk=disk))
    assert bridge.pulse().notices == (), "the first frame does not wait for it"
    said = f"results may not be kept: the store is read-only: {data}"
    assert said in bridge.pulse().notices
    refused = len(disk.failed)
    assert said in bridge.pulse().notices and len(disk.failed) == refused, "found out once"
    fine = Bridge(at(data))
    assert [fine.pulse().notices for _ in range(2)] == [(), ()]

"""The dashboard's warning about an unwritable store."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.services.test_services import at
from tests.store.disks.failing import FailingDisk


@pytest.fixture
def data(home: Path) -> Path:
    return home / "tuibench" / "data"


def test_unwritable_store_is_reported_once_before_measuring(data: Path) -> None:
    disk = FailingDisk(1, errno.EROFS, lasting=True)
    services = at(data, disk=disk)
    assert services.monitor.look().notices == (), "the first frame does not wait for it"
    said = f"results may not be saved: the store is read-only: {data}"
    assert said in services.monitor.look().notices
    refused = len(disk.failed)
    assert said in services.monitor.look().notices and len(disk.failed) == refused, "found out once"
    fine = at(data)
    assert [fine.monitor.look().notices for _ in range(2)] == [(), ()]

"""Store files are private to their owner, and planted files are neither followed nor replaced."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.data import make_id, make_samples, make_small
from tests.store.disks.relay import Relay
from tests.store.history import MACHINE, prepare
from tuibench.core.errors import StoreError, StoreReadOnly
from tuibench.core.stored import Metadata
from tuibench.present.error.words import hint_words
from tuibench.store.store import Store


@pytest.fixture
def no_mask() -> Iterator[None]:
    """Set a umask that removes no permission."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_mask")
def test_store_files_are_private_under_any_umask(tmp_path: Path) -> None:
    prepare(tmp_path)
    store = Store(tmp_path / "data", MACHINE)
    store.benchmarks.add(make_small(30, sampled=True), Metadata(), make_samples(tmp_path / "samples", 30))
    store.trash.restore()
    store.trash.remove([make_id(30)])
    paths = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in paths}
    assert len(paths) > 20
    assert {path: oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


class NamesOnly(Relay):
    """A disk that collects the names that the store opens, makes or renames to."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def touch(self, kind: str, arguments: tuple[object, ...]) -> object:
        """Make the call."""
        if kind in ("open", "replace", "link", "mkdir"):
            self.names.append(str(arguments[1] if kind in ("replace", "link") else arguments[0]))
        return super().touch(kind, arguments)


def operate(store: Store, name: str) -> None:
    """Run the operation for which a name is planted."""
    if name == "add":
        store.benchmarks.add(make_small(31), Metadata())
    elif name == "edit":
        store.benchmarks.edit(make_id(1), name="other")
    elif name == "remove":
        store.trash.remove([make_id(1)])
    else:
        store.trash.restore()


def names_touched(tmp_path: Path, name: str) -> list[str]:
    """Return every name below the store that the operation touches, relative to it; equal for equal stores."""
    twin = tmp_path / "twin"
    twin.mkdir()
    prepare(twin)
    disk = NamesOnly()
    operate(Store(twin / "data", MACHINE, disk=disk), name)
    return sorted({os.path.relpath(path, twin / "data") for path in disk.names} - {"."})


@pytest.mark.parametrize("name", ["add", "edit", "remove", "restore"])
def test_link_planted_at_any_path_is_not_followed(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"another's")
    victim.chmod(0o640)
    refused = 0
    names = [path for path in names_touched(tmp_path, name) if not path.startswith(("..", "/"))]
    for number, relative in enumerate(names):
        work = tmp_path / str(number)
        work.mkdir()
        prepare(work)
        host, twin_host = (next((root / "data" / "hosts").iterdir()).name for root in (work, tmp_path / "twin"))
        planted = work / "data" / relative.replace(twin_host, host)
        if planted.is_dir() and not planted.is_symlink():
            continue
        planted.unlink(missing_ok=True)
        if not planted.parent.is_dir():
            continue
        planted.symlink_to(victim)
        try:
            operate(Store(work / "data", MACHINE), name)
        except StoreError:
            refused += 1
        assert victim.read_bytes() == b"another's" and stat.S_IMODE(victim.stat().st_mode) == 0o640, relative
    assert refused >= 2 and len(names) > 5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_unreadable_store_is_not_called_readable(tmp_path: Path) -> None:
    Store(tmp_path, MACHINE).benchmarks.add(make_small(1), Metadata())
    store = Store(tmp_path, MACHINE)
    tmp_path.chmod(0o700)
    os.setresuid(12345, 12345, 0)
    try:
        with refused(StoreReadOnly, "store_file_forbidden", readable=False) as caught:
            store.benchmarks.rows()
    finally:
        os.setresuid(0, 0, 0)
    assert "still be read" not in hint_words(caught.value) and f"ls -ld {tmp_path}" in hint_words(caught.value)


class Unwritable(Relay):
    """A disk that refuses every rename for lack of permission."""

    def replace(self, source: str, target: str) -> None:
        """Refuse the rename."""
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)


def test_store_without_write_permission_is_called_readable(tmp_path: Path) -> None:
    with refused(StoreReadOnly, "store_file_forbidden", readable=True) as caught:
        Store(tmp_path, MACHINE, disk=Unwritable()).benchmarks.add(make_small(1), Metadata())
    assert "still be read" in hint_words(caught.value)

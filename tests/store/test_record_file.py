from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from tests.refusal import refused
from tests.store.build import make_id, make_result, make_store
from tuibench.core.errors import StoreDamaged, StoreError
from tuibench.core.reason import because
from tuibench.core.stored import Metadata
from tuibench.store.atomic import replace
from tuibench.store.disk import Disk
from tuibench.store.envelope import Unreadable, check_head


def record(root: Path, number: int) -> Path:
    return next(root.glob(f"hosts/*/records/*/{make_id(number)}.json"))


def lose_index(root: Path) -> None:
    next(root.glob("hosts/*/tuibench.json")).unlink()


def test_damage_to_a_record_is_noticed_and_hides_no_other(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for number in range(2):
        store.benchmarks.add(make_result(number, cells=2, points=8), Metadata(name="n", note="a note"))
    path = record(tmp_path, 1)
    data = path.read_bytes()
    sound = store.benchmarks.get(make_id(1))
    chance = random.Random(0)
    for turn in range(150):
        harmed = bytearray(data)
        place = chance.randrange(len(data))
        if turn % 3:
            harmed[place] ^= 1 << chance.randrange(8)
        else:
            del harmed[place : place + chance.randrange(1, 50)]
        path.write_bytes(harmed)
        fresh = make_store(tmp_path)
        try:
            found = fresh.benchmarks.get(make_id(1))
        except StoreDamaged as error:
            assert error.reason == because("record_damaged", id=make_id(1))
        else:
            # Only metadata may count as edited; the result is unchanged.
            assert any(path.name in notice.fields["name"] for notice in fresh.notices())
            assert found.result == sound.result
        assert fresh.benchmarks.get(make_id(0)).metadata.note == "a note"
        report = make_store(tmp_path).check(read_data=True)
        assert next(problem.path for problem in report.problems).endswith(path.name)


def test_damaged_record_head_is_not_used_by_an_index_rebuild(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    row = store.benchmarks.add(make_result(1), Metadata())
    path = record(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'"value": 1.0', b'"value": 9.0', 1))
    lose_index(tmp_path)
    fresh = make_store(tmp_path)
    assert fresh.benchmarks.rows() == (row,)
    assert any(path.name in notice.fields["name"] for notice in fresh.notices())


def test_replace_with_a_head_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    temps = (str(tmp_path / "a.tmp"), str(tmp_path / "b.tmp"))
    with pytest.raises(Unreadable):
        replace(Disk(), str(path), temps, b'{"_meta": {"1": {"crc32": 0007', keep=True, verify=check_head)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"before")]


class Lying(Disk):
    """A disk that returns other bytes than were written."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, bytes(data).replace(b"generation", b"generatioN"))


def test_replace_that_reads_back_differently_is_refused(tmp_path: Path) -> None:
    make_store(tmp_path).benchmarks.add(make_result(1), Metadata(name="before"))
    data = record(tmp_path, 1).read_bytes()
    with refused(StoreError, "store_call_failed", why=because("write_not_read_back")):
        make_store(tmp_path, disk=Lying()).benchmarks.edit(make_id(1), name="after")
    assert record(tmp_path, 1).read_bytes() == data


class Apart(Disk):
    """Two file systems: nothing is renamed into or out of `directory`, nor linked anywhere."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)

    def _inside(self, path: str) -> bool:
        return path.startswith(self._directory)

    def replace(self, source: str, target: str) -> None:
        if self._inside(source) != self._inside(target):
            raise OSError(errno.EXDEV, "two disks")
        super().replace(source, target)

    def link(self, source: str, target: str) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links")


def test_samples_on_another_disk_are_copied_and_generations_kept(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.z").write_bytes(b"x" * 5000)
    store = make_store(tmp_path / "data", disk=Apart(work))
    store.benchmarks.add(make_result(1), Metadata(name="one"), work)
    directory = store.benchmarks.samples(make_id(1))
    assert directory is not None
    assert [(path.name, path.read_bytes()) for path in directory.iterdir()] == [("a.z", b"x" * 5000)]
    assert list(work.iterdir()) == []
    before = next(tmp_path.glob("data/hosts/*/records/*/*.json"))
    first = before.read_bytes()
    store.benchmarks.edit(make_id(1), name="two")
    assert before.with_name(before.name + ".prev").read_bytes() == first


def test_link_among_the_samples_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.z").symlink_to("/etc/passwd")
    store = make_store(tmp_path / "data")
    with refused(StoreError, "store_path_blocked", why=because("samples_not_files")):
        store.benchmarks.add(make_result(1), Metadata(), work)
    assert store.benchmarks.rows() == ()


def test_saving_over_a_damaged_record_replaces_and_quarantines_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="x"))
    path = record(tmp_path, 1)
    path.write_bytes(b"damaged")
    assert store.benchmarks.add(make_result(1), Metadata(name="again")).name == "again"
    assert store.benchmarks.get(make_id(1)).metadata.name == "again"
    assert [kept.read_bytes() for kept in tmp_path.glob("hosts/*/quarantine/*")] == [b"damaged"]


def test_crash_between_keep_and_replace_leaves_no_stray_name(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.benchmarks.add(make_result(1), Metadata(name="one"))
    path = record(tmp_path, 1)
    path.with_name(path.name + ".prev").hardlink_to(path)
    first = path.read_bytes()
    store.benchmarks.edit(make_id(1), name="two")
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name, path.name + ".prev"]
    assert path.with_name(path.name + ".prev").read_bytes() == first

"""Flip, cut or zero bytes of any file: the store reports the file and loses nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.data import make_id, make_small
from tests.store.disks.failing import SyncingNothing
from tests.store.disks.powerloss import Tree, lay_out
from tests.store.disks.relay import CountingDisk
from tuibench.core.errors import StoreDamaged
from tuibench.core.reason import because
from tuibench.core.stored import Metadata
from tuibench.store.store import Store

MACHINE = "machine with rays from the sky"
LISTED, TRASHED = 6, 2
TRIALS = 500


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A store with every kind of file, previous versions included."""
    root = tmp_path_factory.mktemp("whole")
    store = Store(root, MACHINE, disk=SyncingNothing())
    for number in range(1, LISTED + TRASHED + 1):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}", note="ä\u2028\udc80"))
    for number in range(1, 4):
        store.benchmarks.edit(make_id(number), note=f"edited {number}")
    store.trash.remove([make_id(LISTED + 1), make_id(LISTED + 2)])
    return {path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes() for path in root.rglob("*")}


def damage(data: bytes, draw: random.Random) -> bytes:
    """Return changed bytes."""
    while True:
        begin = draw.randrange(len(data))
        end = min(len(data), begin + draw.choice((1, 1, 2, 16, 300)))
        kind = draw.choice(("flip", "zero", "cut", "end", "digit"))
        if kind == "flip":
            middle = bytes(byte ^ 1 << draw.randrange(8) for byte in data[begin:end])
        elif kind == "digit":
            middle = b"".join(
                b"%d" % draw.randrange(10) if 48 <= byte < 58 else bytes([byte]) for byte in data[begin:end]
            )
        else:
            middle = bytes(end - begin) if kind == "zero" else b""
        changed = data[:begin] + middle + (b"" if kind == "end" else data[end:])
        if changed != data:
            return changed


def kind_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    if name.startswith("tuibench.json"):
        return name
    return "manifest" if name == "manifest.json" else "trashed" if "/trash/" in path else "record"


def targets(whole: Tree) -> dict[str, list[str]]:
    """Return the files by kind, without lock and salt, which hold no data."""
    kinds: dict[str, list[str]] = {}
    for path, data in sorted(whole.items()):
        if data and not path.endswith((".lock", "salt")):
            kinds.setdefault(kind_of(path), []).append(path)
    return kinds


def trials(whole: Tree, count: int) -> Iterator[tuple[str, bytes]]:
    draw = random.Random(4)
    kinds = targets(whole)
    for number in range(count):
        path = draw.choice(kinds[sorted(kinds)[number % len(kinds)]])
        data = whole[path]
        assert data is not None
        yield path, damage(data, draw)


def look(root: Path, path: str) -> list[str]:
    """Return what the store does wrong with a damaged file."""
    store = Store(root, MACHINE, disk=SyncingNothing())
    kind = kind_of(path)
    own = {make_id(n) for n in range(1, LISTED + TRASHED + 1) if kind == "record" and make_id(n) in path}
    found = []
    rows = {row.id: row for row in store.benchmarks.rows()}
    for number in range(1, LISTED + 1):
        one = make_id(number)
        if one not in rows:
            found.append(f"{one} is not listed any more")
        elif one not in own:
            found += [] if rows[one].name == f"name {number}" else [f"{one} changed its name"]
        try:
            result = store.benchmarks.get(one).result
        except StoreDamaged as error:
            found += [] if one in own and error.reason == because("record_damaged", id=one) else [f"{one}: {error}"]
        else:
            found += [] if replace(result, host="") == make_small(number) else [f"{one} tells other numbers"]
    problems = Store(root, MACHINE, disk=SyncingNothing()).check(read_data=True).problems
    found += [] if any(path in problem.path for problem in problems) else [f"not noticed: {problems}"]
    Store(root, MACHINE, disk=SyncingNothing()).check(read_data=True, repair=True)
    repaired = Store(root, MACHINE, disk=SyncingNothing())
    rows = {row.id: row for row in repaired.benchmarks.rows()}
    for number in range(1, LISTED + 1):
        if make_id(number) not in own:
            row, note = rows.get(make_id(number)), f"edited {number}" if number < 4 else "ä\u2028\udc80"
            fine = row is not None and (row.name, row.note) == (f"name {number}", note)
            found += [] if fine else [f"after the repair {make_id(number)} is {row}"]
    return found


@pytest.mark.slow
def test_random_damage_is_noticed_and_stays_local(whole: Tree, light_path: Path) -> None:
    hold(whole, light_path, TRIALS)


def test_some_random_damage_is_noticed_and_stays_local(whole: Tree, light_path: Path) -> None:
    hold(whole, light_path, 60)


def hold(whole: Tree, light_path: Path, count: int) -> None:
    found = []
    for number, (path, data) in enumerate(trials(whole, count)):
        root = light_path / str(number)
        root.mkdir()
        lay_out({**whole, path: data}, root)
        found += [f"{number} {path}: {line}" for line in look(root, path)]
    assert found == []


def test_damage_trials_cover_every_kind_of_file(whole: Tree) -> None:
    assert {kind_of(path) for path, _ in trials(whole, 20)} == {
        *("tuibench.json", "tuibench.json.prev", "record", "trashed", "manifest"),
    }


@pytest.mark.parametrize("gone", [("tuibench.json",), ("tuibench.json", "tuibench.json.prev")])
def test_lost_index_is_rebuilt_with_one_read_per_record(whole: Tree, light_path: Path, gone: tuple[str, ...]) -> None:
    lay_out(whole, light_path)
    before = Store(light_path, MACHINE).benchmarks.rows()
    (host,) = (light_path / "hosts").iterdir()
    for name in gone:
        (host / name).unlink()
    disk = CountingDisk(SyncingNothing())
    report = Store(light_path, MACHINE, disk=disk).check(repair=True)
    assert report.exit_code == 0
    assert Store(light_path, MACHINE).benchmarks.rows() == before
    assert len(before) == LISTED
    assert disk.calls["open"] <= 2 * LISTED + 20 and disk.calls["fsync"] <= 12

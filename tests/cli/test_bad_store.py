"""Stores that are read-only, damaged, from a newer version or used by two processes at once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.shell import AS_STRANGER, PATIENCE_S, Done, Shell
from tests.store.data import make_id, make_small
from tuibench.core.machine import Places
from tuibench.core.schema import NEWEST
from tuibench.core.stored import Metadata
from tuibench.services.api import Services
from tuibench.store.envelope import Header, encode_table, seal, unseal

FOREIGN = Path(__file__).resolve().parents[1] / "fixtures" / "import" / "deepsparse-1.8.0.json"
NOBODY = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become somebody else"
)


@pytest.fixture
def places() -> Places:
    """A home of the test with three benchmarks and one removal in the store."""
    services = Services()
    for number in (1, 2, 3, 4):
        services.store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))
    services.store.trash.remove([make_id(4)])
    return services.settings.places


def record_of(places: Places, number: int) -> Path:
    (path,) = places.data.glob(f"hosts/*/records/*/{make_id(number)}.json")
    return path


def index_of(places: Places) -> Path:
    (path,) = places.data.glob("hosts/*/tuibench.json")
    return path


def contents(places: Places) -> dict[str, str]:
    """Return a digest per file; lock files do not count."""
    files = (path for path in places.data.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def hold_a_refusal(done: Done, word: str) -> None:
    """Require exit code 6, an empty stdout and two last lines with the cause and a hint."""
    assert (done.code, done.out) == (6, ""), done.err
    *_, what, hint = done.err.splitlines()
    assert word in what.replace("P", "p") and hint.startswith("  ") and "Traceback" not in done.err


@NOBODY
def test_read_only_store_can_be_read(shell: Shell, places: Places) -> None:
    shell.tmp.chmod(0o777)
    before = contents(places)

    def run(*arguments: str) -> Done:
        return shell.run(*arguments, wrap=AS_STRANGER)

    for command in (
        ["list"],
        ["show", "last"],
        ["trash"],
        ["export", "0002", "-x", "-"],
        ["store", "check", "--read-data"],
    ):
        done = run(*command)
        assert done.code == 0 and done.out, (command, done.err)
    for command in (
        ["edit", "0001", "--note", "x"], ["remove", "0001", "-y"], ["undo"], ["trash", "empty", "-y"],
        ["import", str(FOREIGN)], ["trash", "restore", "0004"],
    ):  # fmt: skip
        hold_a_refusal(run(*command), "permission denied")
    facts = json.loads(run("doctor", "--json").out)
    assert facts["store"]["benchmarks"] == 3 and facts["store"]["problem"]
    assert contents(places) == before


def test_damaged_record_is_named_and_quarantined(shell: Shell, places: Places) -> None:
    path = record_of(places, 2)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    for command in (
        ["show", "0002"],
        ["export", "0002", "-x", "-"],
        ["rerun", "0002"],
        ["edit", "0002", "--note", "x"],
    ):
        hold_a_refusal(shell.run(*command), "the record of 0002 is damaged")
    assert shell.run("show", "0001").code == 0 and len(shell.run("list").lines) == 4
    found = shell.run("store", "check", "--read-data")
    assert found.code == 6 and path.name in found.out
    mended = shell.run("store", "check", "--read-data", "--repair", "--json")
    assert mended.code == 0 and all(problem["repaired"] for problem in json.loads(mended.out)["problems"])
    assert shell.run("store", "check", "--read-data").code == 0
    assert len(shell.run("list").lines) == 3


def test_damaged_index_is_reported_and_loses_no_benchmark(shell: Shell, places: Places) -> None:
    shell.run("edit", "0001", "--note", "kept")
    index_of(places).write_bytes(b"garbage")
    for prev in places.data.glob("hosts/*/tuibench.json.prev"):
        prev.unlink()
    done = shell.run("list")
    assert done.code == 0 and len(done.lines) == 4
    assert done.err.count("tuibench.json is not as it was written") == 1
    shown = shell.run("show", "name 1")
    assert "kept" in shown.out and "not as it was written" in shown.err
    assert shell.run("store", "check").code == 6
    assert shell.run("store", "check", "--repair").code == 0
    quiet = shell.run("list")
    assert (quiet.code, quiet.err) == (0, "") and quiet.out == done.out


@pytest.mark.parametrize("which", ["record", "index"])
def test_files_of_a_newer_version_are_read_and_not_modified(shell: Shell, places: Places, which: str) -> None:
    path = record_of(places, 3) if which == "record" else index_of(places)
    opened = unseal(path.read_bytes())
    tables = {name: encode_table(table) for name, table in opened.tables.items()}
    path.write_bytes(seal(tables, Header(opened.header.generation, NEWEST + 1, "9.8.7", opened.header.marks)))
    before = contents(places)
    listed = shell.run("list")
    assert listed.code == 0 and len(listed.lines) == 4
    shown = shell.run("show", "last")
    assert shown.code == 0 and "Name: name 3" in shown.lines and "9.8.7" in shown.err + listed.err
    refused = shell.run("edit", "last", "--name", "new")
    assert refused.code == 6 and "9.8.7" in refused.err
    assert contents(places) == before


@pytest.mark.usefixtures("places")
def test_two_sessions_see_each_other_and_lose_nothing(shell: Shell) -> None:
    flags: Sequence[tuple[str, str]] = (("--name", "renamed"), ("--note", "noted"))
    sessions = [shell.start("edit", "0001", *flag) for flag in flags for _ in range(2)]
    removing = shell.start("remove", "0002", "-y")
    for session in (*sessions, removing):
        _, err = session.communicate(timeout=PATIENCE_S)
        assert session.returncode == 0, err
    shown = shell.run("show", "0001").lines
    assert "Name: renamed" in shown and "Note: noted" in shown
    assert len(shell.run("list").lines) == 3
    assert shell.run("store", "check", "--read-data").code == 0


def test_damaged_trash_hides_nothing_else(shell: Shell, places: Places) -> None:
    (manifest,) = places.data.glob("hosts/*/trash/*/manifest.json")
    manifest.write_bytes(b"{")
    shell.run("remove", "0001", "-y")
    done = shell.run("trash")
    assert done.code == 0 and "0001 name 1" in done.out and "manifest.json" in done.err
    assert shell.run("undo").code == 0
    assert len(shell.run("list").lines) == 4


@pytest.mark.parametrize(
    "command", [["list"], ["show", "last"], ["trash"], ["benchmark", "sample:tiny", "--compare-to", "zzzz"]]
)
def test_store_findings_are_reported_once_per_command(shell: Shell, places: Places, command: list[str]) -> None:
    (places.data / "salt").write_text("x")
    done = shell.run(*command)
    assert done.err.count("salt of the store is damaged") == 1, done.err

"""Where a user's things lie, whatever the environment says."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from tuibench.core.place import Places
from tuibench.host.place import find_places


def names(places: Places) -> list[str]:
    return [str(path) for path in (places.data, places.state, places.cache, places.config)]


def test_one_variable_puts_all_of_them_below_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = find_places({"TUIBENCH_HOME": "here"})
    assert names(found) == [str(tmp_path / "here" / part) for part in ("data", "state", "cache", "config")]
    assert found.runs == tmp_path / "here" / "state" / "runs"


def test_without_it_they_are_the_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("DATA", "STATE", "CACHE", "CONFIG"):
        monkeypatch.delenv(f"XDG_{kind}_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert names(find_places({})) == [
        f"/home/ada/{part}/tuibench" for part in (".local/share", ".local/state", ".cache", ".config")
    ]
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    assert find_places({}).data == Path("/srv/data/tuibench")


def test_a_user_without_a_home_has_a_place_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    assert find_places({}).data == Path(tempfile.gettempdir(), f"tuibench-{os.getuid()}", "data")

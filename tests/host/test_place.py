"""A user's directories for data, state, cache and configuration, for any environment."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from tests.refusal import refused, require_shown
from tuibench.core.errors import ExitCode, StoreError
from tuibench.core.machine import Places
from tuibench.present.reason import reason_hint
from tuibench.store.directories import find_places


def names(places: Places) -> list[str]:
    return [str(path) for path in (places.data, places.state, places.cache, places.config)]


def test_tuibench_home_contains_all_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = find_places({"TUIBENCH_HOME": "here"})
    assert names(found) == [str(tmp_path / "here" / part) for part in ("data", "state", "cache", "config")]
    assert found.runs == tmp_path / "here" / "state" / "runs"


def test_default_places_are_those_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("DATA", "STATE", "CACHE", "CONFIG"):
        monkeypatch.delenv(f"XDG_{kind}_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert names(find_places({})) == [
        f"/home/ada/{part}/tuibench" for part in (".local/share", ".local/state", ".cache", ".config")
    ]
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    assert find_places({}).data == Path("/srv/data/tuibench")


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The place in the temporary directory of a user with neither HOME nor an entry in passwd."""

    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"tuibench-{os.getuid()}"


def test_user_without_a_home_gets_a_temporary_place(temporary: Path) -> None:
    assert find_places({}).data == temporary / "data"
    assert temporary.stat().st_mode & 0o777 == 0o700
    assert find_places({}).config == temporary / "config"


def test_link_in_the_temporary_directory_is_refused(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir(mode=0o700)
    temporary.symlink_to("victim")
    refuse()


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_temporary_place_writable_by_others_is_refused(temporary: Path, mode: int) -> None:
    temporary.mkdir()
    temporary.chmod(mode)
    refuse()


def test_temporary_place_of_another_user_is_refused(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = temporary.with_name("tuibench-4242")
    other.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    refuse()


def test_file_in_the_temporary_place_is_refused(temporary: Path) -> None:
    temporary.touch()
    refuse()


def refuse() -> None:
    with refused(StoreError, "home_unusable") as caught:
        find_places({})
    assert (
        "TUIBENCH_HOME" in reason_hint(require_shown(caught.value.reason)) and caught.value.exit_code == ExitCode.STORE
    )

"""Installing, testing and removing engines, from tiny wheels and from an index on this machine."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wheels import BROKEN, ENGINE, RELEASE, WRONG, make_wheel, make_wheels, serve_index
from tuibench.core.engine_state import (
    AVAILABLE,
    BESIDE,
    DAMAGED,
    DOWNLOAD,
    INSTALL,
    INSTALLED,
    PROBE,
    PYTHON,
    InstallOrder,
    InstallProgress,
)
from tuibench.core.errors import EngineBusy, EngineError, TuibenchError, WriteError
from tuibench.core.reason import Reason
from tuibench.engines.installation import find_installation, installations_held, lock_installation
from tuibench.engines.recipes import DEEPSPARSE_LICENCE, find_recipe
from tuibench.present.engine_list import progress_words
from tuibench.runs.task import Cancelled, StopSwitch
from tuibench.services.api import Services


@pytest.fixture
def services() -> Iterator[Services]:
    own = Services()
    yield own
    own.close()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def order(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> InstallOrder:
    """Return the order of an installation without a network; pip's own settings have no effect."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return InstallOrder(ENGINE, python=sys.executable, wheels=str(wheels))


@pytest.fixture
def installed(installation: Path, services: Services) -> Services:
    """Return services with the engine installed."""
    shutil.copytree(installation, services.engines.root / ENGINE, symlinks=True)
    return services


def code_of(services: Services, order: InstallOrder) -> str:
    with pytest.raises(TuibenchError) as caught:
        services.engines.install(order)
    return caught.value.reason.code


def names(services: Services) -> list[str]:
    root = services.engines.root
    return sorted(name for name in os.listdir(root) if not name.endswith(".lock")) if root.exists() else []


def test_installed_engine_is_listed_tested_and_removed(installed: Services, order: InstallOrder) -> None:
    record, is_new = installed.engines.install(order)
    assert not is_new and record.id == ENGINE and record.python == sys.version.split()[0]
    assert record.packages == {"onnxruntime": RELEASE, "numpy": "2.0.0"}
    assert all(len(value) == 64 for value in record.hashes.values()) and record.size_bytes > 0
    listed = {one.id: one for one in installed.engines.every()}
    assert listed[ENGINE].state == INSTALLED and listed["onnxruntime"].state == BESIDE
    assert installed.engines.test(ENGINE).difference == 0.0
    assert installed.engines.remove(ENGINE) > 0
    assert names(installed) == []
    with pytest.raises(EngineError) as caught:
        installed.engines.remove(ENGINE)
    assert caught.value.reason.code == "engine_apart_missing"


@pytest.mark.slow
@pytest.mark.parametrize(("code", "expected"), [(WRONG, "probe_differs"), (BROKEN, "probe_failed")])
def test_engine_that_does_not_agree_is_not_installed(
    services: Services, order: InstallOrder, tmp_path: Path, code: str, expected: str
) -> None:
    wrong = make_wheels(tmp_path / "wrong", code)
    assert code_of(services, replace(order, wheels=str(wrong))) == expected
    assert names(services) == []


def test_refusals_of_an_index_are_told_apart(services: Services, order: InstallOrder, wheels: Path) -> None:
    order = replace(order, wheels="")
    with serve_index(wheels, status=403) as url:
        assert code_of(services, replace(order, index_url=url)) == "index_refused"
    with serve_index(wheels, wrong_hash=True) as url:
        assert code_of(services, replace(order, index_url=url)) == "wheel_hash_differs"
    assert code_of(services, replace(order, index_url=url)) == "index_unreachable"
    with serve_index(wheels) as url:
        unknown = replace(order, id="onnxruntime@1.99.9", index_url=url)
        assert code_of(services, unknown) == "release_unknown"
    assert names(services) == []


def test_orders_that_cannot_succeed_are_refused_at_once(
    services: Services, order: InstallOrder, tmp_path: Path
) -> None:
    assert code_of(services, replace(order, python="/nowhere/python")) == "not_an_interpreter"
    assert code_of(services, replace(order, python="no-such-python")) == "not_an_interpreter"
    assert code_of(services, replace(order, python="3.2")) == "python_unfit"
    assert code_of(services, replace(order, id="onnxruntime@1.21.x")) == "not_a_release"
    assert code_of(services, replace(order, wheels=str(tmp_path / "none"))) == "no_wheel_directory"
    assert code_of(services, replace(order, id="onnxruntime")) == "engine_is_beside"
    assert code_of(services, replace(order, id="onnxruntime@1.2")) == "release_too_old"
    assert code_of(services, replace(order, id="unknown@1.2")) == "unknown_engine"
    (tmp_path / "empty").mkdir()
    assert code_of(services, replace(order, wheels=str(tmp_path / "empty"))) == "wheel_missing"
    assert names(services) == []


def test_python_is_named_by_version_command_or_path(
    services: Services, order: InstallOrder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "some-python"
    link.symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    series = f"{sys.version_info[0]}.{sys.version_info[1]}"
    said: list[InstallProgress] = []
    with serve_index(tmp_path) as url:
        unknown = replace(order, wheels="", index_url=url)
        for text in (series, "some-python", str(link)):
            with pytest.raises(EngineError):
                services.engines.install(replace(unknown, python=text), said.append)
            with pytest.raises(EngineError):
                services.engines.download(replace(unknown, python=text), tmp_path / "carried", said.append)
    expected = f"asking the package index for {ENGINE}, Python {series}"
    assert [progress_words(one) for one in said if one.stage == PYTHON] == [expected] * 6


def test_cancelled_installation_leaves_nothing(services: Services, order: InstallOrder) -> None:
    stop = StopSwitch()

    def cancel(progress: InstallProgress) -> None:
        if progress.stage == INSTALL:
            stop.trip(Reason("cancelled_on_request"))

    with pytest.raises(Cancelled):
        services.engines.install(order, cancel, stop)
    stop.close()
    assert names(services) == []


@pytest.mark.slow
def test_installation_in_the_background_ends_with_the_services(services: Services, order: InstallOrder) -> None:
    began = threading.Event()
    job = services.engines.begin(order)

    def hear() -> None:
        if job.progress.stage == INSTALL:
            began.set()

    job.hear = hear
    assert services.installing() is job
    with pytest.raises(EngineBusy):
        services.engines.begin(order)
    assert began.wait(60)
    assert job.close()
    assert job.is_done and job.record is None and job.error is not None
    assert job.error.reason.code == "installation_cancelled" and names(services) == []


@pytest.mark.slow
def test_killed_installation_is_never_used_and_is_replaced(services: Services, order: InstallOrder) -> None:
    command = [sys.executable, "-m", "tuibench", "engines", "install", ENGINE, "--python", sys.executable]
    killed = subprocess.Popen([*command, "--wheels", order.wheels], stderr=subprocess.PIPE, text=True)
    assert killed.stderr is not None
    for line in killed.stderr:
        if line.startswith("installing"):
            break
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert find_installation(services.engines.root, ENGINE) is None
    assert f"{ENGINE}.new" in names(services)
    # A pip that is still running keeps the lock.
    lock = os.open(services.engines.root / f"{ENGINE}.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.close(lock)
    assert services.engines.install(order)[1]
    assert names(services) == [ENGINE]


def test_engine_in_use_is_not_removed(installed: Services) -> None:
    engines = installed.engines
    with installations_held(engines.root, [ENGINE]):
        with pytest.raises(EngineBusy):
            engines.remove(ENGINE)
        with installations_held(engines.root, [ENGINE]):
            assert find_installation(engines.root, ENGINE) is not None
    engines.remove(ENGINE)


def test_second_installation_at_once_is_refused(services: Services, order: InstallOrder) -> None:
    services.engines.root.mkdir(parents=True)
    lock = lock_installation(services.engines.root, ENGINE, alone=True)
    assert lock is not None
    assert code_of(services, order) == "engine_being_changed"
    os.close(lock)


def test_half_made_and_orphaned_installations_are_damaged(installed: Services) -> None:
    engines, place = installed.engines, installed.engines.root / ENGINE
    (place / "installed.json").write_text(json.dumps({"id": "another@1.0", "python": "3.11"}))
    assert engines.state(ENGINE).state == DAMAGED
    (place / "venv" / "bin" / "python").unlink()
    (state,) = [one for one in engines.every() if one.id == ENGINE]
    assert state.state == DAMAGED and state.command == f"tuibench engines install {ENGINE}"
    engines.remove(ENGINE)
    assert engines.state(ENGINE).state == AVAILABLE


def test_installation_replaces_a_damaged_one_and_tells_its_steps(services: Services, order: InstallOrder) -> None:
    (services.engines.root / ENGINE / "venv").mkdir(parents=True)
    said: list[InstallProgress] = []
    assert services.engines.install(order, said.append)[1]
    assert list(dict.fromkeys(one.stage for one in said)) == [PYTHON, DOWNLOAD, INSTALL, PROBE]
    assert services.engines.state(ENGINE).state == INSTALLED and names(services) == [ENGINE]


@pytest.mark.slow
def test_wheels_of_an_index_are_downloaded_and_installed(
    services: Services, order: InstallOrder, wheels: Path, tmp_path: Path
) -> None:
    with serve_index(wheels) as url:
        download = replace(order, wheels="", index_url=url, python="3.11")
        found = services.engines.download(download, tmp_path / "carried")
        assert [path.name.split("-")[0] for path in found] == ["numpy", "onnxruntime"]
        assert services.engines.install(replace(download, python=sys.executable))[1]
    assert sorted(path.name for path in (tmp_path / "carried").iterdir()) == [path.name for path in found]


def test_licence_must_be_accepted(services: Services, order: InstallOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = find_recipe(ENGINE)
    assert recipe is not None
    changed = replace(recipe, licence=DEEPSPARSE_LICENCE)
    monkeypatch.setattr("tuibench.services.engines.find_recipe", lambda _: changed)
    assert code_of(services, order) == "licence_not_accepted"
    assert services.engines.state(ENGINE).licence == DEEPSPARSE_LICENCE


def test_full_disk_is_named(services: Services, order: InstallOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuibench.services.engines._LEAST_ROOM", 1 << 62)
    with pytest.raises(WriteError) as caught:
        services.engines.install(order)
    assert caught.value.reason.code == "engine_disk_full"


def test_packages_of_another_directory_are_not_taken(services: Services, order: InstallOrder, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    make_wheel(other, "onnxruntime", "1.20.0", {})
    assert code_of(services, replace(order, wheels=str(other))) == "wheel_missing"

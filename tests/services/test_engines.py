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
from typing import Any

import pytest

from tests.wheels import BROKEN, ENGINE, RELEASE, WRONG, make_wheel, make_wheels, serve_index
from tuibench.core.engine_state import (
    AVAILABLE,
    BESIDE,
    DAMAGED,
    DOWNLOAD,
    IMPOSSIBLE,
    INSTALL,
    INSTALLED,
    PROBE,
    PYTHON,
    InstallOrder,
    InstallProgress,
)
from tuibench.core.errors import EngineBusy, EngineError, TuibenchError, WriteError
from tuibench.core.reason import Reason
from tuibench.engines.installation import Installation, find_installation, installations_held, lock_installation
from tuibench.engines.recipes import DEEPSPARSE_LICENCE, find_recipe
from tuibench.present.engine_list import engine_table, progress_words
from tuibench.present.error.words import hint_words, message_words
from tuibench.runs.task import Cancelled, StopSwitch
from tuibench.services.api import Services
from tuibench.services.background_install import BackgroundInstall
from tuibench.services.interpreters import Interpreter


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
    assert installed.engines.test(ENGINE) == 0.0
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


def test_broken_installation_stays_installed_after_its_test(installed: Services) -> None:
    (site,) = (installed.engines.root / ENGINE / "venv" / "lib").glob("python*/site-packages")
    (site / "onnxruntime").mkdir()
    (site / "onnxruntime" / "__init__.py").write_text(BROKEN)
    with pytest.raises(EngineError) as caught:
        installed.engines.test(ENGINE)
    said = message_words(caught.value)
    assert said.startswith(f"{ENGINE} failed on a small model: ")
    assert said.endswith(f"{ENGINE} cannot be imported: libgone.so: cannot open shared object file")
    assert hint_words(caught.value).startswith(f"tuibench engines remove {ENGINE} ")
    assert installed.engines.state(ENGINE).state == INSTALLED


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
    assert code_of(services, replace(order, id="deepsparse@1.7.0")) == "only_one_release"
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
            with pytest.raises(EngineError) as installing:
                services.engines.install(replace(unknown, python=text), said.append)
            with pytest.raises(EngineError) as downloading:
                services.engines.download(replace(unknown, python=text), tmp_path / "carried", said.append)
            codes = {installing.value.reason.code, downloading.value.reason.code}
            assert codes == {"no_wheel_for_python"}
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

    job.on_change = hear
    assert services.installing() is job
    with pytest.raises(EngineBusy):
        services.engines.begin(order)
    assert began.wait(60)
    assert job.close() is not None
    assert job.is_done and job.record is None and job.error is not None
    assert job.error.reason.code == "installation_cancelled" and names(services) == []


def test_installation_that_ends_late_is_named_and_closes_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuibench.services.background_install._END_S", 0.0)
    may_end, ended = threading.Event(), threading.Event()

    def install(_: InstallOrder, __: object, stop: StopSwitch) -> tuple[Installation, bool]:
        may_end.wait()
        stop.check()
        raise AssertionError

    before = len(os.listdir("/proc/self/fd"))
    job = BackgroundInstall(InstallOrder(ENGINE), install)
    job.on_change = ended.set
    late = job.close()
    assert late is not None and late.reason.code == "installation_left"
    may_end.set()
    assert ended.wait(60)
    job.cancel()
    assert job.error is not None and job.error.reason.code == "installation_cancelled"
    assert job.close() is None and len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow
def test_killed_installation_is_never_used_and_is_replaced(services: Services, order: InstallOrder) -> None:
    command = [sys.executable, "-m", "tuibench", "engines", "install", ENGINE, "--python", sys.executable]
    killed = subprocess.Popen([*command, "--wheels", order.wheels], stderr=subprocess.PIPE, text=True)
    assert killed.stderr is not None
    for line in killed.stderr:
        if line.startswith("installing"):
            break
    assert code_of(services, order) == "engine_being_changed"
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


def test_interrupted_installation_is_damaged_unless_it_is_in_progress(services: Services) -> None:
    engines = services.engines
    (engines.root / f"{ENGINE}.new").mkdir(parents=True)
    assert engines.state(ENGINE).state == DAMAGED and ENGINE in [one.id for one in engines.every()]
    lock = lock_installation(engines.root, ENGINE, alone=True)
    assert lock is not None and engines.state(ENGINE).state == AVAILABLE
    os.close(lock)
    engines.remove(ENGINE)
    assert engines.state(ENGINE).state == AVAILABLE and names(services) == []


def test_each_python_is_sought_once_for_a_list(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[str] = []

    def find(series: str) -> Iterator[Interpreter]:
        sought.append(series)
        return iter(())

    monkeypatch.setattr("tuibench.services.engine_states.find_interpreters", find)
    assert {one.state for one in services.engines.every()} == {BESIDE, IMPOSSIBLE}
    assert sorted(sought) == ["3.10", "3.11"]


def test_engine_without_its_python_names_the_command_that_gets_one(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tuibench.services.engine_states.find_interpreters", lambda _: iter(()))
    for manager, command in (
        ("uv", "uv python install 3.10"),
        ("pyenv", "pyenv install 3.10"),
        ("neither", "tuibench engines install deepsparse@1.8.0 --python PATH"),
    ):
        (tmp_path / manager).mkdir()
        (tmp_path / manager / manager).touch(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / manager))
        state = services.engines.state("deepsparse")
        assert (state.state, state.command) == (IMPOSSIBLE, command)
        assert command in engine_table([state], 100, False).split("\n")


def test_installation_replaces_a_damaged_one_and_tells_its_steps(
    services: Services, order: InstallOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.sync")  # it would disturb a measurement
    (services.engines.root / ENGINE / "venv").mkdir(parents=True)
    said: list[InstallProgress] = []
    assert services.engines.install(order, said.append)[1]
    assert list(dict.fromkeys(one.stage for one in said)) == [PYTHON, DOWNLOAD, INSTALL, PROBE]
    assert services.engines.state(ENGINE).state == INSTALLED and names(services) == [ENGINE]
    assert sorted(os.listdir(services.engines.root / ENGINE)) == ["installed.json", "venv"]


def test_download_keeps_the_other_files_of_its_directory(
    services: Services, order: InstallOrder, tmp_path: Path
) -> None:
    others = ("requirements.txt", ".pip/pip.conf", "onnxruntime-1.0-py3-none-any.whl")
    (tmp_path / ".pip").mkdir()
    for name in others:
        (tmp_path / name).write_text("own")
    carried = ["numpy-2.0.0-py3-none-any.whl", f"onnxruntime-{RELEASE}-py3-none-any.whl"]
    for _ in range(2):
        found = services.engines.download(replace(order, python="3.11"), tmp_path)
        assert found == tuple(tmp_path / name for name in carried)
    assert {(tmp_path / name).read_text() for name in others} == {"own"}
    assert sorted(os.listdir(tmp_path)) == sorted([".pip", others[0], others[2], *carried])


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


def test_packages_of_two_indexes_are_downloaded(services: Services, order: InstallOrder, tmp_path: Path) -> None:
    for name, version in (("onnxruntime", RELEASE), ("numpy", "2.0.0")):
        (tmp_path / name).mkdir()
        make_wheel(tmp_path / name, name, version, {})
    with serve_index(tmp_path / "onnxruntime") as url, serve_index(tmp_path / "numpy") as other:
        download = replace(order, wheels="", index_url=url, extra_index_urls=(other,), python="3.11")
        found = services.engines.download(download, tmp_path / "carried")
        assert [path.name.split("-")[0] for path in found] == ["numpy", "onnxruntime"]
        with pytest.raises(EngineError) as caught:
            services.engines.download(replace(download, extra_index_urls=()), tmp_path / "carried")
    assert caught.value.reason.code == "no_wheel_for_python" and caught.value.reason.fields["package"] == "numpy"


def change_recipe(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    recipe = find_recipe(ENGINE)
    assert recipe is not None
    changed = replace(recipe, **changes)
    monkeypatch.setattr("tuibench.services.engines.find_recipe", lambda _: changed)


def test_licence_must_be_accepted(services: Services, order: InstallOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    change_recipe(monkeypatch, licence=DEEPSPARSE_LICENCE)
    assert code_of(services, order) == "licence_not_accepted"
    assert services.engines.state(ENGINE).licence == DEEPSPARSE_LICENCE


def test_engine_that_does_not_fit_this_machine_is_not_possible_here(
    services: Services, order: InstallOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = replace(order, python="")
    change_recipe(monkeypatch, pythons=("2.6",))
    with pytest.raises(EngineError) as caught:
        services.engines.install(order)
    assert caught.value.reason.code == "no_fitting_python"
    assert f"tuibench engines install {ENGINE} --python PATH" in hint_words(caught.value)
    state = services.engines.state(ENGINE)
    assert (state.state, state.why and state.why.code) == (IMPOSSIBLE, "no_python_for")
    change_recipe(monkeypatch, machine="riscv64")
    assert code_of(services, order) == "engine_other_machine"
    assert services.engines.state(ENGINE).state == IMPOSSIBLE and names(services) == []


def test_installation_whose_python_was_upgraded_is_made_anew(installed: Services, order: InstallOrder) -> None:
    engines = installed.engines
    python = engines.root / ENGINE / "venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/opt/python-3.11.1/bin/python3.11")
    assert engines.state(ENGINE).state == DAMAGED
    assert engines.install(order)[1] and engines.state(ENGINE).state == INSTALLED


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

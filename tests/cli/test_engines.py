"""`tuibench engines` as users type it, with a real run that uses an engine and with the network cut."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.running import LONG, detach, end
from tests.cli.shell import Shell, as_shell, until
from tests.cli.terminal import on_terminal
from tests.conftest import REAL_ENVIRONMENT
from tests.wheels import ENGINE, RELEASE, make_wheels
from tuibench.engines.installation import installations_held
from tuibench.services.api import Services


@pytest.fixture
def engine(installation: Path) -> Path:
    """Install the engine for the commands of a test."""
    place = Services().engines.root / ENGINE
    shutil.copytree(installation, place, symlinks=True)
    return place


def test_list_names_states_releases_and_commands(shell: Shell, engine: Path) -> None:
    done = shell.run("engines")
    assert done.code == 0
    (line,) = [line for line in done.lines if line.startswith(ENGINE)]
    assert "installed" in line and sys.version.split()[0] in line
    said = json.loads(shell.run("engines", "list", "--json").out)
    assert said["schema"] == 1
    by_id = {one["id"]: one for one in said["engines"]}
    assert by_id[ENGINE]["state"] == "installed" and by_id["onnxruntime"]["state"] == "beside"
    assert by_id["deepsparse"]["purpose"].startswith("faster with zeros")
    assert f"deepsparse: {by_id['deepsparse']['purpose']}" in done.lines
    assert sum(line.startswith("onnxruntime: ") for line in done.lines) == 1


def test_installed_release_is_left_alone_and_named(shell: Shell, engine: Path) -> None:
    with installations_held(engine.parent, [ENGINE]):  # as a run that uses it
        done = shell.run("engines", "install", ENGINE.replace("@", "=="))
    (line,) = done.err.splitlines()
    assert done.code == 0 and line.startswith(f"{ENGINE} is installed already")


def test_release_that_tuibench_has_is_named_before_it_is_installed(real_shell: Shell, tmp_path: Path) -> None:
    same = f"ort@{version('onnxruntime')}"
    done = real_shell.run("engines", "install", same, "--wheels", str(tmp_path))
    full, _, release = done.err.splitlines()[0].partition(": ")
    assert (
        full == same.replace("ort", "onnxruntime", 1) and release == "the release that is installed with tuibench, too"
    )


def test_removal_asks_first_and_names_the_run_that_uses_the_engine(keeper: Shell, engine: Path) -> None:
    refused = keeper.run("engines", "remove", ENGINE)
    assert refused.code == 2 and f"tuibench engines remove {ENGINE} -y" in refused.err
    run = detach(keeper, *LONG[:1], *LONG[3:], "-e", ENGINE)
    keeper.wait_for("execution_start")
    busy = keeper.run("engines", "remove", ENGINE, "-y")
    assert busy.code == 7 and f"tuibench cancel {run}" in busy.err and engine.exists()
    tested = keeper.run("engines", "test", ENGINE)
    warning, *others = tested.err.splitlines()
    assert tested.code == 0 and not others
    assert warning.startswith("warning: this machine is measuring (") and f"run {run}" in warning
    end(keeper, run)
    done = keeper.run("engines", "remove", ENGINE, "-y")
    assert done.code == 0 and done.err.splitlines()[0] == f"removing {ENGINE}"
    assert not engine.exists()
    missing = keeper.run("benchmark", "sample:tiny", "-e", ENGINE)
    assert missing.code == 4 and f"tuibench engines install {ENGINE}" in missing.err


def test_run_with_a_damaged_engine_names_the_command_that_mends_it(shell: Shell, engine: Path) -> None:
    (engine / "venv" / "bin" / "python").unlink()
    done = shell.benchmark("sample:tiny", "-e", ENGINE)
    assert done.code == 4 and "its interpreter is gone" in done.err
    assert f"tuibench engines install {ENGINE}" in done.err
    assert any(line.startswith(ENGINE) and "damaged" in line for line in shell.run("engines").lines)


def spoil_packages(place: Path) -> str:
    """Replace the engine's package by one that cannot be imported; return its id."""
    (site,) = place.glob("venv/lib/python*/site-packages")
    (site / "tests_beside.pth").unlink()
    (site / "onnxruntime").mkdir()
    (site / "onnxruntime" / "__init__.py").write_text("raise ImportError('\\x1b[2J\\u202egone')\n")
    return ENGINE


def rename_release(place: Path) -> str:
    """Let the installation be that of another release; return its id."""
    other = "onnxruntime@1.20.9"
    record = json.loads((place / "installed.json").read_text())
    place.rename(place.with_name(other))
    (place.with_name(other) / "installed.json").write_text(json.dumps(record | {"id": other}))
    return other


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (spoil_packages, "cannot be imported: "),
        (rename_release, f"contains release {RELEASE}; tuibench engines remove"),
    ],
)
def test_run_with_a_spoiled_engine_is_a_failed_cell_with_its_reason(
    shell: Shell, engine: Path, change: Callable[[Path], str], said: str
) -> None:
    changed = change(engine)
    done = shell.benchmark("sample:tiny", "-e", changed, "-s", "sync", "-ncores", "1")
    assert done.code != 0
    assert f"{changed} {said}" in done.out
    assert not {"\x1b", "\u202e"} & set(done.out + done.err)


def test_test_prints_the_difference_of_one_engine(shell: Shell, engine: Path) -> None:
    for spelled in (ENGINE, ENGINE.replace("@", "=="), ENGINE.replace("onnxruntime", "ort")):
        done = shell.run("engines", "test", spelled)
        assert done.code == 0 and done.out.startswith(f"{ENGINE}: agrees with ONNX Runtime")


def test_installed_engine_is_not_installed_again(shell: Shell, engine: Path) -> None:
    said = f"{ENGINE} is installed already, for Python {sys.version.split()[0]}"
    assert shell.run("engines", "install", ENGINE).err == f"{said}\n"
    assert shell.run("engines", "install", ENGINE, "--python", "3.10").err == f"{said}; --python 3.10 was not used\n"
    quiet = shell.run("engines", "install", ENGINE, "-q")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (("install", "onnxruntime"), 2, "tuibench engines install onnxruntime@RELEASE"),
        (("install", "onnxruntime@1.2"), 2, "1.15"),
        (("install", "nothing"), 4, "engines:"),
        (("install",), 2, "required"),
        (("download", ENGINE), 2, "--to"),
        (("download", "deepsparse", "--to", "a b", "-q"), 2, "the same command with --accept-licence"),
        (("remove", ENGINE), 4, f"tuibench engines install {ENGINE}"),
        (("remove", ENGINE, "-y"), 4, f"tuibench engines install {ENGINE}"),
        (("test", ENGINE), 4, f"tuibench engines install {ENGINE}"),
        (("drop", ENGINE), 2, "install"),
    ],
)
def test_refusals_name_what_leads_on(shell: Shell, arguments: tuple[str, ...], code: int, hint: str) -> None:
    done = shell.run("engines", *arguments)
    assert done.code == code and hint in done.err and done.out == ""
    assert len(done.err.splitlines()) <= 2


def test_two_releases_are_measured_in_one_run(shell: Shell, engines_root: Callable[[str], Path]) -> None:
    older = "onnxruntime@1.20.1"
    root = Services().engines.root
    root.parent.mkdir(parents=True)
    root.symlink_to(engines_root(older))
    done = shell.benchmark("sample:tiny", "-e", f"onnxruntime,{older}", "-s", "sync", "-ncores", "1")
    assert done.code == 0, done.err
    assert any(line.startswith(older) and "agree" in line for line in done.lines)


def network_cut() -> tuple[str, ...]:
    """Return the command that runs another one without a network; skip if there is none."""
    cut = ("unshare", "-rn")
    if shutil.which("unshare") is None or subprocess.run([*cut, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network namespace cannot be made here")
    return cut


def test_engine_is_installed_from_wheels_with_the_network_cut(real_shell: Shell, tmp_path: Path) -> None:
    cut = network_cut()
    wheels = make_wheels(tmp_path / "wheels")
    arguments = ("engines", "install", ENGINE, "--python", sys.executable, "--wheels", str(wheels))
    done = real_shell.run(*arguments, env={"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": None}, wrap=cut)
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1].startswith(f"installed {ENGINE}")
    without = real_shell.run("engines", "install", "onnxruntime@1.20.1", wrap=cut, env={"PIP_CONFIG_FILE": os.devnull})
    assert without.code == 4 and "tuibench engines download onnxruntime@1.20.1 --to DIR" in without.err
    until(lambda: not real_shell.processes(), "no process")


@pytest.mark.slow
def test_deepsparse_is_carried_to_a_machine_without_a_network(
    real_shell: Shell, tmp_path: Path, engines_root: Callable[[str], Path]
) -> None:
    engines_root("deepsparse")  # where it cannot be installed, it cannot be carried either
    cut = network_cut()
    own = {name: REAL_ENVIRONMENT.get(name) for name in ("HOME", "PIP_CONFIG_FILE", "PIP_FIND_LINKS")}
    wheels = tmp_path / "carried"
    fetched = real_shell.run("engines", "download", "deepsparse", "--to", str(wheels), "--accept-licence", env=own)
    if fetched.code == 4:
        pytest.skip(f"the package index cannot be reached: {fetched.err.splitlines()[-1]}")
    assert fetched.code == 0 and len(list(wheels.glob("deepsparse-1.8.0-*.whl"))) >= 1, fetched.err
    arguments = ("engines", "install", "deepsparse", "--wheels", str(wheels), "--accept-licence")
    done = real_shell.run(*arguments, env=own | {"PIP_FIND_LINKS": None, "PIP_CONFIG_FILE": os.devnull}, wrap=cut)
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1].startswith("installed deepsparse@1.8.0")


def test_licence_is_asked_for_at_a_terminal_and_refused_elsewhere(real_shell: Shell, tmp_path: Path) -> None:
    install = ("engines", "install", "deepsparse", "--wheels", str(tmp_path))
    without = real_shell.run(*install)
    assert without.code == 2 and "--accept-licence" in without.err and "no production" in without.err
    assert "read it at https://github.com/neuralmagic/deepsparse/blob/main/LICENSE" in without.err
    code, seen = on_terminal(real_shell, "n\n", *install)
    assert code == 4 and "no production" in seen and "the licence was not accepted" in seen
    code, seen = on_terminal(real_shell, "y\n", *install)
    assert code == 4 and "no fitting wheel of deepsparse" in seen
    place = Services().engines.root / "deepsparse@1.8.0"
    (place / "venv" / "bin").mkdir(parents=True)
    (place / "venv" / "bin" / "python").symlink_to(sys.executable)
    (place / "installed.json").write_text(json.dumps({"id": place.name, "python": "3.11.7"}))
    code, seen = on_terminal(real_shell, "n\n", "engines", "download", "deepsparse", "--to", str(tmp_path / "carried"))
    assert code == 4 and "the licence was not accepted" in seen


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_of_an_installation(real_shell: Shell, tmp_path: Path) -> None:
    wheels = make_wheels(tmp_path / "wheels")
    arguments = ("engines", "install", ENGINE, "--python", sys.executable, "--wheels", str(wheels))
    command = real_shell.start(*arguments, env={"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": None})
    assert command.stderr is not None
    for line in command.stderr:
        if line.startswith(b"installing"):
            break
    command.send_signal(signal.SIGINT)
    _, rest = command.communicate()
    assert as_shell(command.returncode) == 130
    assert (
        rest.decode().splitlines()[-1] == f"tuibench: {ENGINE}: the installation was cancelled; nothing of it is left"
    )
    root = Services().engines.root
    assert [name for name in os.listdir(root) if not name.endswith(".lock")] == []
    until(lambda: not real_shell.processes(), "no process")


@pytest.mark.slow
def test_ctrl_c_ends_a_test_and_a_download_with_one_line(real_shell: Shell, engine: Path, tmp_path: Path) -> None:
    command = real_shell.start("engines", "test", ENGINE)
    until(lambda: real_shell.pids("tuibench.runner"), "a runner")
    command.send_signal(signal.SIGINT)
    _, said = command.communicate()
    assert as_shell(command.returncode) == 130
    assert said.decode().splitlines() == [f"tuibench: {ENGINE}: the test was cancelled"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        arguments = ("engines", "download", ENGINE, "--to", "carried", "--index-url", index, "-q")
        command = real_shell.start(*arguments, env={"PIP_CONFIG_FILE": os.devnull}, cwd=tmp_path)
        with silent.accept()[0]:
            command.send_signal(signal.SIGINT)
            _, said = command.communicate()
    assert as_shell(command.returncode) == 130
    assert os.listdir(tmp_path / "carried") == []
    assert said.decode().splitlines() == [f"tuibench: {ENGINE}: the download was cancelled; complete files stay"]
    until(lambda: not real_shell.processes(), "no process")


@pytest.mark.slow
def test_disk_that_fills_up_is_named_and_nothing_is_left(real_shell: Shell, tmp_path: Path) -> None:
    home, wheels = tmp_path / "home", make_wheels(tmp_path / "wheels", "# large" + "0" * 8_000_000)
    home.mkdir()
    fill = f"mount -t tmpfs -o size=4m none {shlex.quote(str(home))} && "
    mounted = ("unshare", "-m", "sh", "-c", fill + 'exec "$@"', "sh")
    if (
        shutil.which("unshare") is None
        or subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    code = (
        "import sys; from tuibench.services import engines; engines._LEAST_ROOM = 1; "
        "from tuibench.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ("engines", "install", ENGINE, "--python", sys.executable, "--wheels", str(wheels))
    environment = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": None, "TUIBENCH_HOME": str(home)}
    done = subprocess.run(
        [*mounted, sys.executable, "-c", code, *arguments],
        env=real_shell.environment(environment), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 6 and "the disk is full" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= 5

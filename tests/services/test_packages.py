"""The output of pip as errors, and the interpreters that packages are installed for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tuibench.core.engine_state import InstallOrder
from tuibench.core.errors import EngineError, TuibenchError
from tuibench.engines.recipes import find_recipe
from tuibench.present.error.words import hint_words
from tuibench.runs.task import StopSwitch
from tuibench.services.engines import _no_wheel
from tuibench.services.interpreters import ask_interpreter, find_interpreters
from tuibench.services.packages import Installer, NoSuchWheel, read_failure

ORDER = InstallOrder("onnxruntime@1.27.0")
SERIES = f"{sys.version_info[0]}.{sys.version_info[1]}"
NONE = "ERROR: Could not find a version that satisfies the requirement onnxruntime==1.27.0 (from versions: {})"
RETRY = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(\"[Errno -2] Name "
    "or service not known\")': /simple/onnxruntime/"
)


def error_of(*lines: str, logged: str = "", order: InstallOrder = ORDER) -> TuibenchError:
    found = read_failure(lines, logged, order)
    assert isinstance(found, TuibenchError)
    return found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "engine_disk_full"),
        ("OSError: [Errno 122] Disk quota exceeded", "engine_disk_full"),
        ("ERROR: HTTP error 403 while getting https://index/onnxruntime.whl", "index_refused"),
        ("503 Server Error: Service Unavailable for url: https://index/simple/", "index_refused"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "wheel_hash_differs"),
        (RETRY, "index_unreachable"),
        ("ERROR: something new", "pip_failed"),
    ],
)
def test_failures_of_pip_are_told_apart(line: str, code: str) -> None:
    assert error_of(line).reason.code == code


def test_cause_of_an_unread_page_comes_from_the_log() -> None:
    logged = (
        "2026-11-20T12:00:00 Could not fetch URL http://index/: 401 Client Error: Unauthorized for url: http://index/"
    )
    assert error_of(NONE.format("none"), logged=logged).reason.fields["status"] == 401
    assert error_of(RETRY).reason.fields["text"] == "Name or service not known"


LOST = "Could not fetch URL http://index/: connection error: HTTPConnectionPool(): Max retries exceeded - skipping"
ABSENT = "Could not fetch URL http://index/numpy/: 404 Client Error: Not Found for url: http://index/numpy/ - skipping"


def test_index_that_lacks_the_package_was_reached() -> None:
    assert isinstance(read_failure([NONE.format("none")], ABSENT, ORDER), NoSuchWheel)
    assert isinstance(read_failure([RETRY, NONE.format("1.20.0")], RETRY, ORDER), NoSuchWheel)
    assert error_of(RETRY, NONE.format("none"), logged=LOST).reason.code == "index_unreachable"


def test_log_of_an_earlier_attempt_is_not_read_again(tmp_path: Path) -> None:
    installer = make_installer(tmp_path)
    (tmp_path / "pip.log").write_text(RETRY)
    assert installer._run(["true"], print)[0] == 0 and installer._logged() == ""


def make_installer(scratch: Path, order: InstallOrder = ORDER, stop: StopSwitch | None = None) -> Installer:
    recipe = find_recipe(order.id)
    assert recipe is not None
    return Installer(order, recipe, stop or StopSwitch(), scratch)


class Silence(StopSwitch):
    """Waits in which a process prints nothing; a download grows in the first of them."""

    def __init__(self, downloaded: Path, growing: int) -> None:
        super().__init__()
        self._downloaded, self._growing, self.waits = downloaded, growing, 0

    def wait(self, fds: Sequence[int], timeout_s: float) -> set[int]:
        self.waits += 1
        if self.waits > 3:
            return super().wait(fds, timeout_s)
        if self.waits <= self._growing:
            self._downloaded.write_bytes(b"x" * self.waits)
        return set()


def test_silence_counts_only_while_no_download_grows(tmp_path: Path) -> None:
    downloaded = tmp_path / "tmp" / "torch.whl"
    assert make_installer(tmp_path, stop=Silence(downloaded, 3))._run(["echo", "end"], print) == (0, ["end"])
    with pytest.raises(EngineError) as caught:
        make_installer(tmp_path, stop=(stop := Silence(downloaded, 1)))._run(["cat", "/dev/zero"], print)
    assert caught.value.reason.code == "index_unreachable" and stop.waits == 2


def test_errors_of_a_download_name_its_command() -> None:
    order = replace(ORDER, target="/a b")
    full = "OSError: [Errno 28] No space left on device"
    assert error_of(full, order=order).reason.code == "download_disk_full"
    assert error_of(full).reason.code == "engine_disk_full"
    wrong = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
    for line in (full, "ERROR: HTTP error 403 while getting x.whl", wrong, "ERROR: something new"):
        assert f"tuibench engines download {ORDER.id} --to '/a b'" in hint_words(error_of(line, order=order))
    assert "--index-url" not in hint_words(error_of(wrong, order=replace(ORDER, wheels="carried")))


def test_missing_release_names_those_of_the_index() -> None:
    found = read_failure([NONE.format("1.20.0, 1.20.1")], "", ORDER)
    assert isinstance(found, NoSuchWheel)
    assert (found.package, found.releases) == ("onnxruntime", ("1.20.0", "1.20.1"))


def test_text_of_pip_is_safe_to_print() -> None:
    assert "\x1b" not in str(error_of("ERROR: \x1b[31mred\x1b[0m").reason.fields["text"])


def script(folder: Path, text: str) -> str:
    folder.mkdir(parents=True)
    path = folder / f"python{SERIES}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_interpreters_are_tried_by_running_them(tmp_path: Path) -> None:
    shim = script(tmp_path / "shims", "echo 'pyenv: no such version' >&2; exit 127")
    good = script(tmp_path / "pyenv" / "versions" / f"{SERIES}.1" / "bin", f'exec "{sys.executable}" "$@"')
    assert ask_interpreter(shim) is None and ask_interpreter(str(tmp_path / "none")) is None
    found = ask_interpreter(good)
    assert found is not None and found.series == SERIES and os.path.isabs(found.path)
    environ = {"PATH": str(tmp_path / "shims"), "PYENV_ROOT": str(tmp_path / "pyenv"), "HOME": str(tmp_path)}
    assert [one.path for one in find_interpreters(SERIES, environ)] == [os.path.realpath(sys.executable)]
    assert list(find_interpreters("2.6", environ)) == []


def test_uv_and_pyenv_are_searched(tmp_path: Path) -> None:
    for n, place in enumerate(("pyenv/versions/9.9.1", "uv/cpython-9.9.2-linux")):
        folder = tmp_path / place / "bin"
        folder.mkdir(parents=True)
        path = folder / "python9.9"
        path.write_text(f"#!/bin/sh\necho '9.9 9.9.{n} cpython {os.uname().machine}'\necho {path}\n")
        path.chmod(0o700)
    environ = {"PATH": "", "PYENV_ROOT": str(tmp_path / "pyenv"), "UV_PYTHON_INSTALL_DIR": str(tmp_path / "uv")}
    assert [one.version for one in find_interpreters("9.9", environ)] == ["9.9.0", "9.9.1"]


def test_missing_build_for_cpus_is_not_replaced_by_one_for_cuda() -> None:
    recipe = find_recipe("torch")
    assert recipe is not None
    error = _no_wheel(recipe, InstallOrder(recipe.id), NoSuchWheel("torch", ("2.13.0",)), ["3.11"])
    assert error.reason.code == "build_missing"
    command = "tuibench engines install torch --extra-index-url https://download.pytorch.org/whl/cpu"
    assert hint_words(error).startswith(command)


@pytest.mark.parametrize("engine", ["torch", "deepsparse", "onnxruntime@1.27.0"])
def test_index_is_asked_instead_of_the_own_and_further_ones_as_well(engine: str, tmp_path: Path) -> None:
    order = InstallOrder(engine, index_url="https://mirror/simple", extra_index_urls=("https://a", "https://b"))
    expected = [
        "--index-url",
        "https://mirror/simple",
        "--extra-index-url",
        "https://a",
        "--extra-index-url",
        "https://b",
    ]
    assert make_installer(tmp_path, order)._source() == expected
    assert make_installer(tmp_path, InstallOrder(engine))._source() == []

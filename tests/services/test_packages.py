"""The output of pip as errors, and the interpreters that packages are installed for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tuibench.core.engine_state import InstallOrder
from tuibench.core.errors import TuibenchError
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


def test_missing_build_for_cpus_is_not_replaced_by_the_one_that_needs_cuda(tmp_path: Path) -> None:
    recipe = find_recipe("torch")
    assert recipe is not None and recipe.is_special_build
    error = _no_wheel(recipe, InstallOrder(recipe.id), NoSuchWheel("torch", ("2.13.0",)), ["3.11"])
    assert error.reason.code == "build_missing" and "--index-url" in hint_words(error)
    order = InstallOrder(recipe.id, index_url="https://mirror.example/simple")
    assert Installer(order, recipe, StopSwitch(), tmp_path, 0)._source() == ["--extra-index-url", order.index_url]

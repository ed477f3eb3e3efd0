"""Wrong values, wrong inputs and unwritable exports are refused in one or two lines before any work."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.quick import QuickShell
from tests.cli.shell import AS_STRANGER, Shell
from tests.cli.test_bad_input_model import SYNC, hold_a_refusal
from tests.engines.make import image, mlp


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--dim", "nobody=4"), 2, "nobody"),
        pytest.param(("--dim", "image:7=4"), 2, "image:7", marks=pytest.mark.slow),
        pytest.param(("-shapes", "[1,3,8,8],[1,2]"), 2, "shape", marks=pytest.mark.slow),
        pytest.param(("-shapes", "[1,3,8]"), 2, "image", marks=pytest.mark.slow),
        (("-shapes", "[1,4,8,8]"), 2, "image"),
        (("-e", "magic"), 4, "magic"),
        (("-e", "torch"), 4, "is not installed"),
    ],
)
def test_value_unsupported_by_model_or_engine_is_refused(
    shell: Shell, folder: Path, flags: tuple[str, ...], code: int, words: str
) -> None:
    done = shell.benchmark(image().save(folder), *SYNC, *flags)
    hold_a_refusal(done, code, words)


def test_unsupported_batch_fails_its_cell(shell: Shell, folder: Path) -> None:
    done = shell.benchmark(mlp().save(folder), *SYNC, "-b", "1,2")
    assert done.code == 1
    assert any("failed" in line and "batch" in line for line in done.lines)
    assert "Traceback" not in done.err


class Evil:
    """Creates a marker file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.mkdir, (str(self._mark), 0o755)


def save(path: Path, **arrays: Any) -> Path:
    """Save an .npz file; use pickles where numpy needs them."""
    with path.open("wb") as handle:
        np.savez(handle, **arrays)
    return path


def test_input_file_that_does_not_fit_the_model_is_refused(shell: Shell, folder: Path) -> None:
    model = image().save(folder)
    good = np.zeros((2, 3, 8, 8), dtype=np.uint8)
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "shape": ({"image": np.zeros((2, 4, 8, 8), dtype=np.uint8)}, "image"),
        "dtype": ({"image": good.astype(np.float64)}, "float64"),
        "name": ({"picture": good}, "image"),
        "nothing": ({}, "image"),
    }
    for name, (arrays, words) in cases.items():
        file = save(folder / f"{name}.npz", **arrays)
        done = shell.benchmark(model, *SYNC, "--inputs", str(file))
        assert done.code in (2, 3), (name, done.err)
        hold_a_refusal(done, done.code, words)


def test_pickled_inputs_are_refused_and_never_run(shell: Shell, folder: Path) -> None:
    mark = folder / "owned"
    file = save(folder / "evil.npz", image=np.array([Evil(mark)], dtype=object))
    done = shell.benchmark(image().save(folder), *SYNC, "--inputs", str(file))
    assert done.code in (2, 3), done.err
    hold_a_refusal(done, done.code, "image")
    assert not mark.exists()


@pytest.mark.parametrize("kind", ["missing", pytest.param("noise", marks=pytest.mark.slow), "fifo", "cut"])
def test_input_file_without_arrays_is_refused(shell: Shell, folder: Path, kind: str) -> None:
    path = folder / "in.npz"
    whole = io.BytesIO()
    np.savez(whole, image=np.zeros((2, 3, 8, 8), dtype=np.uint8))
    if kind == "noise":
        path.write_bytes(os.urandom(500))
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "cut":
        path.write_bytes(whole.getvalue()[:300])
    done = shell.benchmark(image().save(folder), *SYNC, "--inputs", str(path))
    assert done.code in (2, 3), done.err
    hold_a_refusal(done, done.code, "in.npz")


def test_good_inputs_from_a_file_are_used(shell: Shell, folder: Path) -> None:
    file = save(folder / "in.npz", image=np.zeros((2, 3, 8, 8), dtype=np.uint8))
    done = shell.benchmark(image().save(folder), *SYNC, "--inputs", str(file))
    assert done.code == 0, done.err
    assert "in.npz" in done.err or "from" in done.err


PLACES = {
    "missing directory": "nowhere/out.json",
    "below a file": "file/out.json",
    "a directory": ".",
    "a kernel's directory": "/proc/out.json",
    "a device": "device",
    "a long name": "x" * 300,
}


@pytest.mark.parametrize("name", sorted(PLACES))
def test_unwritable_export_is_refused_before_measuring(quick: QuickShell, folder: Path, name: str) -> None:
    (folder / "file").write_text("", encoding="ascii")
    (folder / "device").symlink_to("/dev/full")
    path = os.path.join(folder, PLACES[name])
    before = sorted(os.listdir(folder))
    done = quick.call("benchmark", "sample:tiny", *SYNC, "-x", path)
    hold_a_refusal(done, 6, path[:9])
    assert sorted(os.listdir(folder)) == before


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become somebody else")
def test_export_into_a_directory_of_another_user_exits_6(shell: Shell, folder: Path) -> None:
    target = folder / "out.json"
    done = shell.benchmark("sample:tiny", *SYNC, "-x", str(target), wrap=AS_STRANGER)
    hold_a_refusal(done, 6, "permission denied")
    assert not target.exists()


def test_export_that_fails_at_the_end_keeps_result_on_stdout(keeper: Shell, folder: Path) -> None:
    (folder / "gone").mkdir()
    flags = ("-e", "fake", "-s", "sync", "-ncores", "1", "--executions", "2", "-t", "0.2", "-w", "0.05")
    process = keeper.start("benchmark", "sample:tiny", *flags, "-x", str(folder / "gone" / "out.json"))
    keeper.wait_for("execution_start")
    (folder / "gone").rmdir()
    out, err = process.communicate(timeout=30)
    assert b"ms" in out.splitlines()[-1]
    assert b"saved as" in err and b"cannot be written" in err and b"Traceback" not in err
    assert process.returncode == 6

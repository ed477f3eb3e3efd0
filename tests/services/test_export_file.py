from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.present import build
from tests.refusal import refused
from tuibench.core.errors import ExitCode, UsageError, WriteError
from tuibench.core.formats import format_of
from tuibench.core.reason import Reason, because
from tuibench.present.export import render
from tuibench.present.reason import reason_words
from tuibench.services.export_file import check_target, write_export


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def refusal(path: object) -> Reason:
    with pytest.raises(WriteError) as caught:
        check_target(str(path))
    assert caught.value.exit_code == ExitCode.STORE
    return caught.value.reason


def test_file_suffix_selects_the_format() -> None:
    names = ["a.csv", "a.MD", "a.json", "a", "a.txt", "-", "dir.csv/a", "benchmark.json.bak"]
    forms = ["csv", "markdown", "json", "json", "json", "json", "json", "json"]
    assert [format_of(name) for name in names] == forms
    for name in ("a.html", "a.HTM"):
        with refused(UsageError, "format_unsupported", path=name, format="HTML"):
            check_target(name)


def test_each_format_has_its_own_rendering() -> None:
    run = build.default_run()
    assert json.loads(render(run, "json"))["tuibench"]["id"] == run.id
    assert render(run, "csv").startswith("key,model,engine")
    assert render(run, "markdown").startswith("# tuibench")


def test_check_of_a_writable_target_leaves_no_files(tmp_path: Path) -> None:
    check_target(str(tmp_path / "out.json"))
    (tmp_path / "old.json").write_text("old")
    check_target(str(tmp_path / "old.json"))
    check_target("-")
    assert sorted(os.listdir(tmp_path)) == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


def test_unwritable_target_is_refused_before_measuring(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "loop").symlink_to("loop")
    missing = refusal(tmp_path / "none" / "out.json")
    assert (missing.code, missing.fields["missing"]) == ("target_unwritable", True)
    assert refusal(tmp_path) == because("target_is_directory", path=str(tmp_path))
    with refused(UsageError, "target_without_name"):
        check_target("")
    for name in ("pipe", "null"):
        assert refusal(tmp_path / name) == because("target_not_regular", path=str(tmp_path / name))
    refusal(tmp_path / "loop")
    refusal(tmp_path / "file" / "out.json")
    refusal(tmp_path / ("x" * 300))
    refusal("a\0b")


def test_read_only_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        raise OSError(30, "Read-only file system", path)

    # Permissions do not stop root, so the test raises the kernel's error itself.
    monkeypatch.setattr(os, "open", read_only)
    fields = {"path": str(tmp_path / "out.json"), "text": "Read-only file system", "missing": False}
    assert refusal(tmp_path / "out.json") == Reason("target_unwritable", fields)
    assert reason_words(Reason("target_unwritable", fields)).endswith("cannot be written: read-only file system")


def test_exported_file_is_complete_with_the_mode_of_the_umask(tmp_path: Path, umask: None) -> None:
    target = tmp_path / "out.json"
    write_export(str(target), "één\n")
    assert target.read_bytes() == "één\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.json"]


def test_replaced_file_keeps_its_mode_and_stays_private_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: None
) -> None:
    target, seen = tmp_path / "out.json", []
    target.write_text("old")
    target.chmod(0o600)
    fsync = os.fsync

    def look(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    write_export(str(target), "new")
    assert stat.S_IMODE(target.stat().st_mode) == seen[0] == 0o600
    assert target.read_text() == "new"


def test_symlink_target_stays_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_export(str(tmp_path / "link.json"), "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failed_write_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    (tmp_path / "out.json").write_text("old")

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(WriteError if isinstance(error, OSError) else KeyboardInterrupt):
        write_export(str(tmp_path / "out.json"), "new")
    assert os.listdir(tmp_path) == ["out.json"]
    assert (tmp_path / "out.json").read_text() == "old"


def test_surrogates_do_not_stop_a_text_export(tmp_path: Path) -> None:
    for name in ("out.csv", "out.md", "out.json"):
        write_export(str(tmp_path / name), render(build.hostile_run(), format_of(name)))
        (tmp_path / name).read_text("utf-8")

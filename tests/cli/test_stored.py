"""The store commands, from list to store check."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.shell import Done, Shell
from tests.cli.terminal import on_terminal
from tests.store.data import make_id, make_samples, make_small
from tuibench.cli.arguments import parse
from tuibench.cli.terminal import Interruption
from tuibench.core.stored import FileStamp, Metadata, ModelReference
from tuibench.services.api import Services

FOREIGN = Path(__file__).resolve().parents[1] / "fixtures" / "import" / "deepsparse-0.10.0.json"
HOSTILE = "\x1b[2J\u202eevil\u009b31m\n[bold]=1+1"


@pytest.fixture
def three(home: Path) -> None:
    """Three benchmarks in the test's home, newest 0003."""
    store = Services().store
    for number in (1, 2, 3):
        store.benchmarks.add(make_small(number), Metadata(name=f"name {number}"))


def ids(done: Done) -> list[str]:
    assert done.code == 0, done.err
    return [line.split()[0] for line in done.lines[1:]]


def test_list_of_a_new_home_is_empty_with_a_hint(shell: Shell, home: Path) -> None:
    done = shell.run("list")
    assert (done.code, done.out) == (0, "") and "benchmark MODEL" in done.err
    assert json.loads(shell.run("list", "--json").out) == {"schema": 1, "total": 0, "benchmarks": []}
    for command in ("trash", "store"):
        assert shell.run(command, *(["check"] if command == "store" else [])).code == 0
    assert shell.run("undo").code == 2
    assert shell.run("show", "last").code == 2
    assert not (home / "tuibench").exists(), "looking makes nothing"


@pytest.mark.usefixtures("three")
def test_list_is_newest_first_and_counts_hidden_rows(shell: Shell) -> None:
    assert ids(shell.run("list")) == ["0003", "0002", "0001"]
    few = shell.run("list", "-n", "1")
    assert ids(few) == ["0003"] and "-n 3 " in few.err
    assert ids(shell.run("list", "--all")) == ["0003", "0002", "0001"]
    assert ids(shell.run("list", "NAME", "0002")) == ["0002"]
    none = shell.run("list", "frobnicate")
    assert (none.code, none.out) == (0, "") and "3" in none.err
    assert shell.run("list", "--project", "nowhere").code == 2
    assert shell.run("list", "-n", "0").code == shell.run("list", "-n", "3", "--all").code == 2
    listed = json.loads(shell.run("list", "--json", "-n2").out)
    assert [one["short"] for one in listed["benchmarks"]] == ["0003", "0002"] and listed["total"] == 3


@pytest.mark.usefixtures("three")
def test_benchmark_is_shown_by_every_form_of_its_id(shell: Shell) -> None:
    for token in ("0002", make_id(2), "last~1", "name 2"):
        done = shell.run("show", token)
        assert done.code == 0 and f"Benchmark: 0002 ({make_id(2)})" in done.lines and "Name: name 2" in done.lines
    shown = json.loads(shell.run("show", "0002", "--json").out)
    assert (shown["schema"], shown["id"], shown["card"]["name"]) == (1, make_id(2), "name 2")
    assert shown["benchmark"]["tuibench"]["id"] == make_id(2)
    assert "0002" in shell.run("show", "0002", "--samples").err


def test_sample_directory_is_printed(shell: Shell, folder: Path) -> None:
    Services().store.benchmarks.add(make_small(1, sampled=True), Metadata(), make_samples(folder / "s", 1))
    done = shell.run("show", "last", "--samples")
    assert done.code == 0 and len(os.listdir(done.out.strip())) == 1


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("command", ["show", "edit", "remove", "export", "rerun"])
def test_unknown_or_ambiguous_id_lists_the_candidates(shell: Shell, command: str) -> None:
    flags = {"edit": ["--note", "x"], "remove": ["-y"], "export": ["-x", "-"]}.get(command, [])
    for token, said in (("zzzz", "no benchmark is called zzzz"), ("000", "matches 3 benchmarks")):
        done = shell.run(command, token, *flags)
        assert (done.code, done.out) == (2, "")
        assert said in done.err if token == "zzzz" else True
        assert "0003, 0002, 0001" in done.err and len(done.err.splitlines()) == 2
    assert shell.run(command, "\x1b[31mx", *flags).err.count("\x1b") == 0
    assert ids(shell.run("list")) == ["0003", "0002", "0001"]


@pytest.mark.usefixtures("three")
def test_edit_changes_only_the_metadata(shell: Shell) -> None:
    before = Services().store.benchmarks.get(make_id(2)).result
    done = shell.run("edit", "name 2", "--name", "other", "--note", "warm")
    assert (done.code, done.out) == (0, "") and all(text in done.err for text in ('"other"', '"name 2"', '"warm"'))
    Services().store.projects.create("servers", ModelReference("m", FileStamp("/m", 1, 1, "a" * 64), "a" * 64))
    done = shell.run("edit", "other", "--name", "", "--note", "warm", "--project", "servers")
    assert all(text in done.err for text in ('"other"', '"warm"', '"servers"'))
    stored = Services().store.benchmarks.get(make_id(2))
    assert (stored.metadata.name, stored.metadata.note, stored.result) == ("", "warm", before)
    for flags in ((), ("--name", "two\nlines"), ("--project", "nowhere")):
        assert shell.run("edit", "0002", *flags).code == 2


@pytest.mark.usefixtures("three")
def test_removed_benchmark_is_restored(shell: Shell) -> None:
    done = shell.run("remove", "0001", "last", "-y")
    assert (done.code, done.out) == (0, "") and " undo " in done.err
    assert ids(shell.run("list")) == ["0002"]
    assert "trash" in shell.run("show", "0003").err
    assert "0001 name 1" in shell.run("trash").out
    (entry,) = json.loads(shell.run("trash", "list", "--json").out)["trash"]
    assert set(entry["benchmarks"]) == {make_id(1), make_id(3)}
    assert shell.run("undo").err.startswith("restored ")
    assert ids(shell.run("list")) == ["0003", "0002", "0001"]
    shell.run("remove", "0001", "-y")
    shell.run("remove", "0002", "-y")
    assert shell.run("trash", "restore", "0001").code == 0
    assert shell.run("trash", "restore", "zzzz").code == 2
    assert ids(shell.run("list")) == ["0003", "0001"]


@pytest.mark.usefixtures("three")
def test_confirmation_without_a_terminal_is_refused(shell: Shell) -> None:
    shell.run("remove", "0001", "-y")
    for arguments in (("remove", "0002"), ("trash", "empty")):
        done = shell.run(*arguments)
        assert done.code == 2 and "-y" in done.err and len(done.err.splitlines()) == 2
    assert ids(shell.run("list")) == ["0003", "0002"] and len(Services().store.trash.entries()) == 1
    done = shell.run("trash", "empty", "-y")
    assert done.code == 0 and done.err.startswith("deleted 1 removal, ")
    assert shell.run("undo").code == 2


@pytest.mark.usefixtures("three")
def test_confirmation_on_a_terminal_needs_the_exact_word(shell: Shell) -> None:
    for typed in ("\n", "n\n", "\x04"):
        code, seen = on_terminal(shell, typed, "remove", "0001")
        assert code == 0 and "[y/N]" in seen
    code, seen = on_terminal(shell, "y\n", "remove", "0001")
    assert code == 0 and " undo " in seen
    code, seen = on_terminal(shell, "y\n", "trash", "empty")
    assert code == 0 and "empty" in seen
    code, seen = on_terminal(shell, "empty\n", "trash", "empty")
    assert code == 0 and "1 removal" in seen
    assert on_terminal(shell, signal.SIGINT, "remove", "0002")[0] == 130
    assert ids(shell.run("list")) == ["0003", "0002"]


@pytest.mark.usefixtures("three")
def test_export_is_written_to_its_target_and_imported_again(shell: Shell, folder: Path) -> None:
    for name in ("out.json", "out.csv", "out.md"):
        done = shell.run("export", "0002", "-x", str(folder / name))
        assert (done.code, done.out) == (0, "") and "--include-private" in done.err
        assert done.err.startswith(f"wrote 0002 to {folder / name} ")
    printed = shell.run("export", "0002", "-x", "-")
    assert printed.out == (folder / "out.json").read_text() and "/abs/dir" not in printed.out
    assert "/abs/dir" in shell.run("export", "0002", "-x", "-", "--include-private").out
    assert shell.run("export", "last", "-x", str(folder / "out.md")).err.startswith("wrote 0003 to ")
    assert shell.run("export", "0002").code == 2
    assert shell.run("export", "0002", "-x", str(folder / "no" / "x.json")).code == 6
    assert shell.run("export", "0002", "-x", str(folder / "x.html")).code == 2

    elsewhere = {"TUIBENCH_HOME": str(folder / "elsewhere")}
    done = shell.run("import", str(folder / "out.json"), str(FOREIGN), env=elsewhere)
    assert done.code == 0 and done.lines[0] == "0002" and "grade" in done.err
    again = shell.run("import", str(folder / "out.json"), str(FOREIGN), env=elsewhere)
    assert (
        again.code == 0
        and again.lines == done.lines
        and all(f"{short} is in the store already; nothing" in again.err for short in done.lines)
    )
    listed = shell.run("list", env=elsewhere)
    assert set(ids(listed)) == set(done.lines)
    shown = shell.run("show", done.lines[1], env=elsewhere)
    assert shown.code == 0 and "deepsparse.benchmark" in shown.out
    refused = shell.run("rerun", done.lines[1], env=elsewhere)
    assert refused.code == 2 and refused.err


def test_failing_import_does_not_stop_the_others(shell: Shell, folder: Path) -> None:
    nonsense = folder / "no\x1b[2Jsense.json"
    nonsense.write_text("{", "ascii")
    done = shell.run("import", str(nonsense), str(FOREIGN), str(folder / "nowhere.json"))
    assert done.code == 2 and len(done.lines) == 1 and "\x1b" not in done.err
    assert "nowhere.json" in done.err and "sense.json" in done.err
    assert shell.run("import", str(nonsense)).code == 2


def test_imported_names_cannot_drive_the_terminal(shell: Shell) -> None:
    result = make_small(1)
    source = replace(result.spec.models[0], asked=f"/m/{HOSTILE}", path=f"/m/{HOSTILE}")
    result = replace(result, spec=replace(result.spec, models=(source,)), foreign=HOSTILE)
    Services().store.benchmarks.add(result, Metadata(name=HOSTILE, note=HOSTILE))
    commands = [
        ("list",), ("list", "--json"), ("show", "last"), ("show", "last", "--json"), ("export", "last", "-x", "-"),
        ("edit", "last", "--note", "x"), ("show", HOSTILE), ("rerun", "last"), ("remove", "last", "-y"), ("trash",),
        ("trash", "list", "--json"), ("show", "last"), ("undo",), ("store", "check"), ("list", HOSTILE),
        ("list", "--project", HOSTILE), ("import", HOSTILE), ("export", "last", "-x", f"/{HOSTILE}"),
    ]  # fmt: skip
    for command in commands:
        done = shell.run(*command)
        assert not set("\x1b\u202e\u009b") & set(done.out + done.err), command
        assert "Traceback" not in done.err and done.code in (0, 2, 6), (command, done.err)
    for command in (("list",), ("show", "last")):
        assert "\x1b" not in on_terminal(shell, "", *command)[1]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("command", [("list", "--all"), ("show", "last"), ("export", "last", "-x", "-")])
def test_closed_stdout_exits_141(shell: Shell, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = shell.run(*command, stdout=writer)
    os.close(writer)
    assert done.code == 141 and "Traceback" not in done.err and "ignored" not in done.err


@pytest.mark.parametrize("command", ["list", "show", "edit", "remove", "undo", "trash", "export", "import", "store"])
def test_unknown_flag_is_one_line_with_the_help_command(shell: Shell, command: str) -> None:
    done = shell.run(command, "--frobnicate")
    assert done.code == 2 and len(done.err.splitlines()) == 2 and f"tuibench {command} --help" in done.err


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("command", ["list", "show", "trash"])
def test_store_commands_import_no_heavy_module(command: str) -> None:
    program = (
        "import json, sys; from tuibench.cli.main import main; main(json.loads(sys.argv[1]));"
        "print(json.dumps(sorted(sys.modules)))"
    )
    argv = json.dumps([command, *(["last"] if command == "show" else [])])
    done = subprocess.run([sys.executable, "-c", program, argv], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "tuibench.store.store" in loaded
    heavy = {"numpy", "onnx", "onnxruntime", "openvino", "psutil", "rich", "textual", "multiprocessing", "asyncio"}
    assert not loaded & (heavy | {"subprocess", "difflib", "tuibench.services.runs", "tuibench.services.exchange"})


@pytest.mark.usefixtures("three")
def test_store_check_ends_like_every_command_and_fits_the_terminal(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (index,) = home.rglob("tuibench.json")
    index.write_bytes(b"{")
    monkeypatch.setattr("tuibench.cli.machine.width", lambda: 60)
    for flags, code in (((), 6), (("--repair",), 0), (("--read-data",), 0)):
        parsed = parse(["store", "check", *flags])
        assert isinstance(parsed, Namespace) and parsed.run(parsed, Interruption()) == code
        lines = capsys.readouterr().out.splitlines()
        assert lines and all(len(line) <= 60 for line in lines)

"""`tuibench project` as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Done, Shell
from tests.cli.terminal import on_terminal
from tests.model.download.server import file_route, serve
from tests.model.factory import encoder, save
from tests.services.script import ScriptedRun
from tests.store.data import make_small
from tuibench.core.stored import Metadata
from tuibench.services.api import Services


def names(done: Done) -> list[str]:
    assert done.code == 0, done.err
    return [project["name"] for project in json.loads(done.out)["projects"]]


def test_project_is_created_changed_listed_and_removed(shell: Shell, tmp_path: Path) -> None:
    path = save(encoder(), tmp_path / "net.onnx")
    made = shell.run("project", "new", path, "--description", "for the new servers", "--dim", "seq=128")
    assert made.code == 0 and made.err == "" and made.lines[0].startswith("net (") and "seq=128" in made.out
    short = made.lines[0].removeprefix("net (").rstrip(")")
    assert names(shell.run("project", "edit", short, "--name", "encoder", "--dim", "batch=4", "--json")) == ["encoder"]
    assert names(shell.run("project", "copy", "encoder", "second", "--json")) == ["second"]
    assert names(shell.run("project", "list", "--sort", "name", "--json")) == ["encoder", "second"]
    assert names(shell.run("project", "list", "SERVERS", "second", "--json")) == ["second"]
    listed = shell.run("project")
    assert listed.code == 0 and len(listed.lines) == 3 and "encoder" in listed.out
    removed = shell.run("project", "remove", "encoder", "second", "-y", "--json")
    (entry,) = json.loads(removed.out)["removed"]
    assert (entry["kind"], len(entry["projects"])) == ("project", 2)
    assert "undo" in removed.err
    empty = shell.run("project", "list")
    assert (empty.code, empty.out) == (0, "") and empty.err
    assert shell.run("undo").code == 0
    assert names(shell.run("project", "list", "--sort", "name", "--json")) == ["encoder", "second"]


def test_project_removal_needs_confirmation(shell: Shell) -> None:
    store = Services().store
    shell.run("project", "new", "sample:tiny", "--name", "one")
    (project,) = store.projects.all()
    store.benchmarks.add(make_small(1), Metadata(project=project.id))
    short = project.id[-4:].lower()
    unasked = shell.run("project", "remove", "one")
    assert unasked.code == 2 and " -y" in unasked.err and len(unasked.err.splitlines()) == 2
    code, seen = on_terminal(shell, "n\n", "project", "remove", "one")
    assert code == 0 and f"{short} one" in seen and "[y/N]" in seen
    assert names(shell.run("project", "--json")) == ["one"]
    code, seen = on_terminal(shell, "y\n", "project", "remove", "one")
    assert code == 0 and f"{short} one" in seen
    assert names(shell.run("project", "--json")) == []


def test_removal_of_a_measured_project_is_refused_before_the_question(shell: Shell, home: Path) -> None:
    shell.run("project", "new", "sample:tiny", "--name", "one")
    (project,) = Services().store.projects.all()
    run = ScriptedRun(home / "tuibench" / "state" / "runs", metadata={"project": project.id})
    run.hold()
    run.begin()
    code, seen = on_terminal(shell, "", "project", "remove", "one")
    assert code == 2 and "0001:" in seen and "[y/N]" not in seen
    run.let_go()
    assert shell.run("project", "remove", "one", "-y").code == 0


def test_store_findings_are_reported_when_the_command_fails(shell: Shell, home: Path) -> None:
    shell.run("project", "new", "sample:tiny", "--name", "good")
    (good,) = (home / "tuibench" / "data" / "projects").glob("*.json")
    good.with_name("01M7QKKCAZ09667G12Y958W5FK.json").write_bytes(b"{")
    done = shell.run("project", "show", "nothing")
    assert done.code == 2 and done.err.count("01M7QKKCAZ09667G12Y958W5FK") == 1


def test_changed_and_missing_models_are_shown(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    save(encoder(), path)
    shell.run("project", "new", str(path), "--name", "mine")
    path.write_bytes(b"other")
    assert f"{path} " in shell.run("project", "show", "mine").out
    path.unlink()
    assert "gone" in shell.run("project", "show", "mine").out
    (project,) = json.loads(shell.run("project", "show", "mine", "--json").out)["projects"]
    assert project["versions"][0]["state"]["state"] == "gone" and project["dims"] == {}


def test_remote_model_gets_a_project(shell: Shell, tmp_path: Path) -> None:
    body = Path(save(encoder(), tmp_path / "net.onnx")).read_bytes()
    with serve(tmp_path) as loopback:
        loopback.routes["/bert/model.onnx"] = file_route(body)
        address = loopback.url("/bert/model.onnx") + "?key=secret"
        done = shell.run("project", "new", address, env={"SSL_CERT_FILE": loopback.certificates})
    assert done.code == 0 and done.lines[0].startswith("bert (") and "model.onnx" in done.err
    assert "secret" not in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("new", "none.onnx"), 3, "no such file"),
        (("new", "pyproject.toml"), 3, "not a readable ONNX model"),
        (("new", "sample:tiny", "--name", "a\x1b[2J"), 2, "unprintable characters"),
        (("new", "sample:tiny", "--name", "  "), 2, "needs a name"),
        (("new", "sample:tiny", "--dim", "seq"), 2, "--dim takes NAME=N"),
        (("new", "sample:tiny", "--dim", "seq=-1"), 2, "--dim takes NAME=N"),
        (("new",), 2, "MODEL"),
        (("show", "nothing"), 2, "no project is called nothing"),
        (("edit", "nothing", "--name", "x"), 2, "no project is called nothing"),
        (("edit", "nothing"), 2, "no change was given"),
        (("copy", "nothing", "x"), 2, "no project is called nothing"),
        (("remove", "nothing"), 2, "no project is called nothing"),
        (("list", "--sort", "colour"), 2, "--sort"),
        (("burn",), 2, "burn"),
    ],
)
def test_mistakes_are_reported_in_two_lines(shell: Shell, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = shell.run("project", *arguments)
    assert (done.code, done.out) == (code, ""), done.err
    assert words in done.err and len(done.err.splitlines()) <= 2 and "\x1b" not in done.err


def test_removal_with_one_wrong_name_removes_nothing(shell: Shell) -> None:
    shell.run("project", "new", "sample:tiny", "--name", "one")
    assert shell.run("project", "remove", "one", "nothing").code == 2
    assert names(shell.run("project", "--json")) == ["one"]


def test_used_name_error_names_its_owner(shell: Shell) -> None:
    first = shell.run("project", "new", "sample:tiny", "--json")
    short = json.loads(first.out)["projects"][0]["short"]
    again = shell.run("project", "new", "sample:tiny")
    assert again.code == 2 and short in again.err


def test_damaged_project_is_named_and_the_others_are_listed(shell: Shell, home: Path) -> None:
    shell.run("project", "new", "sample:tiny", "--name", "good")
    (good,) = (home / "tuibench" / "data" / "projects").glob("*.json")
    bad = good.with_name("01M7QKKCAZ09667G12Y958W5FK.json")
    bad.write_bytes(b"{")
    done = shell.run("project", "--json")
    assert names(done) == ["good"] and bad.stem in done.err


def test_read_only_store_can_be_read(shell: Shell, home: Path) -> None:
    (home / "tuibench").mkdir()
    (home / "tuibench" / "data").write_bytes(b"a file")
    done = shell.run("project", "new", "sample:tiny")
    assert done.code == 6 and len(done.err.splitlines()) <= 2


@pytest.mark.slow
def test_benchmark_is_saved_into_the_project_of_its_model(shell: Shell, tmp_path: Path) -> None:
    shell.save = True
    path = save(encoder(), tmp_path / "net.onnx")

    def measure(*flags: str) -> str:
        done = shell.fake({"default": {"latency_us": 300}}, path, "-s", "sync", "-ncores", "1", *flags)
        assert done.code == 0, done.err
        return next(line for line in done.err.splitlines() if line.startswith("saved as "))

    assert ": net (" in measure()
    assert ": other" in measure("--project", "other")
    shell.run("project", "copy", "net", "twin")
    assert measure().endswith(" in project net") and measure("--project", "twin").endswith(" in project twin")
    rows = json.loads(shell.run("project", "list", "--sort", "name", "--json").out)["projects"]
    assert [(row["name"], row["benchmarks"]) for row in rows] == [("net", 2), ("other", 1), ("twin", 1)]
    assert all(row["last_run_utc"] and row["size_bytes"] > 1000 for row in rows)
    shell.run("project", "remove", "net", "-y")
    assert set(names(shell.run("project", "--json"))) == {"other", "twin"}

"""From a form to a run and back: initial values, estimates, and real runs of the scripted engine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_spec
from tests.cli.shell import until
from tests.conftest import ROOT
from tests.model.factory import encoder, save
from tests.store.build import make_store
from tests.store.data import make_id, make_small
from tuibench.core import activity
from tuibench.core.activity import RunView
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.ids import short_id
from tuibench.core.spec import EFFORTS, LOSS, InputSettings, ModelSource, ProfileSpec
from tuibench.core.stored import Metadata
from tuibench.present.command import command_of
from tuibench.services.api import Services
from tuibench.services.projects import Projects
from tuibench.tui.bridge import Bridge
from tuibench.tui.bridge_start import Glance
from tuibench.tui.desk import FormStart, FormValues

TINY = ROOT / "tuibench" / "data" / "samples" / "tiny.onnx"
SHORT = replace(EFFORTS["quick"], timed_s=0.05, warmup_s=0.02, min_executions=2, max_executions=2, target=None)
SHORT = replace(SHORT, limit_s=20.34)  # time given to a fixed number of such short executions
BRIEF = {"engines": ("fake",), "scenarios": "sync", "cores": "1", "effort": "fixed", "time_s": "0.1"}
FLAGS = "--executions 2"
SCRIPT = json.dumps({"default": {"latency_us": 300}})
HANGING = json.dumps({"default": {"latency_us": 300, "load": "hang"}})


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bridge]:
    monkeypatch.setenv("TUIBENCH_FAKE", SCRIPT)
    made = Bridge(hidden=True)
    yield made
    for row in made.pulse().runs:
        if row.info.state in activity.ALIVE:
            made.cancel(row.info.id)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    shutil.copy(TINY, path)
    return path


@pytest.fixture
def project(bridge: Bridge, model: Path) -> str:
    return bridge.create_project(bridge.find_model(str(model)), "net", "", {}).project.id


def brief(start: FormStart, **changes: object) -> FormValues:
    return replace(start.values, **{**BRIEF, "warmup_s": "0.02", "flags": FLAGS, **changes})  # type: ignore[arg-type]


def follow(bridge: Bridge, run: str) -> RunView:
    feed = bridge.watch(run)
    try:
        return until(lambda: view if (view := feed.look()).ended else None, "the end of the run")
    finally:
        feed.close()


def stored(bridge: Bridge, project: str, **changes: object) -> str:
    """Store a benchmark of the project's model as a run would, without the run's duration."""
    summary = bridge.summary(project)
    spec = make_spec(Path(summary.path), batches=(1,), **changes)  # type: ignore[arg-type]
    made = replace(make_small(1), spec=spec, models=(summary,))
    cells = tuple(replace(c, asked=replace(c.asked, model_sha256=summary.sha256, cores=1)) for c in made.cells)
    store = make_store(Path(os.environ["TUIBENCH_HOME"]) / "data")
    store.benchmarks.add(replace(made, cells=cells), Metadata(name="kept", project=project))
    return make_id(1)


# Initial values


def test_model_form_begins_with_defaults(bridge: Bridge, model: Path) -> None:
    start = bridge.form(path=str(model))
    assert (start.values, start.origin) == (FormValues(model=str(model)), "the defaults")
    assert start.summary is not None and start.summary.path == str(model)
    with pytest.raises(ModelError):
        bridge.form(path="/nowhere.onnx")


def test_dims_left_open_by_model_have_one_row_each(bridge: Bridge, tmp_path: Path) -> None:
    path = Path(save(encoder(), tmp_path / "text.onnx"))
    found = bridge.find_model(str(path))
    names = found.dims
    assert names
    assert bridge.form(path=str(path)).values.dims == tuple((name, "") for name in names)
    one = bridge.create_project(found, "text", "", {names[0]: 24}).project.id
    assert bridge.form(project=one).values.dims[0] == (names[0], "24")
    assert bridge.form(path=str(path)).values.dims[0] == (names[0], "24")


def test_project_form_begins_with_newest_settings(bridge: Bridge, project: str) -> None:
    assert bridge.form(project=project).origin == "the defaults"
    stored(bridge, project, pin="none")
    start = bridge.form(project=project)
    assert start.origin == "the settings of 0001, the newest here"
    assert (start.values.pin, start.values.name, start.values.engines) == ("none", "", ("fake",))


def test_project_form_begins_with_last_started_settings(bridge: Bridge, project: str, model: Path) -> None:
    bridge.start(brief(bridge.form(project=project), name="first", note="not for the next", batches="1,2"), project)
    again = Bridge(hidden=True).form(project=project)
    assert again.origin == "this project's last values"
    assert (again.values.batches, again.values.flags, again.values.engines) == ("1,2", FLAGS, ("fake",))
    assert (again.values.name, again.values.note, again.values.model) == ("", "", str(model))


def test_values_of_other_version_are_read_where_known(bridge: Bridge, project: str) -> None:
    kept = Path(os.environ["TUIBENCH_HOME"]) / "state" / "forms" / f"{project}.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"engines": 7, "cores": 3, "dims": [["a"], 5], "batches": "1,4", "of another version": []}')
    values = bridge.form(project=project).values
    assert (values.engines, values.cores, values.dims, values.batches) == (("onnxruntime",), "", (), "1,4")
    kept.write_bytes(b"\xff")
    assert bridge.form(project=project).origin == "the defaults"


def test_benchmark_form_has_its_settings(bridge: Bridge, project: str) -> None:
    one = stored(bridge, project, pin="none")
    start = bridge.form(benchmark=one)
    assert start.origin == "the settings of 0001"
    assert (start.values.batches, start.values.pin, start.values.name, start.changed) == ("1", "none", "kept", False)
    assert not bridge.check_form(start.values, start.summary).errors


def test_form_reports_missing_or_changed_model(bridge: Bridge, project: str, model: Path) -> None:
    one = stored(bridge, project)
    alter(model)
    for start in (bridge.form(project=project), bridge.form(benchmark=one)):
        assert (start.changed, start.error) == (True, "")
    model.unlink()
    start = bridge.form(project=project)
    assert (start.summary, start.changed) == (None, False)
    assert "no such file" in start.error
    known = bridge.form(benchmark=one)
    assert known.summary is not None and "no such file" in known.error


def alter(model: Path) -> None:
    """Replace the model's content but keep its interface."""
    model.write_bytes(model.read_bytes().replace(b"tuibench", b"tuibenck", 1))


# Estimates and checks


def test_form_shows_estimate(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    check = bridge.check_form(replace(start.values, cores="1", batches="1,8", effort="quick"), start.summary)
    assert (check.errors, check.cells, check.warnings, check.busy) == ({}, 4, (), "")
    assert check.expected_s == pytest.approx(4 * 3 * 1.3)
    assert check.limit_s == 40
    assert check.memory_bytes is not None and 60e6 < check.memory_bytes < 70e6
    assert check.command.endswith("net.onnx -ncores 1 -b 1,8 --quick")


def test_form_estimate_matches_dry_run_of_command(bridge: Bridge) -> None:
    start = bridge.form(path="sample:text")
    values = replace(start.values, cores="1", batches="1,4", dims=((start.values.dims[0][0], "16,32"),))
    check = bridge.check_form(values, start.summary)
    words = [sys.executable, "-m", *shlex.split(check.command), "--dry-run", "--json"]
    plan = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    assert (check.cells, check.expected_s, check.limit_s) == (len(plan["cells"]), plan["expected_s"], plan["limit_s"])
    assert check.memory_bytes == plan["memory_bytes"]


def test_every_invalid_field_is_named_and_no_other(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    values = replace(start.values, cores="9999", batches="x", compare_to="zzzz", engines=("nope",), against="/gone")
    check = bridge.check_form(values, start.summary)
    assert set(check.errors) == {"cores", "batches", "compare_to", "engines", "against"}
    assert (check.command, check.cells) == ("", 0)


def test_model_constraint_error_appears_beside_field(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    unknown = bridge.check_form(replace(start.values, dims=(("nope", "3"),)), start.summary)
    assert list(unknown.errors) == ["dim:nope"]
    twice = bridge.check_form(replace(start.values, batches="4", dims=(("batch", "2"),)), start.summary)
    assert list(twice.errors) == ["batches"]


def test_probable_failure_is_warning(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    values = replace(start.values, precision="f16", cores="1,1", scenarios="sync", streams="4")
    check = bridge.check_form(values, start.summary)
    assert check.errors == {}
    assert "onnxruntime has no f16: its cells will fail" in check.warnings
    assert any("measured once" in words for words in check.warnings)
    assert any("1 stream is used" in words for words in check.warnings)
    tight = bridge.check_form(replace(start.values, flags="--memory-limit 2MB"), start.summary)
    assert any(words.startswith("the largest needs about 60") for words in tight.warnings)


def test_check_starts_nothing_and_opens_no_user_file(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    bridge.check_form(start.values, start.summary)
    seen: list[str] = []
    watching = True

    def hear(event: str, args: tuple[object, ...]) -> None:
        if watching and event in ("open", "subprocess.Popen", "os.listdir", "os.scandir"):
            seen.append(f"{event} {args[0]}")

    sys.addaudithook(hear)
    bridge.check_form(start.values, start.summary)
    watching = False
    assert [line for line in seen if not line.startswith(("open /proc/", "open /sys/", "os.listdir /sys/"))] == []


def test_active_measurement_query_is_rate_limited() -> None:
    asked: list[int] = []
    now = [0.0]

    def ask() -> str:
        asked.append(1)
        return f"answer {len(asked)}"

    glance = Glance(ask, lambda: now[0])
    assert [glance.look(), glance.look()] == ["answer 1", "answer 1"]
    now[0] = 60.0
    assert glance.look() == "answer 2"


# Runs


def test_form_measurement_is_stored_in_its_project(bridge: Bridge, project: str) -> None:
    before = bridge.pulse()
    run, notes = bridge.start(brief(bridge.form(project=project), name="mine", note="why"), project)
    assert notes == ()
    (row,) = bridge.pulse().runs
    assert (row.info.id, row.project, row.engines, row.note) == (run, project, "fake", "why")
    view = follow(bridge, run)
    assert (view.status, view.saved, view.project) == ("finished", True, project)
    assert [len(cell.executions) for cell in view.cells] == [2]
    after = bridge.pulse()
    assert (after.runs, after.stamp != before.stamp) == ((), True)
    stored = bridge.open(run)
    assert (stored.metadata.name, stored.metadata.note, stored.metadata.project) == ("mine", "why", project)
    assert bridge.command(benchmark=run) == command_of(stored.result) == bridge.command(run=run)
    assert stored.result.spec == view.spec


def test_comparison_reference_is_stored_in_metadata(bridge: Bridge, project: str) -> None:
    one = stored(bridge, project)
    values = brief(bridge.form(project=project), compare_to=" 0001 ")
    run, _ = bridge.start(values, project)
    follow(bridge, run)
    assert (bridge.open(run).metadata.partner, bridge.open(run).metadata.rerun_of) == (one, None)
    assert (Metadata(rerun_of="a").partner, Metadata(rerun_of="a", compare_to="b").partner) == ("a", "b")


def test_form_with_error_starts_nothing(bridge: Bridge, project: str) -> None:
    start = bridge.form(project=project)
    for changes, words in (
        ({"cores": "0"}, "cores: takes 1 to"),
        ({"compare_to": "zzzz"}, "compare_to: "),
        ({"dims": (("a", "x"),)}, "a: takes"),
    ):
        with pytest.raises(UsageError, match=words):
            bridge.start(brief(start, **changes), project)
    assert bridge.pulse().runs == ()


def test_rerun_repeats_settings_and_records_original(bridge: Bridge, project: str) -> None:
    first = stored(bridge, project, effort=SHORT)
    plan = bridge.plan_rerun(first[-4:].lower())
    assert (plan.id, plan.cells, plan.busy, plan.error, plan.changed) == (first, 1, "", "", False)
    assert plan.expected_s == pytest.approx(2 * (0.05 + 0.8))
    run, _ = bridge.rerun(first)
    follow(bridge, run)
    metadata = bridge.open(run).metadata
    assert (metadata.rerun_of, metadata.name, metadata.project) == (first, "kept", project)
    old, new = (bridge.open(one).result.spec for one in (first, run))
    assert new == replace(old, models=new.models)
    assert bridge.compare(first, run).new_id == run


def test_start_question_shows_machine_load(bridge: Bridge, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = stored(bridge, project)
    monkeypatch.setattr(Services, "load_words", lambda services: "quiet")
    other = Bridge(hidden=True)
    start = other.form(project)
    assert other.plan_rerun(first).load == other.check_form(start.values, start.summary).load == "quiet"


@pytest.mark.parametrize("profile", [None, ProfileSpec(LOSS)])
def test_rerun_requires_original_input_files(
    bridge: Bridge, project: str, tmp_path: Path, profile: ProfileSpec | None
) -> None:
    fed = tmp_path / "fed.npz"
    first = stored(bridge, project, inputs=InputSettings(file=str(fed)), profile=profile)
    plan = bridge.plan_rerun(first)
    assert plan.error == f"its inputs are gone: R takes them from where they lie now (were {fed})"
    fed.touch()
    assert bridge.plan_rerun(first).error == ""


@pytest.mark.slow
def test_changed_model_is_rerun_only_as_new_version(bridge: Bridge, project: str, model: Path) -> None:
    first = stored(bridge, project, effort=SHORT)
    alter(model)
    plan = bridge.plan_rerun(first)
    assert (plan.changed, "has changed since" in plan.error, "--" in plan.error) == (True, True, False)
    with pytest.raises(ModelError):
        bridge.rerun(first)
    run, _ = bridge.rerun(first, changed=True)
    follow(bridge, run)
    assert [version.name for version in bridge.project(project).project.versions] == ["original", "v2"]
    model.unlink()
    gone = bridge.plan_rerun(first)
    assert (gone.changed, "is gone" in gone.error) == (False, True)


def test_imported_benchmark_cannot_be_rerun(bridge: Bridge) -> None:
    store = make_store(Path(os.environ["TUIBENCH_HOME"]) / "data")
    store.benchmarks.add(replace(make_small(1), foreign="deepsparse.benchmark 1.8"), Metadata())
    assert "its settings are not known" in bridge.plan_rerun(make_id(1)).error
    with pytest.raises(UsageError):
        bridge.rerun(make_id(1))


def test_run_of_new_model_has_project_at_once(bridge: Bridge, model: Path) -> None:
    run, _ = bridge.start(brief(bridge.form(path=str(model))))
    (row,) = bridge.projects()
    assert row.project.versions[0].model.file.path == str(model)
    assert follow(bridge, run).project == row.project.id
    assert [stored.project for stored in bridge.benchmarks()] == [row.project.id]


def test_second_model_is_read_once_like_first(
    bridge: Bridge, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = type(bridge._projects).look

    def listen(projects: Projects, source: ModelSource) -> object:
        looks.append(source.path)
        return look(projects, source)

    monkeypatch.setattr(Projects, "look", listen)
    page = tmp_path / "page.onnx"
    page.write_bytes(b"<html>")
    values = replace(FormValues(model=str(model)), against=str(page))
    for _ in range(2):
        assert "is a web page, not a model" in bridge.check_form(values, None).errors["against"]
    assert bridge.check_form(replace(values, against=str(model)), None).errors == {}
    assert looks == [str(page), str(model)]
    page.write_bytes(TINY.read_bytes())
    assert bridge.check_form(values, None).errors == {}


@pytest.mark.parametrize("profile", [None, ProfileSpec(LOSS)])
def test_missing_model_hint_fits_80_columns(bridge: Bridge, tmp_path: Path, profile: ProfileSpec | None) -> None:
    model = tmp_path / ("deep" * 20) / f"{'very-' * 20}long.onnx"
    model.parent.mkdir()
    shutil.copy(TINY, model)
    project = bridge.create_project(bridge.find_model(str(model)), "net", "", {}).project.id
    first = stored(bridge, project, profile=profile)
    model.unlink()
    way = "R takes it from where it lies now" if profile is None else f"rerun {short_id(first)} --model PATH"
    assert way in bridge.plan_rerun(first).error[: 80 - len("! ") - 1]

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
from tests.refusal import refused
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
from tuibench.services.form_values import FormStart, FormValues
from tuibench.services.forms import Glance
from tuibench.services.machine import MachineFacts
from tuibench.services.projects import Projects

TINY = ROOT / "tuibench" / "data" / "samples" / "tiny.onnx"
SHORT = replace(EFFORTS["quick"], timed_s=0.05, warmup_s=0.02, min_executions=2, max_executions=2, target=None)
SHORT = replace(SHORT, limit_s=20.34)  # time given to a fixed number of such short executions
BRIEF = {"engines": ("fake",), "scenarios": "sync", "cores": "1", "effort": "fixed", "time_s": "0.1"}
FLAGS = "--executions 2"
SCRIPT = json.dumps({"default": {"latency_us": 300}})
HANGING = json.dumps({"default": {"latency_us": 300, "load": "hang"}})


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setenv("TUIBENCH_FAKE", SCRIPT)
    made = Services(hidden=True)
    yield made
    for row in made.monitor.look().runs:
        if row.info.state in activity.ALIVE:
            made.runs.cancel(row.info.id)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    shutil.copy(TINY, path)
    return path


@pytest.fixture
def project(services: Services, model: Path) -> str:
    return services.projects.create(services.models.find(str(model)).source, "net", "", {})[0].project.id


def brief(start: FormStart, **changes: object) -> FormValues:
    return replace(start.values, **{**BRIEF, "warmup_s": "0.02", "flags": FLAGS, **changes})  # type: ignore[arg-type]


def follow(services: Services, run: str) -> RunView:
    feed = services.runs.watch(run)
    try:
        return until(lambda: view if (view := feed.look()).ended else None, "the end of the run")
    finally:
        feed.close()


def stored(services: Services, project: str, load_ms: float = 0.0, **changes: object) -> str:
    """Store a benchmark of the project's model as a run would, without the run's duration."""
    summary = services.models.find(services.projects.get(project).project.versions[-1].model.file.path).summary
    spec = make_spec(Path(summary.path), batches=(1,), **changes)  # type: ignore[arg-type]
    made = replace(make_small(1), spec=spec, models=(summary,))
    asks = [replace(one.asked, model_sha256=summary.sha256, cores=1) for one in made.cells]
    cells = tuple(replace(one, asked=asked, load_ms=load_ms) for one, asked in zip(made.cells, asks, strict=True))
    store = make_store(Path(os.environ["TUIBENCH_HOME"]) / "data")
    store.benchmarks.add(replace(made, cells=cells), Metadata(name="kept", project=project))
    return make_id(1)


# Initial values


def test_model_form_begins_with_defaults(services: Services, model: Path) -> None:
    start = services.forms.open(path=str(model))
    assert (start.values, start.origin) == (FormValues(model=str(model)), "the defaults")
    assert start.summary is not None and start.summary.path == str(model)
    with pytest.raises(ModelError):
        services.forms.open(path="/nowhere.onnx")


def test_dims_left_open_by_model_have_one_row_each(services: Services, tmp_path: Path) -> None:
    path = Path(save(encoder(), tmp_path / "text.onnx"))
    found = services.models.find(str(path))
    names = found.dims
    assert names
    assert services.forms.open(path=str(path)).values.dims == tuple((name, "") for name in names)
    one = services.projects.create(found.source, "text", "", {names[0]: 24})[0].project.id
    assert services.forms.open(project=one).values.dims[0] == (names[0], "24")
    assert services.forms.open(path=str(path)).values.dims[0] == (names[0], "24")


def test_project_form_begins_with_newest_settings(services: Services, project: str) -> None:
    assert services.forms.open(project=project).origin == "the defaults"
    stored(services, project, pin="none")
    start = services.forms.open(project=project)
    assert start.origin == "the settings of 0001, the newest here"
    assert (start.values.pin, start.values.name, start.values.engines) == ("none", "", ("fake",))


def test_project_form_begins_with_last_started_settings(services: Services, project: str, model: Path) -> None:
    services.forms.start(
        brief(services.forms.open(project=project), name="first", note="not for the next", batches="1,2"), project
    )
    again = Services(hidden=True).forms.open(project=project)
    assert again.origin == "this project's last values"
    assert (again.values.batches, again.values.flags, again.values.engines) == ("1,2", FLAGS, ("fake",))
    assert (again.values.name, again.values.note, again.values.model) == ("", "", str(model))


def test_values_of_other_version_are_read_where_known(services: Services, project: str) -> None:
    kept = Path(os.environ["TUIBENCH_HOME"]) / "state" / "forms" / f"{project}.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"engines": 7, "cores": 3, "dims": [["a"], 5], "batches": "1,4", "of another version": []}')
    values = services.forms.open(project=project).values
    assert (values.engines, values.cores, values.dims, values.batches) == (("onnxruntime",), "", (), "1,4")
    kept.write_bytes(b"\xff")
    assert services.forms.open(project=project).origin == "the defaults"


def test_benchmark_form_has_its_settings(services: Services, project: str) -> None:
    one = stored(services, project, pin="none")
    start = services.forms.open(benchmark=one)
    assert start.origin == "the settings of 0001"
    assert (start.values.batches, start.values.pin, start.values.name, start.changed) == ("1", "none", "kept", False)
    assert not services.forms.check(start.values, start.summary).errors


def test_form_reports_missing_or_changed_model(services: Services, project: str, model: Path) -> None:
    one = stored(services, project)
    alter(model)
    for start in (services.forms.open(project=project), services.forms.open(benchmark=one)):
        assert (start.changed, start.error) == (True, "")
    model.unlink()
    start = services.forms.open(project=project)
    assert (start.summary, start.changed) == (None, False)
    assert "no such file" in start.error
    known = services.forms.open(benchmark=one)
    assert known.summary is not None and "no such file" in known.error


def alter(model: Path) -> None:
    """Replace the model's content but keep its interface."""
    model.write_bytes(model.read_bytes().replace(b"tuibench", b"tuibenck", 1))


# Estimates and checks


def test_form_shows_estimate(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    check = services.forms.check(replace(start.values, cores="1", batches="1,8", effort="quick"), start.summary)
    assert (check.errors, check.cells, check.warnings, check.busy) == ({}, 4, (), "")
    assert check.expected_s == pytest.approx(4 * 3 * 1.3)
    assert check.limit_s == 40
    assert check.memory_bytes is not None and 60e6 < check.memory_bytes < 70e6
    assert check.command.endswith("net.onnx -ncores 1 -b 1,8 --quick")


def test_form_estimate_matches_dry_run_of_command(services: Services) -> None:
    start = services.forms.open(path="sample:text")
    values = replace(start.values, cores="1", batches="1,4", dims=((start.values.dims[0][0], "16,32"),))
    check = services.forms.check(values, start.summary)
    words = [sys.executable, "-m", *shlex.split(check.command), "--dry-run", "--json"]
    plan = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    assert (check.cells, check.expected_s, check.limit_s) == (len(plan["cells"]), plan["expected_s"], plan["limit_s"])
    assert check.memory_bytes == plan["memory_bytes"]


def test_every_invalid_field_is_named_and_no_other(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    values = replace(start.values, cores="9999", batches="x", compare_to="zzzz", engines=("nope",), against="/gone")
    check = services.forms.check(values, start.summary)
    assert set(check.errors) == {"cores", "batches", "compare_to", "engines", "against"}
    assert (check.command, check.cells) == ("", 0)


def test_model_constraint_error_appears_beside_field(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    unknown = services.forms.check(replace(start.values, dims=(("nope", "3"),)), start.summary)
    assert list(unknown.errors) == ["dim:nope"]
    twice = services.forms.check(replace(start.values, batches="4", dims=(("batch", "2"),)), start.summary)
    assert list(twice.errors) == ["batches"]


def test_probable_failure_is_warning(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    values = replace(start.values, precision="f16", cores="1,1", scenarios="sync", streams="4")
    check = services.forms.check(values, start.summary)
    assert check.errors == {}
    assert "onnxruntime has no f16: its cells will fail" in check.warnings
    assert any("measured once" in words for words in check.warnings)
    assert any("1 stream is used" in words for words in check.warnings)
    tight = services.forms.check(replace(start.values, flags="--memory-limit 2MB"), start.summary)
    assert any(words.startswith("the largest needs about 60") for words in tight.warnings)


def test_check_starts_nothing_and_opens_no_user_file(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    services.forms.check(start.values, start.summary)
    seen: list[str] = []
    watching = True

    def hear(event: str, args: tuple[object, ...]) -> None:
        if watching and event in ("open", "subprocess.Popen", "os.listdir", "os.scandir"):
            seen.append(f"{event} {args[0]}")

    sys.addaudithook(hear)
    services.forms.check(start.values, start.summary)
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


def test_form_measurement_is_stored_in_its_project(services: Services, project: str) -> None:
    before = services.monitor.look()
    run, notes = services.forms.start(brief(services.forms.open(project=project), name="mine", note="why"), project)
    assert notes == ()
    (row,) = services.monitor.look().runs
    assert (row.info.id, row.project, row.engines, row.note) == (run, project, "fake", "why")
    view = follow(services, run)
    assert (view.status, view.saved, view.project) == ("finished", True, project)
    assert [len(cell.executions) for cell in view.cells] == [2]
    after = services.monitor.look()
    assert (after.runs, after.stamp != before.stamp) == ((), True)
    stored = services.library.get(run)
    assert (stored.metadata.name, stored.metadata.note, stored.metadata.project) == ("mine", "why", project)
    assert services.library.command(run) == command_of(stored.result) == services.runs.command(run)
    assert stored.result.spec == view.spec


def test_comparison_reference_is_stored_in_metadata(services: Services, project: str) -> None:
    one = stored(services, project)
    values = brief(services.forms.open(project=project), compare_to=" 0001 ")
    run, _ = services.forms.start(values, project)
    follow(services, run)
    assert (services.library.get(run).metadata.partner, services.library.get(run).metadata.rerun_of) == (one, None)
    assert (Metadata(rerun_of="a").partner, Metadata(rerun_of="a", compare_to="b").partner) == ("a", "b")


def test_form_with_error_starts_nothing(services: Services, project: str) -> None:
    start = services.forms.open(project=project)
    for changes, field in (
        ({"cores": "0"}, "cores"),
        ({"compare_to": "zzzz"}, "compare_to"),
        ({"dims": (("a", "x"),)}, "a"),
    ):
        with refused(UsageError, "form_field", field=field):
            services.forms.start(brief(start, **changes), project)
    assert services.monitor.look().runs == ()


def test_rerun_repeats_settings_and_records_original(services: Services, project: str) -> None:
    first = stored(services, project, effort=SHORT)
    plan = services.reruns.plan(first[-4:].lower())
    assert (plan.id, plan.cells, plan.busy, plan.error, plan.changed) == (first, 1, "", "", False)
    assert plan.expected_s == pytest.approx(2 * (0.05 + 0.8))
    run, _ = services.reruns.start(first)
    follow(services, run)
    metadata = services.library.get(run).metadata
    assert (metadata.rerun_of, metadata.name, metadata.project) == (first, "kept", project)
    old, new = (services.library.get(one).result.spec for one in (first, run))
    assert new == replace(old, models=new.models)
    assert services.exchange.side_by_side(first, run).new_id == run


def test_expected_time_of_a_rerun_contains_the_measured_load(services: Services, project: str) -> None:
    first = stored(services, project, load_ms=7000.0, effort=SHORT)
    assert services.reruns.plan(first).expected_s == pytest.approx(2 * (0.05 + 0.8 + 7.0))


def test_start_question_shows_machine_load(services: Services, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = stored(services, project)
    monkeypatch.setattr(MachineFacts, "load_words", lambda services: "quiet")
    other = Services(hidden=True)
    start = other.forms.open(project)
    assert other.reruns.plan(first).load == other.forms.check(start.values, start.summary).load == "quiet"


@pytest.mark.parametrize("profile", [None, ProfileSpec(LOSS)])
def test_rerun_requires_original_input_files(
    services: Services, project: str, tmp_path: Path, profile: ProfileSpec | None
) -> None:
    fed = tmp_path / "fed.npz"
    first = stored(services, project, inputs=InputSettings(file=str(fed)), profile=profile)
    plan = services.reruns.plan(first)
    assert plan.error == f"its input file is missing: press R and enter the new path (was {fed})"
    fed.touch()
    assert services.reruns.plan(first).error == ""


@pytest.mark.slow
def test_changed_model_is_rerun_only_as_new_version(services: Services, project: str, model: Path) -> None:
    first = stored(services, project, effort=SHORT)
    alter(model)
    plan = services.reruns.plan(first)
    assert (plan.changed, "has changed since" in plan.error, "--" in plan.error) == (True, True, False)
    with pytest.raises(ModelError):
        services.reruns.start(first)
    run, _ = services.reruns.start(first, changed=True)
    follow(services, run)
    assert [version.name for version in services.projects.get(project).project.versions] == ["original", "v2"]
    model.unlink()
    gone = services.reruns.plan(first)
    assert (gone.changed, "is missing" in gone.error) == (False, True)


def test_imported_benchmark_cannot_be_rerun(services: Services) -> None:
    store = make_store(Path(os.environ["TUIBENCH_HOME"]) / "data")
    store.benchmarks.add(replace(make_small(1), foreign="deepsparse.benchmark 1.8"), Metadata())
    assert "its settings are not known" in services.reruns.plan(make_id(1)).error
    with pytest.raises(UsageError):
        services.reruns.start(make_id(1))


def test_run_of_new_model_has_project_at_once(services: Services, model: Path) -> None:
    run, _ = services.forms.start(brief(services.forms.open(path=str(model))))
    (row,) = services.projects.list()
    assert row.project.versions[0].model.file.path == str(model)
    assert follow(services, run).project == row.project.id
    assert [stored.project for stored in services.library.list()] == [row.project.id]


def test_second_model_is_read_once_like_first(
    services: Services, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = Projects.look

    def listen(projects: Projects, source: ModelSource) -> object:
        looks.append(source.path)
        return look(projects, source)

    monkeypatch.setattr(Projects, "look", listen)
    page = tmp_path / "page.onnx"
    page.write_bytes(b"<html>")
    values = replace(FormValues(model=str(model)), against=str(page))
    for _ in range(2):
        assert "is a web page, not a model" in services.forms.check(values, None).errors["against"]
    assert services.forms.check(replace(values, against=str(model)), None).errors == {}
    assert looks == [str(page), str(model)]
    page.write_bytes(TINY.read_bytes())
    assert services.forms.check(values, None).errors == {}


@pytest.mark.parametrize("profile", [None, ProfileSpec(LOSS)])
def test_missing_model_hint_fits_80_columns(services: Services, tmp_path: Path, profile: ProfileSpec | None) -> None:
    model = tmp_path / ("deep" * 20) / f"{'very-' * 20}long.onnx"
    model.parent.mkdir()
    shutil.copy(TINY, model)
    project = services.projects.create(services.models.find(str(model)).source, "net", "", {})[0].project.id
    first = stored(services, project, profile=profile)
    model.unlink()
    way = "press R and enter its new path" if profile is None else f"rerun {short_id(first)} --model PATH"
    assert way in services.reruns.plan(first).error[: 80 - len("! ") - 1]

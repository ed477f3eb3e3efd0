"""Profile calls of the services; measurements are recorded instead of started."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.present.profile.sample_data import make_profile
from tests.refusal import refused
from tests.tui.sample_data import add
from tests.tui.screens.profile_stage import profile_run, stock_profiles
from tuibench.core.errors import TuibenchError, UsageError
from tuibench.core.profile import LOSS, PERFORMANCE
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.spec import BenchmarkSpec
from tuibench.present.error.words import message_words
from tuibench.services.api import Services
from tuibench.services.form_values import APPROXIMATED, FLOPS, ProfileValues
from tuibench.services.profiles import Profiles
from tuibench.services.runs import RunOptions

Launched = list[tuple[BenchmarkSpec, RunOptions]]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    """Return the list of recorded starts."""
    seen: Launched = []

    def launch(profiles: Profiles, spec: BenchmarkSpec, wishes: RunOptions) -> tuple[str, tuple[str, ...]]:
        seen.append((spec, wishes))
        return f"01RUN{len(seen)}", ()

    monkeypatch.setattr(Profiles, "launch", launch)
    return seen


@pytest.fixture
def sample() -> tuple[Services, str]:
    services = Services()
    found = services.models.find("sample:text")
    return services, services.projects.create(found.source, "text", "", {"sequence": 64})[0].project.id


def test_costs_use_sizes_of_project(sample: tuple[Services, str]) -> None:
    services, project = sample
    counted = services.theory.costs(project)
    assert counted.flops == 2 * counted.macs + counted.element_flops and counted.dims["sequence"] == 64
    services.projects.edit(project, dims={"sequence": 32})
    assert services.theory.costs(project).dims["sequence"] == 32


def test_benchmark_and_profile_lists_are_separate() -> None:
    services = Services()
    project, ids = stock_profiles(services)
    lost = add(services, profile_run(7, 60))
    assert services.library.list(project) == () == services.library.list_unassigned()
    assert [row.id for row in services.library.list_profiles(project)] == list(ids)
    assert [row.id for row in services.library.list_unassigned(profiles=True)] == [lost]
    assert {row.id for row in services.library.list_profiles()} == {lost, *ids}


def test_profile_setup_begins_with_project_settings(sample: tuple[Services, str]) -> None:
    services, project = sample
    start = services.profile_forms.open(project)
    assert dict(start.values.dims)["sequence"] == "64" and start.place == "text" and start.error == ""
    assert (start.values.performance, start.values.loss) == (True, True)


def test_all_errors_list_allowed_values(sample: tuple[Services, str]) -> None:
    services, project = sample
    wrong = ProfileValues(batch="many", cores="9999", dims=(("sequence", "-1"),), inputs_file="/nowhere/a.npz")
    check = services.profile_forms.check(wrong, project)
    assert set(check.errors) == {"batch", "cores", "dim:sequence", "inputs_file"} and check.commands == ()
    assert "1" in check.errors["cores"]


def test_effort_is_checked_by_field(sample: tuple[Services, str]) -> None:
    services, project = sample
    wrong = ProfileValues(engine="openvino", runs="0", processes="many", samples="99999", levels=())
    check = services.profile_forms.check(wrong, project)
    assert set(check.errors) == {"runs", "processes", "samples", "levels"}
    assert "1 to 1024" in check.errors["samples"] and "no level is chosen" in check.errors["levels"]
    assert set(services.profile_forms.check(ProfileValues(engine="openvino"), project).errors) == {"engine"}
    # A disabled kind has no errors.
    assert services.profile_forms.check(replace(wrong, engine="", performance=False, loss=False), project).errors == {}


def test_less_effort_takes_less_time(sample: tuple[Services, str]) -> None:
    services, project = sample
    services.theory.costs(project)
    values = ProfileValues(samples="64", dims=(("sequence", "64"),))
    usual = services.profile_forms.check(values, project)
    less = services.profile_forms.check(replace(values, processes="1", levels=("int8",)), project)
    assert less.performance_s is not None and usual.performance_s is not None
    assert less.performance_s < usual.performance_s
    assert less.loss_s is not None and usual.loss_s is not None and less.loss_s < usual.loss_s
    assert "--level=int8" in less.commands[1] and "--processes=1" in less.commands[0]


def test_setup_yields_commands_and_estimates_once_costs_are_known(sample: tuple[Services, str]) -> None:
    services, project = sample
    values = ProfileValues(dims=(("sequence", "32"),), what_if=True)
    check = services.profile_forms.check(values, project)
    assert check.errors == {} and len(check.commands) == 2
    assert "--what-if" in check.commands[0] and "--loss" in check.commands[1]
    assert check.performance_s is None
    services.theory.costs(project)
    check = services.profile_forms.check(values, project)
    assert (check.performance_s, check.loss_s) == (None, None), "it was counted at another length"
    assert check.uncounted
    services.profile_forms.weigh(values, project)
    other = services.profile_forms.check(values, project)
    assert other.performance_s is not None and other.loss_s is not None and not other.uncounted
    check = services.profile_forms.check(replace(values, dims=(("sequence", "64"),)), project)
    assert check.performance_s is not None and check.loss_s is not None


def test_start_creates_one_run_per_enabled_kind(sample: tuple[Services, str], launched: Launched) -> None:
    services, project = sample
    runs, _ = services.profile_forms.start(ProfileValues(name="fast", loss_name="soft", cores="1", batch="4"), project)
    assert runs == ("01RUN1", "01RUN2")
    kinds = [spec.profile.kind for spec, _ in launched if spec.profile is not None]
    assert kinds == [PERFORMANCE, LOSS]
    assert [wishes.metadata.name for _, wishes in launched] == ["fast", "soft"]
    assert all(spec.cores == (1,) and spec.batches == (4,) for spec, _ in launched)
    assert all(wishes.metadata.project == project for _, wishes in launched)


def test_started_run_is_reported_when_next_is_refused(
    sample: tuple[Services, str], launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_second(profiles: Profiles, spec: BenchmarkSpec, wishes: RunOptions) -> tuple[str, tuple[str, ...]]:
        if launched:
            raise TuibenchError(LEGACY_TEXT, text="the disk is full")
        launched.append((spec, wishes))
        return "01RUN1", ()

    monkeypatch.setattr(Profiles, "launch", refuse_second)
    services, project = sample
    runs, said = services.profile_forms.start(ProfileValues(), project)
    assert runs == ("01RUN1",) and "the loss profile was not started: the disk is full" in said


def test_invalid_field_prevents_start(sample: tuple[Services, str], launched: Launched) -> None:
    services, project = sample
    with pytest.raises(UsageError) as caught:
        services.profile_forms.start(ProfileValues(cores="9999"), project)
    assert "ncores" in message_words(caught.value)
    assert launched == []


def test_profile_is_repeated_unchanged_or_with_changes(launched: Launched) -> None:
    services = Services()
    project = services.projects.create(services.models.find("sample:tiny").source, "tiny", "", {})[0].project.id
    services.profile_forms.start(ProfileValues(loss=False, batch="2", runs="3", processes="4"), project)
    spec = launched[0][0]
    one = add(services, profile_run(9, 60, spec=spec), project, name="first")
    start = services.profile_forms.open("", one)
    assert start.project == project and start.values.batch == "2" and start.values.loss is False
    assert (start.values.name, start.values.runs, start.values.processes) == ("first", "3", "4")
    changed = replace(start.values, batch="8")
    services.profile_forms.start(changed, project, one)
    assert launched[1][0].batches == (8,) and launched[1][1].metadata.rerun_of == one


def test_loss_profile_is_repeated_unchanged(launched: Launched) -> None:
    services = Services()
    project = services.projects.create(services.models.find("sample:text").source, "text", "", {})[0].project.id
    asked = ProfileValues(performance=False, samples="5", levels=("pruned 0.5", "int8"), budget=True, cores="1")
    services.profile_forms.start(asked, project)
    long = replace(launched[0][0], sequence_lengths=(64,))
    one = add(services, profile_run(9, 60, make_profile(kind=LOSS), spec=long), project, name="first")
    start = services.profile_forms.open("", one)
    assert (start.values.samples, start.values.levels, start.values.budget) == ("5", asked.levels, True)
    assert start.values.sequence_length == "64"
    services.profile_forms.start(start.values, project, one)
    assert launched[1][0] == long


def test_theory_has_commands(sample: tuple[Services, str]) -> None:
    services, project = sample
    # The counts depend on the dims saved in the project.
    assert services.theory.command(project, FLOPS) == "tuibench profile --flops --dim=sequence=64 sample:text"
    assert services.theory.command(project, APPROXIMATED) == "tuibench profile --loss --approximate sample:text"
    assert services.theory.approximated(project).kind == "approximated"


def test_theory_command_names_file_by_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = Services()
    shutil.copy(services.models.find("sample:tiny").source.path, tmp_path / "net.onnx")
    monkeypatch.chdir(tmp_path)
    project = services.projects.create(services.models.find("net.onnx").source, "net", "", {})[0].project.id
    assert services.theory.command(project, FLOPS) == f"tuibench profile --flops {tmp_path}/net.onnx"


def test_theory_export_format_follows_file_name(sample: tuple[Services, str], tmp_path: Path) -> None:
    services, project = sample
    assert services.theory.export(project, FLOPS, f"{tmp_path}/costs.json") == "sample:text"
    written = json.loads((tmp_path / "costs.json").read_text())
    assert written["kind"] == FLOPS and written["profile"]["dims"]["sequence"] == 64
    services.theory.export(project, FLOPS, f"{tmp_path}/costs.csv")
    assert "MatMul" in (tmp_path / "costs.csv").read_text() and (tmp_path / "costs.csv").read_text()[0] != "{"
    services.theory.export(project, FLOPS, f"{tmp_path}/costs.md")
    assert (tmp_path / "costs.md").read_text().startswith("#")
    services.theory.export(project, APPROXIMATED, f"{tmp_path}/loss.json")
    assert json.loads((tmp_path / "loss.json").read_text())["profile"]["kind"] == "approximated"
    services.theory.export(project, APPROXIMATED, f"{tmp_path}/loss.csv")
    assert "pruned 0.5" in (tmp_path / "loss.csv").read_text()


def test_theory_export_refuses_to_overwrite_model(tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    services = Services()
    shutil.copy(services.models.find("sample:tiny").source.path, model)
    project = services.projects.create(services.models.find(str(model)).source, "m", "", {})[0].project.id
    before = model.read_bytes()
    with refused(UsageError, "export_overwrites", path=str(model)):
        services.theory.export(project, FLOPS, str(model))
    with pytest.raises(TuibenchError):
        services.theory.export(project, FLOPS, f"{tmp_path}/no/a.json")
    assert model.read_bytes() == before

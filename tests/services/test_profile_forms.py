"""The model that a profile set-up measures, the number of fetches, and the project of the result."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model import factory
from tests.refusal import refused
from tests.services.test_forms import TINY, alter
from tests.services.test_project_profiles import Launched, launched
from tests.tui.sample_data import add
from tests.tui.screens.profile_stage import profile_run
from tuibench.core.errors import ModelError, UsageError
from tuibench.core.profile import CostProfile
from tuibench.core.reason import LEGACY_TEXT
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.stored import Project
from tuibench.services.api import Services
from tuibench.services.form_values import ProfileValues
from tuibench.services.models import Models
from tuibench.services.profiles import Profiles
from tuibench.services.projects import Projects

__all__ = ["launched"]

ADDRESS = "hf:org/repo"


class Elsewhere:
    """A server with one model, and a cache for it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.asked: list[str] = []

    def fetch(self, token: str) -> ModelSource:
        self.asked.append(token)
        if not self.file.exists():
            shutil.copy(TINY, self.file)
        return ModelSource(token, str(self.file))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    server = Elsewhere(tmp_path / "fetched.onnx")
    monkeypatch.setattr(Models, "fetch", lambda services, token, tell=None: server.fetch(token))
    return server


@pytest.fixture
def fetched(elsewhere: Elsewhere) -> tuple[Services, str]:
    services = Services()
    source = elsewhere.fetch(ADDRESS)
    elsewhere.asked.clear()
    return services, services.projects.create(source, "far")[0].project.id


def test_remote_model_check_fetches_nothing_and_start_once(
    fetched: tuple[Services, str], elsewhere: Elsewhere, launched: Launched
) -> None:
    services, project = fetched
    check = services.profile_forms.check(ProfileValues(), project)
    assert check.errors == {} and elsewhere.asked == []
    assert [command.split()[2] for command in check.commands] == [ADDRESS, ADDRESS]
    assert set(services.profile_forms.check(ProfileValues(batch="many"), project).errors) == {"batch"}
    services.profile_forms.start(ProfileValues(), project)
    assert elsewhere.asked == [ADDRESS]
    assert {spec.models for spec, _ in launched} == {(ModelSource(ADDRESS, str(elsewhere.file)),)}


def test_evicted_model_is_fetched_by_start(
    fetched: tuple[Services, str], elsewhere: Elsewhere, launched: Launched
) -> None:
    services, project = fetched
    elsewhere.file.unlink()
    assert services.profile_forms.check(ProfileValues(), project).errors == {}
    services.profile_forms.start(ProfileValues(loss=False), project)
    assert elsewhere.file.exists() and len(launched) == 1


def test_changed_model_result_goes_to_another_project_and_says_so(
    fetched: tuple[Services, str], elsewhere: Elsewhere, launched: Launched
) -> None:
    services, project = fetched
    elsewhere.file = Path(shutil.copy(elsewhere.file, elsewhere.file.with_name("newer.onnx")))
    alter(elsewhere.file)
    _, said = services.profile_forms.start(ProfileValues(), project)
    (home,) = {wishes.metadata.project for _, wishes in launched}
    assert home is not None and home != project
    assert said == (
        f"{ADDRESS} is not a model of this project: the result belongs to {services.projects.get(home).project.name}",
    )


def test_target_project_is_resolved_before_either_kind_starts(
    fetched: tuple[Services, str], launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = Projects.project_for, list[int]()

    def project_for(projects: Projects, source: ModelSource, project: str = "") -> Project | None:
        asked.append(len(launched))
        return real(projects, source, project)

    monkeypatch.setattr(Projects, "project_for", project_for)
    services, project = fetched
    assert len(services.profile_forms.start(ProfileValues(), project)[0]) == 2
    assert asked == [0]


def test_changed_project_model_file_is_reported(tmp_path: Path) -> None:
    path = Path(shutil.copy(TINY, tmp_path / "net.onnx"))
    services = Services()
    project = services.projects.create(services.models.find(str(path)).source, "net", "", {})[0].project.id
    assert services.profile_forms.open(project).note == ""
    alter(path)
    start = services.profile_forms.open(project)
    assert start.note == "the model changed since it was measured: RUN measures the current file"
    assert start.error == ""


def test_sizes_fixed_otherwise_by_model_are_errors_at_once(tmp_path: Path, launched: Launched) -> None:
    services = Services()
    path = factory.save(factory.classifier((1, 3, 8, 8)), tmp_path / "net.onnx")
    project = services.projects.create(services.models.find(path).source, "net", "", {})[0].project.id
    services.profile_forms.open(project)
    check = services.profile_forms.check(ProfileValues(batch="64"), project)
    assert check.errors["batch"] == "the model allows 1 only: input 'x' is [1, 3, 8, 8]"
    assert set(check.errors) == {"batch"} and check.commands == ()
    with refused(UsageError, "batch_fixed", subject="batch 64:", allowed=1):
        services.profile_forms.start(ProfileValues(batch="64"), project)
    assert launched == [] and services.profile_forms.check(ProfileValues(batch="1"), project).errors == {}
    # A replaced file is used from then on.
    factory.save(factory.classifier(("batch", 3, 8, 8)), Path(path))
    assert services.profile_forms.check(ProfileValues(batch="64"), project).errors == {}


def test_repeated_profile_is_compared_with_recorded_model(
    tmp_path: Path, launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = Services()
    path = factory.save(factory.classifier((1, 3, 8, 8)), tmp_path / "net.onnx")
    source = ModelSource(path, path)
    summary = services.projects.look(source)[0]
    run = profile_run(9, 60, models=(summary,))
    one = add(services, replace(run, spec=replace(run.spec, models=(source,), cores=(1,))))
    start = services.profile_forms.open("", one)
    monkeypatch.setattr(Projects, "look", lambda *_: pytest.fail("nobody needs to read it again"))
    assert services.profile_forms.check(start.values, start.project, one).errors == {}
    wrong = services.profile_forms.check(
        replace(start.values, batch="2", sequence_length="5"), start.project, one
    ).errors
    assert set(wrong) == {"batch", "sequence_length"}


def test_loss_profile_of_model_without_weights_is_refused(tmp_path: Path, launched: Launched) -> None:
    services = Services()
    path = factory.save(factory.classifier(), tmp_path / "net.onnx")
    project = services.projects.create(services.models.find(path).source, "net", "", {})[0].project.id
    values = services.profile_forms.open(project).values
    assert services.profile_forms.check(values, project).uncounted
    services.profile_forms.weigh(values, project)
    check = services.profile_forms.check(values, project)
    assert check.errors == {"loss": "no layer has weights: switch it off"} and not check.commands
    without = services.profile_forms.check(replace(values, loss=False), project)
    assert without.errors == {} and without.performance_s is not None
    with refused(ModelError, "no_weights_to_change"):
        services.profile_forms.start(values, project)
    assert launched == []
    services.profile_forms.start(replace(values, loss=False), project)
    assert len(launched) == 1


def test_repeated_profile_stays_in_its_project(launched: Launched) -> None:
    services = Services()
    tiny, text = (
        services.projects.create(services.models.locate(f"sample:{name}"), name)[0].project.id
        for name in ("tiny", "text")
    )
    services.profile_forms.start(ProfileValues(loss=False), tiny)
    one = add(services, profile_run(9, 60, spec=launched[0][0]), text)
    start = services.profile_forms.open("", one)
    _, said = services.profile_forms.start(start.values, start.project, one)
    assert (launched[1][1].metadata.project, said) == (text, ())


def test_costs_are_counted_once_per_size_and_failures_are_cached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, asked, broken = Profiles.count, list[object](), list[bool]()

    def counting(profiles: Profiles, spec: BenchmarkSpec) -> tuple[CostProfile, str]:
        asked.append(spec.batches)
        if broken:
            raise ModelError(LEGACY_TEXT, text="it cannot be read")
        return count(profiles, spec)

    monkeypatch.setattr(Profiles, "count", counting)
    services = Services()
    project = services.projects.create(services.models.find("sample:tiny").source, "tiny", "", {})[0].project.id
    values = services.profile_forms.open(project).values
    for changed in (values, values, replace(values, cores="1"), replace(values, samples="3")):
        services.profile_forms.weigh(changed, project)
        assert not services.profile_forms.check(changed, project).uncounted
    assert asked == [()]
    broken.append(True)
    other = replace(values, batch="2")
    assert services.profile_forms.check(other, project).uncounted
    for _ in range(2):
        services.profile_forms.weigh(other, project)
    check = services.profile_forms.check(other, project)
    assert asked == [(), (2,)] and check.performance_s is None and not check.uncounted

"""Every declared setting survives its command, form and record; a new setting needs only its declaration."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.settings.test_repeat import DIM, Machine, lists, models
from tests.refusal import refused
from tests.runs.test_plan import MODEL, POINTS
from tuibench.cli.arguments import parse
from tuibench.core.engine import forms_of, timed
from tuibench.core.engine import names as engine_names
from tuibench.core.errors import UsageError
from tuibench.core.record import from_plain, to_plain
from tuibench.core.scenario import LATENCY, REGISTRY, Scenario
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.command import command_words, read_request
from tuibench.core.settings.kinds import (
    CoreList,
    Decimal,
    Dims,
    FilePath,
    IntegerList,
    Label,
    Levels,
    NameList,
    OneOf,
    Percent,
    Shapes,
    Size,
    Switch,
    Text,
    Whole,
)
from tuibench.core.settings.request import (
    BenchmarkRequest,
    Info,
    ProfileValues,
    as_typed,
    profile_values,
    read_profile,
    repeat,
    to_spec,
)
from tuibench.core.settings.setting import CHANGED, Group, Place, Setting, identity_options
from tuibench.core.spec import LEVELS, PERFORMANCE, BenchmarkSpec, Effort, Limits
from tuibench.model.imports.checks import allowed_ranges
from tuibench.runs.schedule import make_cells
from tuibench.services.form_reading import read_form, to_request, values_of
from tuibench.services.form_values import FormValues
from tuibench.services.profile_forms import ProfileForms
from tuibench.services.reruns import values_of as profile_form
from tuibench.tui.screens.form.fields import make_rows

__all__ = ["models"]

ROOT = Path(__file__).resolve().parents[3]
MACHINE = Machine()
STORED = [one.name for one in benchmark_setting.settings() if one.at]
STORED_PROFILE = [one for one in profile_setting.settings() if one.at and one.at != "profile.kind"]
NEW = Setting(
    "prefault", "--prefault N", "pages touched before the first run", "0",
    kind=Whole(0, 64), at="options.prefault", default=0, identity=CHANGED, place=Place("Prefault", 10, "none"),
)  # fmt: skip
HIDDEN = Setting(
    "governor", "--governor NAME", "frequency governor", "as it is", kind=OneOf("fast", "slow"), at="options.governor"
)
ANY_TEXT = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=6)


def values(setting: Setting) -> st.SearchStrategy[Any]:
    """Draw values from the setting's own range."""
    kind = setting.kind
    if isinstance(kind, Switch):
        return st.booleans()
    if isinstance(kind, Whole):
        return st.integers(kind.low, kind.high)
    if isinstance(kind, Decimal):
        return st.floats(kind.low, kind.high)
    if isinstance(kind, Percent):
        return st.integers(1, 10_000).map(lambda hundredths: hundredths / 100 / 100)
    if isinstance(kind, OneOf):
        return st.sampled_from(kind.names)
    return values_of_lists(setting)


def values_of_lists(setting: Setting) -> st.SearchStrategy[Any]:
    kind = setting.kind
    if isinstance(kind, NameList):
        allowed = kind.allowed or (kind.default if "NAME" in setting.usage else engine_names())
        return st.lists(st.sampled_from(allowed), min_size=1, unique=True).map(",".join)
    if isinstance(kind, IntegerList):
        high = MACHINE.usable_cores if isinstance(kind, CoreList) else kind.high or 2**31 - 1
        return st.integers(kind.low, high).map(str) if kind.noun else lists(kind.low, high)
    if isinstance(kind, Dims):
        one = st.tuples(ANY_TEXT, st.integers(0, 2**31 - 1).map(str)) if kind.noun else DIM
        return st.lists(one, unique_by=lambda dim: dim[0], max_size=3).map(lambda found: tuple(map("=".join, found)))
    fixed: dict[type, st.SearchStrategy[Any]] = {
        Size: st.integers(2**20, 2**60),
        Shapes: st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple), min_size=1).map(tuple),
        FilePath: st.just("in put.npz"),
        Levels: st.lists(st.sampled_from(LEVELS), unique=True).map(tuple),
        Text: ANY_TEXT,
        Label: st.text("ab -", min_size=1).filter(str.strip),
    }
    return fixed[type(kind)]


def spec_of(request: object) -> BenchmarkSpec:
    assert isinstance(request, BenchmarkRequest)
    return to_spec(request, MACHINE)[0]


def asked(**given: Any) -> BenchmarkSpec:
    return spec_of(BenchmarkRequest(("sample:tiny",), **given))


def through_json(spec: BenchmarkSpec) -> BenchmarkSpec:
    return from_plain(BenchmarkSpec, json.loads(json.dumps(to_plain(spec))))


def check_ways(spec: BenchmarkSpec) -> None:
    """Send a specification through its command, its form and its record."""
    assert spec_of(parse(command_words(spec, ["sample:tiny"])[1:])) == spec
    reading = read_form(filled := values_of(spec, spec.models), MACHINE)
    assert reading.errors == {}
    assert spec_of(to_request(filled, reading)) == spec
    assert through_json(spec) == spec
    assert repeat(spec, spec.models, {}, MACHINE, "")[1] == spec


@pytest.mark.parametrize("name", STORED)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_setting_survives_command_form_record_and_rerun(name: str, data: st.DataObject) -> None:
    check_ways(asked(**{name: data.draw(values(benchmark_setting.by_name()[name]))}))


def draw_profile(setting: Setting, data: st.DataObject) -> ProfileValues:
    """Return a profile with one setting drawn; forms of layers need an engine that measures them."""
    drawn = data.draw(values(setting))
    given_ = {setting.name: as_typed(setting, drawn)}
    if setting.name == "what_if" and drawn:
        engine = data.draw(st.sampled_from([name for name in timed() if forms_of(name)]))
        given_ = {"engine": engine, "what_if": ",".join(forms_of(engine))}
    return ProfileValues("sample:tiny", setting.of or PERFORMANCE, **given_)


@pytest.mark.parametrize("setting", STORED_PROFILE, ids=lambda setting: setting.name)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_setting_of_a_profile_survives_command_and_record(setting: Setting, data: st.DataObject) -> None:
    spec = read_profile(draw_profile(setting, data), MACHINE).require()
    again = read_request(command_words(spec, ["sample:tiny"])[2:]).values
    assert read_profile(again, MACHINE).require() == spec == through_json(spec)
    assert read_profile(profile_values(spec), MACHINE).require() == spec


@pytest.mark.parametrize("setting", STORED_PROFILE, ids=lambda setting: setting.name)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_setting_of_a_profile_survives_its_form(setting: Setting, data: st.DataObject) -> None:
    kind = setting.of or PERFORMANCE
    spec = read_profile(draw_profile(setting, data), MACHINE).require()
    stored = profile_values(spec)
    again = ProfileForms._typed(stored, profile_form(stored, ""), kind, "sample:tiny")
    assert read_profile(again, MACHINE).require() == spec


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = (*benchmark_setting.GROUPS, Group("Declared by a test", (NEW, HIDDEN)))
    monkeypatch.setattr(benchmark_setting, "GROUPS", groups)


@pytest.mark.usefixtures("declared")
def test_declared_setting_has_flag_help_and_docs() -> None:
    request = parse(["benchmark", "sample:tiny", "--prefault=3"])
    assert isinstance(request, BenchmarkRequest) and request.prefault == 3
    with refused(UsageError, "not_in_integer_range", subject="--prefault", low=0, high=64, given="65"):
        parse(["rerun", "last", "--prefault", "65"])
    shown = parse(["benchmark", "--help"])
    assert isinstance(shown, Info)
    assert "  --prefault N               pages touched before the first run [0]\n" in shown.text
    assert (
        "| `--prefault` N | pages touched before the first run | 0 |\n"
        in runpy.run_path(str(ROOT / "tools" / "make_flags.py"))["make_page"]()
    )


@pytest.mark.usefixtures("declared")
def test_declared_setting_has_a_field_or_a_further_flag() -> None:
    labels = {field.key: field.label for row in make_rows(FormValues(), None, "+-") for field in row}
    assert labels["prefault"] == "Prefault"
    wrong = read_form(FormValues("sample:tiny", more=(("prefault", "65"),)), MACHINE)
    assert wrong.errors == {"prefault": "takes a whole number from 0 to 64, not '65'"}
    spec = asked(prefault=3, governor="fast")
    filled = values_of(spec, spec.models)
    assert (filled.more, filled.flags) == ((("prefault", "3"),), "--governor=fast")


@pytest.mark.usefixtures("declared")
def test_declared_setting_is_recorded_and_non_default_identifies_cell() -> None:
    spec = asked(prefault=3, governor="fast")
    check_ways(spec)
    assert to_plain(spec)["options"] == {"prefault": 3, "governor": "fast"}
    (cell, *_) = make_cells(spec, [MODEL], POINTS)
    assert cell.asked.options == {"seed": "0", "distinct": "8", "prefault": "3"}
    changed = repeat(spec, spec.models, {"prefault": 0}, MACHINE, "")[1]
    assert changed.options == {"governor": "fast"}
    assert "options" not in to_plain(asked(prefault=0))
    usual = [cell.key for cell in make_cells(asked(), [MODEL], POINTS)]
    assert [cell.key for cell in make_cells(asked(prefault=0), [MODEL], POINTS)] == usual
    assert cell.key not in usual


def test_only_the_effort_switches_have_a_place() -> None:
    placed = {one.name for one in benchmark_setting.settings() if one.place and one.kind.is_switch}
    assert placed == {"quick", "precise"}, "a field takes a text"


def test_option_unknown_to_this_version_is_refused() -> None:
    spec = from_plain(BenchmarkSpec, {**to_plain(asked()), "options": {"newer": True}})
    with refused(UsageError, "unknown_setting", name="newer"):
        repeat(spec, spec.models, {}, MACHINE, "")


@pytest.mark.parametrize(
    ("tool", "maker", "made"),
    [
        ("make_flags", "make_page", "docs/flags.md"),
        ("make_schema", "make_schema", "tuibench/data/benchmark.schema.json"),
    ],
)
def test_generated_file_equals_the_tables(tool: str, maker: str, made: str) -> None:
    fresh = runpy.run_path(str(ROOT / "tools" / f"{tool}.py"))[maker]()
    assert (ROOT / made).read_text(encoding="utf-8") == fresh, "run `make docs`"


@pytest.mark.usefixtures("declared")
def test_ranges_of_imports_come_from_the_settings() -> None:
    known = allowed_ranges()
    assert known[BenchmarkSpec]["prefault"] == (0, 64)
    assert known[BenchmarkSpec].keys() == {"cores", "batches", "sequence_lengths", "dims", "streams", "prefault"}
    assert known[Limits].keys() == {"max_time_s", "timeout_scale", "memory_bytes"}
    assert known[Effort]["min_executions"] == (1, 1000)


def test_setting_of_a_scenario_identifies_its_cells_only(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = Scenario("timed", "timed", "timed", LATENCY, has_streams=True, settings=(NEW.name,))
    spec = replace(asked(), options={NEW.name: 3})
    assert all(identity_options([NEW], spec, one) == {NEW.name: "3"} for one in REGISTRY.values())
    monkeypatch.setitem(REGISTRY, timed.name, timed)
    assert [one.name for one in REGISTRY.values() if identity_options([NEW], spec, one)] == ["timed"]

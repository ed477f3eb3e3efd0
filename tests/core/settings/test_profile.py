"""Typed profile settings: one value each, all errors at once, and a command that parses back equal."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refusal import refused
from tuibench.core.errors import ExitCode, ModelError, UsageError
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.command import again, command_words, read_request, recall_profile
from tuibench.core.settings.request import ProfileValues, profile_values, read_profile
from tuibench.core.spec import LEVELS, LOSS, PERFORMANCE, BenchmarkSpec, ModelSource, ProfileSpec
from tuibench.present.error.words import hint_words, message_words


@dataclass(frozen=True)
class Machine:
    """A machine of four cores."""

    default_cores: int = 4
    usable_cores: int = 4
    node_cores: int = 4


def read(**typed: Any) -> BenchmarkSpec:
    return read_profile(ProfileValues(model="sample:tiny", **typed), Machine()).require()


def errors(**typed: Any) -> dict[str, str]:
    reading = read_profile(ProfileValues(**{"model": "sample:tiny", **typed}), Machine())
    assert reading.spec is None
    return {name: message_words(error) for name, error in reading.errors.items()}


def test_defaults_are_a_performance_profile_of_all_cores() -> None:
    spec = read()
    assert spec.profile == ProfileSpec(PERFORMANCE)
    assert (spec.engines, spec.scenarios, spec.cores, spec.batches) == (("onnxruntime",), ("sync",), (4,), ())
    assert not spec.check


def test_every_field_reaches_the_specification(tmp_path: Path) -> None:
    data = tmp_path / "data.npz"
    data.touch()
    spec = read(
        cores="2", batch="8", sequence_length="32", dims=("past=0", "a=b=3"), inputs_file=str(data), seed="7",
        runs="5", processes="4", what_if="int8", fresh_roofs=True, max_time="60", timeout="2", memory_limit="2GB",
        batch_dim="N",
    )  # fmt: skip
    assert (spec.cores, spec.batches, spec.sequence_lengths) == ((2,), (8,), (32,))
    assert spec.dims == (("past", (0,)), ("a=b", (3,)))
    assert (spec.inputs.file, spec.inputs.seed, spec.inputs.batch_dim) == (str(data), 7, "N")
    assert (spec.limits.max_time_s, spec.limits.timeout_scale, spec.limits.memory_bytes) == (60, 2, 2 * 10**9)
    assert spec.profile == ProfileSpec(PERFORMANCE, runs=5, processes=4, what_if=("int8",), fresh_roofs=True)
    assert "--fresh-roofs" in again(spec)


def test_samples_of_a_loss_profile_set_the_distinct_inputs() -> None:
    spec = read(kind=LOSS, samples="5", levels=("int8", "0.9"), budget=True)
    assert spec.profile == ProfileSpec(LOSS, samples=5, levels=("pruned 0.9", "int8"), budget=True)
    assert spec.inputs.distinct == 5


def test_single_value_field_proposes_no_list() -> None:
    typed = ProfileValues("sample:tiny", cores="9", batch="many", sequence_length="0", dims=("x=many",))
    reading = read_profile(typed, Machine())
    assert {name: hint_words(error) for name, error in reading.errors.items()} == dict.fromkeys(
        ("cores", "batch", "sequence_length", "dim:x"), ""
    )
    assert message_words(reading.errors["cores"]) == "-ncores takes 1 to 4 (physical cores usable here), not '9'"


def test_all_errors_are_reported_at_once_by_field() -> None:
    found = errors(
        model="/nowhere/m.onnx", cores="9", batch="1,2", dims=("x", "y=1", "y=2", "z=-1"), what_if="fp8", runs="0",
        seed="-1", engine="a,b",
    )  # fmt: skip
    assert set(found) == {"model", "cores", "batch", "dim:x", "dim:y", "dim:z", "what_if", "runs", "seed", "engine"}
    assert "1 to 4" in found["cores"]
    assert found["batch"] == "-b takes one value here, not '1,2'"
    assert found["what_if"] == "--what-if takes int8 or pruned, not 'fp8'"
    assert "whole number from 1 to 1000" in found["runs"]


@pytest.mark.parametrize("level", ["pruned 0.7", "70", "", "int4", "\x1b[31m"])
def test_unknown_level_error_lists_the_known_ones(level: str) -> None:
    message = errors(kind=LOSS, levels=(level,))["levels"]
    assert "pruned 0.5" in message and "int8" in message
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ({"kind": LOSS, "what_if": "int8"}, "what_if"),
        ({"kind": LOSS, "processes": "3"}, "processes"),
        ({"kind": LOSS, "runs": "3"}, "runs"),
        ({"kind": LOSS, "fresh_roofs": True}, "fresh_roofs"),
        ({"samples": "3"}, "samples"),
        ({"levels": ("int8",)}, "levels"),
        ({"budget": True}, "budget"),
        ({"approximate": True}, "approximate"),
    ],
)
def test_settings_of_the_other_kind_are_refused(typed: dict[str, Any], name: str) -> None:
    assert "belongs to a" in errors(**typed)[name]


def test_ort_file_is_refused_because_it_has_no_nodes(tmp_path: Path) -> None:
    path = tmp_path / "m.ort"
    path.touch()
    with refused(ModelError, "ort_file_has_no_layers", model=str(path)):
        read_profile(ProfileValues(model=str(path)), Machine()).require()


def test_single_error_keeps_its_exit_code_and_several_are_usage() -> None:
    with pytest.raises(ModelError):
        read_profile(ProfileValues(model="/nowhere/m.onnx"), Machine()).require()
    with pytest.raises(UsageError) as caught:
        read_profile(ProfileValues(model="/nowhere/m.onnx", batch="x"), Machine()).require()
    assert caught.value.exit_code == ExitCode.USAGE
    assert [reason.code for reason in caught.value.reason.fields["reasons"]] == ["not_in_list_range", "file_missing"]
    message = message_words(caught.value)
    assert "no such file" in message and "-b takes" in message


def test_nothing_is_fetched_while_any_setting_is_wrong() -> None:
    asked: list[str] = []

    def fetch(token: str) -> ModelSource:
        asked.append(token)
        return ModelSource(token, __file__)

    values = ProfileValues(model="https://models.example/m.onnx", batch="x")
    wrong = read_profile(values, Machine(), fetch)
    assert wrong.spec is None and set(wrong.errors) == {"batch"}, "that it is not here is nothing to mend"
    assert asked == []
    assert read_profile(values.changed(batch="1"), Machine(), fetch).spec is not None
    assert asked == ["https://models.example/m.onnx"]


@pytest.mark.parametrize(
    "line",
    [
        "sample:tiny",
        "sample:tiny -b8 -ncores=2 --what-if int8 --runs 3 --processes 2 --seed 4 --dim a=1 --dim b=c=2",
        "sample:tiny --loss --level int8 --level 0.5 --samples 4 --budget --max-time 60",
        "sample:tiny --loss --approximate --timeout 1.5 --memory-limit 1GB",
        "sample:tiny --num_cores 1 --sequence_length 16 -i [1,3,8,8]",
    ],
)
def test_profile_command_parses_back_equal(line: str) -> None:
    spec = read_profile(read_request(shlex.split(line)).values, Machine()).require()
    words = shlex.split(again(spec))
    assert words[:2] == ["tuibench", "profile"]
    assert read_profile(read_request(words[2:]).values, Machine()).require() == spec
    assert read_profile(profile_values(spec), Machine()).require() == spec


def test_model_with_a_flag_like_name_parses_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-b.onnx").touch()
    monkeypatch.chdir(tmp_path)
    spec = read_profile(ProfileValues(model="-b.onnx"), Machine()).require()
    assert read_request(shlex.split(again(spec))[2:]).values.model == "-b.onnx"


def test_repeated_profile_keeps_settings_not_given_again() -> None:
    spec = read(batch="4", dims=("a=1", "b=2"), runs="3")
    fields_ = recall_profile(spec, {"batch": "8", "dims": ("b=5",)})
    assert (fields_["batch"], fields_["runs"], fields_["dims"]) == ("8", "3", ("a=1", "b=5"))


@pytest.mark.parametrize(
    ("argv", "code", "fields"),
    [
        ([], "profile_takes_one_model", {"count": 0}),
        (["a.onnx", "b.onnx"], "profile_takes_one_model", {"count": 2}),
        (["m.onnx", "--flops", "--loss"], "flags_exclude", {"first": "--flops", "second": "--loss"}),
        (["m.onnx", "--top", "0"], "not_in_integer_range", {"subject": "--top"}),
        (["m.onnx", "--quick"], "unknown_flag", {"flag": "--quick"}),
    ],
)
def test_invalid_arguments_are_refused(argv: list[str], code: str, fields: dict[str, Any]) -> None:
    with refused(UsageError, code, **fields):
        read_request(argv)


def test_levels_are_in_the_help_and_own_settings_may_change() -> None:
    assert all(
        level in next(one for one in profile_setting.settings() if one.name == "levels").help for level in LEVELS
    )
    assert {one.name for one in profile_setting.own()} >= {
        "runs",
        "processes",
        "samples",
        "levels",
        "what_if",
        "budget",
    }


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_setting_of_a_profile_survives_its_command(data: st.DataObject) -> None:
    def number(name: str) -> str:
        low, high = profile_setting.by_name()[name].kind.bounds or (0, 0)
        most = 4 if name == "cores" else int(high)
        return data.draw(st.just("") | st.integers(math.ceil(low), most).map(str))

    loss = data.draw(st.booleans())
    names = data.draw(st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=6), unique=True))
    typed: dict[str, Any] = {"samples": number("samples"), "budget": data.draw(st.booleans())}
    typed["levels"] = tuple(data.draw(st.lists(st.sampled_from(LEVELS), unique=True)))
    if not loss:
        typed = {name: number(name) for name in ("runs", "processes")}
        typed |= {"what_if": data.draw(st.sampled_from(["", "int8"])), "fresh_roofs": data.draw(st.booleans())}
    typed |= {name: number(name) for name in ("cores", "batch", "sequence_length", "seed", "memory_limit", "max_time")}
    spec = read(
        kind=LOSS if loss else PERFORMANCE, dims=tuple(f"{name}={number('dims') or 1}" for name in names),
        batch_dim=data.draw(st.sampled_from([*names, ""])), timeout=number("timeout"), **typed,
    )  # fmt: skip
    assert read_profile(read_request(command_words(spec, ["sample:tiny"])[2:]).values, Machine()).require() == spec

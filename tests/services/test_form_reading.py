from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.settings.test_repeat import Machine
from tests.refusal import refused
from tuibench.cli.arguments import parse
from tuibench.core.errors import UsageError
from tuibench.core.settings.request import BenchmarkRequest, to_spec
from tuibench.core.spec import EFFORTS, ModelSource
from tuibench.present.command import token_of
from tuibench.services.form_reading import read_form, to_command, to_request, values_of
from tuibench.services.form_values import FormValues

MACHINE = Machine()
GOOD = FormValues(model="sample:tiny")
WRONG = FormValues(
    model="nowhere.onnx",
    engines=(),
    scenarios="x",
    cores="99",
    batches="0",
    dims=(("seq", "-1"), ("width", "")),
    streams="many",
    pin="tight",
    precision="f8",
    effort="fixed",
    time_s="",
    warmup_s="long",
    against="/dev/null",
    name="two\nlines",
    flags="--seed x",
)


def lists(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.lists(st.integers(low, high), min_size=1, max_size=3, unique=True)
    return numbers.map(lambda values: ",".join(map(str, values)))


@st.composite
def forms(draw: st.DrawFn) -> FormValues:
    effort = draw(st.sampled_from((*EFFORTS, "fixed")))
    names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
    dims = draw(st.lists(st.tuples(names, st.just("") | lists(0, 99)), max_size=2, unique_by=lambda dim: dim[0]))
    return FormValues(
        model="sample:tiny",
        engines=tuple(draw(st.sampled_from([("onnxruntime",), ("openvino", "onnxruntime")]))),
        scenarios=draw(st.sampled_from(["sync", "async,sync"])),
        cores=draw(st.just("") | lists(1, 8) | st.sampled_from(["max", "1-4", "pow2"])),
        batches=draw(st.just("") | lists(1, 512)),
        dims=tuple(dims),
        streams=draw(st.sampled_from(["", "1", "3"])),
        pin=draw(st.sampled_from(["core", "none"])),
        precision=draw(st.sampled_from(["f32", "bf16", "engine-default"])),
        effort=effort,
        time_s=draw(st.sampled_from(["10", "0.5", "1e1"])),
        warmup_s=draw(st.sampled_from(["", "0.25"])),
        target=draw(st.sampled_from(["", "1.5", "3 %"])),
        against=draw(st.sampled_from(["", "sample"])),
        name=draw(st.sampled_from(["", "two words", "-x", "--quick", "it's"])),
        note=draw(st.sampled_from(["", "-", "a $(note)"])),
        flags=draw(st.sampled_from(["", "--seed 7", "--executions=4" if effort == "fixed" else "--io call"])),
    )


def test_all_errors_appear_at_once_beside_fields() -> None:
    errors = read_form(WRONG, MACHINE).errors
    assert set(errors) == {
        *("model", "against", "engines", "scenarios", "cores", "batches", "dim:seq", "streams", "pin", "precision"),
        *("time_s", "warmup_s", "name", "flags"),
    }
    assert errors["cores"].startswith("takes 1 to 8 (physical cores usable here), not '99'")
    assert "sync, async or elastic" in errors["scenarios"]
    assert errors["dim:seq"].startswith("takes 0 to ")
    assert not any("-ncores" in words or "\n" in words for words in errors.values())


@pytest.mark.parametrize("model", ["", "   "])
def test_form_without_model_explains_model_argument(model: str) -> None:
    assert "sample" in read_form(replace(GOOD, model=model), MACHINE).errors["model"]


def test_remote_model_is_fetched_later_without_error() -> None:
    assert read_form(replace(GOOD, model="hf:org/model"), MACHINE).errors == {}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("-b 4", "-b has a field of its own"),
        ("--dim x=4", "--dim has a field of its own"),
        ("--quick", "--quick has a field of its own"),
        ("--detach", "--detach is not allowed here"),
        ("stray", "stray is not a flag"),
        ("--nope", "unknown flag --nope"),
        ("'open", "cannot be read"),
        ("--inputs gone.npz", "gone.npz"),
        ("--executions 3 --target 1", "--target has a field of its own"),
    ],
)
def test_flags_unsupported_by_form_are_refused(flags: str, words: str) -> None:
    assert words in read_form(replace(GOOD, flags=flags), MACHINE).errors["flags"]


def test_target_conflicts_with_execution_count() -> None:
    errors = read_form(replace(GOOD, target="1", flags="--executions 3"), MACHINE).errors
    assert "give one of them" in errors["flags"]


def test_target_overridden_by_fixed_time_is_ignored() -> None:
    reading = read_form(replace(GOOD, effort="fixed", time_s="2", target="nonsense"), MACHINE)
    spec, _ = to_spec(to_request(GOOD, reading), MACHINE)
    assert (reading.errors, spec.effort.target) == ({}, None)
    assert spec.effort.timed_s * spec.effort.max_executions == pytest.approx(2)


def test_command_omits_defaults() -> None:
    values = replace(GOOD, cores="1,2", batches="1,8", dims=(("seq", "128"),), effort="quick", name="after the fix")
    words = "tuibench benchmark sample:tiny -ncores 1,2 -b 1,8 --name 'after the fix' --dim=seq=128 --quick"
    assert to_command(values, read_form(values, MACHINE)) == words
    assert to_command(GOOD, read_form(GOOD, MACHINE)) == "tuibench benchmark sample:tiny"
    beside = replace(GOOD, compare_to=" ne78 ")
    assert to_command(beside, read_form(beside, MACHINE)) == "tuibench benchmark sample:tiny --compare-to ne78"


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(forms())
def test_command_measures_same_as_form(values: FormValues) -> None:
    reading = read_form(values, MACHINE)
    assert reading.errors == {}
    request = parse(shlex.split(to_command(values, reading))[1:])
    assert isinstance(request, BenchmarkRequest)
    ours = to_request(values, reading)
    assert to_spec(request, MACHINE)[0] == to_spec(ours, MACHINE)[0]
    assert (request.name, request.note) == (ours.name, ours.note) == (values.name, values.note)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(forms())
def test_form_filled_from_result_repeats_measurement(values: FormValues) -> None:
    spec, _ = to_spec(to_request(values, read_form(values, MACHINE)), MACHINE)
    filled = values_of(spec, spec.models)
    again = read_form(filled, MACHINE)
    assert again.errors == {}
    repeated, _ = to_spec(to_request(filled, again), MACHINE)
    assert replace(repeated, effort=spec.effort) == spec
    # The recorded effort was a named one with a fixed time; only its name is lost.
    assert replace(repeated.effort, name=spec.effort.name, limit_s=spec.effort.limit_s) == spec.effort


def test_settings_without_field_are_kept_as_flags(tmp_path: Path) -> None:
    inputs = tmp_path / "in put.npz"
    inputs.write_bytes(b"x")
    flags = f"--seed 3 -shapes '[1,8],[2]' --max-time 12.5 --no-check --inputs '{inputs}'"
    values = replace(GOOD, flags=flags)
    reading = read_form(values, MACHINE)
    assert reading.errors == {}
    spec, _ = to_spec(to_request(values, reading), MACHINE)
    filled = values_of(spec, spec.models, "its name")
    assert (filled.name, filled.dims, filled.effort, filled.target) == ("its name", (), "default", "")
    assert "--seed=3" in filled.flags
    repeated, _ = to_spec(to_request(filled, read_form(filled, MACHINE)), MACHINE)
    assert repeated == spec


def test_model_named_like_flag_follows_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--quick").write_bytes(b"x")
    values = FormValues(model="--quick", batches="8")
    command = to_command(values, read_form(values, MACHINE))
    assert command == "tuibench benchmark -b 8 -- --quick"
    request = parse(shlex.split(command)[1:])
    assert isinstance(request, BenchmarkRequest) and request.models == ("--quick",)


def test_benchmark_of_three_models_has_no_form() -> None:
    spec, _ = to_spec(BenchmarkRequest(models=("sample",)), MACHINE)
    sources = [ModelSource(name, f"/{name}") for name in ("a", "b", "c")]
    with refused(UsageError, "too_many_models", count=3):
        values_of(replace(spec, models=tuple(sources)), sources)


def test_model_token_is_path_unless_name_is_not_path() -> None:
    assert token_of(ModelSource("./m.onnx", "/srv/m.onnx")) == "/srv/m.onnx"
    assert [token_of(ModelSource(name, "/x")) for name in ("sample", "sample:tiny", "hf:a/b")] == [
        "sample",
        "sample:tiny",
        "hf:a/b",
    ]

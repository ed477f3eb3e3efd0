from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.present import build
from tests.present.profile.sample_data import make_costs, make_profile
from tests.present.test_json_export import SCHEMA
from tuibench.core.cell import Check, Estimate, Samples
from tuibench.core.model import Reference
from tuibench.core.reason import Failure, because, error_text, legacy_text
from tuibench.core.result import RunResult
from tuibench.core.settings.command import again
from tuibench.core.spec import InputSettings, ModelSource
from tuibench.present.json_export import dumps
from tuibench.present.privacy import public_name, without_private
from tuibench.present.reason import all_words, reason_words

HOME = "/srv/people/jo"
SECRETS = ("Project X", "secret-client", "people", "/jo", "/vault", "/tmp", "/opt")


def private_run() -> RunResult:
    model = f"{HOME}/Project X/secret-client/it's.onnx"
    asked = f"{HOME}/Project X/secret-client/it's.onnx"
    inputs = "/vault/secret-client/in.npz"
    message = f"Load model from {model} failed: {HOME}/lib/a.cc:12 at /layer1/conv/Conv in /opt/secret-client/lib.so"
    failure = Failure("exception", "load", error_text(message), None, f"{model}_data is gone\n/proc/cpuinfo")
    point = build.point(
        bundle="/tmp/secret-client/b.npz", reference=Reference("/tmp/secret-client/r.npz", None, None),
        notes=(f"from {inputs}",), failure=Failure("inputs", "inputs", error_text(f"{inputs}: bad")),
    )  # fmt: skip
    samples = Samples(5, 5, "/tmp/secret-client/0-1.z")
    cells = (
        build.failed_cell(failure=failure),
        build.ok_cell(asks={"batch": 2}, samples=samples, executions=(build.execution(samples=samples),),
                      check=Check("unchecked", None, None, legacy_text(f"no {inputs}")), grade=None,
                      items_per_sec=Estimate(None, reason=legacy_text(f"{model}: no"))),
    )  # fmt: skip
    return build.run(
        *cells, warnings=(f"{model} changed", "no boost switch in /sys: virtual machine"),
        spec=build.spec(models=(ModelSource(asked, model),), inputs=InputSettings(file=inputs)),
        models=(build.model(path=model, external_files=("/vault/secret-client/w.bin", "w2.bin")),),
        points=(point,),
    )  # fmt: skip


def test_private_export_contains_no_directory() -> None:
    text = dumps(without_private(private_run(), HOME))
    for secret in SECRETS:
        assert secret not in text


def test_identity_and_explanations_are_kept() -> None:
    public = without_private(private_run(), HOME)
    assert public.spec.models == (ModelSource("it's.onnx", "it's.onnx"),)
    assert (public.models[0].path, public.models[0].sha256) == ("it's.onnx", build.SHA)
    assert public.models[0].external_files == ("w.bin", "w2.bin")
    assert public.spec.inputs.file == "in.npz"
    assert {"it's.onnx", "--inputs=in.npz"} < set(shlex.split(again(public.spec)))
    failure = public.cells[0].failure
    assert failure is not None
    assert (
        reason_words(failure.message)
        == "Load model from it's.onnx failed: ~/lib/a.cc:12 at /layer1/conv/Conv in lib.so"
    )
    assert failure.log_tail == "it's.onnx_data is gone\n/proc/cpuinfo"
    assert all_words(public.warnings) == ("it's.onnx changed", "no boost switch in /sys: virtual machine")
    assert public.points[0].bundle == "b.npz" and public.points[0].notes == ("from in.npz",)
    assert public.cells[1].samples == Samples(5, 5, "0-1.z")


def test_numbers_are_unchanged_and_the_export_is_valid() -> None:
    private = private_run()
    public = without_private(private, HOME)
    assert public.cells[1].latency_ms == private.cells[1].latency_ms
    assert public.cells[1].pooled == private.cells[1].pooled
    assert public.environment == private.environment and public.id == private.id
    assert [cell.key for cell in public.cells] == [cell.key for cell in private.cells]
    assert not list(Draft202012Validator(SCHEMA).iter_errors(json.loads(dumps(public))))
    assert without_private(public, HOME) == public


def test_result_without_directories_is_unchanged() -> None:
    run = build.default_run()
    spec = build.spec(models=(ModelSource("model.onnx", "model.onnx"),))
    plain = replace(run, spec=spec, models=(build.model(path="model.onnx"),))
    assert without_private(plain) == plain


def test_every_home_directory_becomes_a_tilde() -> None:
    warnings = ("/home/ann/x/y.so", "/root/z", "see /Users/bob, or not", "/srv/people/jo", "/mnt/root/q", "~/kept")
    public = without_private(build.run(warnings=warnings), HOME)
    assert all_words(public.warnings) == ("~/x/y.so", "~/z", "see ~, or not", "~", "q", "~/kept")


def test_node_and_port_names_are_no_paths() -> None:
    port = replace(build.model().inputs[0], name="/home/x/input")
    model = build.model(inputs=(port,), zero_tensors=(("/home/w/weight", 4, 0),), producer="pytorch")
    public = without_private(build.run(models=(model,), warnings=(legacy_text("node /model.0/conv/Conv"),)))
    assert public.models[0].inputs[0].name == "/home/x/input"
    assert public.models[0].zero_tensors == (("/home/w/weight", 4, 0),)
    assert all_words(public.warnings) == ("node /model.0/conv/Conv",)


def test_only_names_of_profile_nodes_stay_unchanged() -> None:
    costs = make_costs()
    node = replace(costs.nodes[0], name="/home/x/conv", why=legacy_text(f"died: {HOME}/secret-client/lib.so"))
    profile = replace(make_profile(), costs=replace(costs, nodes=(node,)))
    public = without_private(replace(private_run(), profile=profile)).profile
    assert public is not None
    (found,) = public.costs.nodes
    assert found.name == "/home/x/conv" and found.why == legacy_text("died: lib.so")


def test_fields_of_reasons_lose_their_directories_whatever_their_names() -> None:
    reason = because(
        "operand_failed", name="/home/alice/secret/model.onnx", id="/srv/models/x", why=legacy_text("in /opt/a/b")
    )
    public = without_private(build.run(build.ok_cell(stopped_by=reason)))
    assert not any(part in str(public.cells[0].stopped_by) for part in ("alice", "/srv", "/opt"))


def test_two_files_of_one_name_are_numbered_everywhere() -> None:
    models = (ModelSource("a/m.onnx", "/x/a/m.onnx"), ModelSource("b/m.onnx", "/x/b/m.onnx"))
    run = build.run(spec=build.spec(models=models),
                    models=(build.model(path="/x/a/m.onnx"), build.model(path="/x/b/m.onnx", sha256=build.OTHER_SHA)),
                    )  # fmt: skip
    public = without_private(run)
    assert [model.asked for model in public.spec.models] == ["m.onnx", "m (2).onnx"]
    assert [model.path for model in public.models] == ["m.onnx", "m (2).onnx"]
    assert shlex.split(again(public.spec))[2:4] == ["m.onnx", "m (2).onnx"]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("https://jo:hunter2@host/m.onnx?token=1#f", "https://host/m.onnx"),
        ("https://host:8443/a/m.onnx", "https://host:8443/a/m.onnx"),
        ("hf:org/repo/m.onnx", "hf:org/repo/m.onnx"),
        ("sample:tiny", "sample:tiny"),
        ("zoo:a/b", "zoo:a/b"),
        ("https://[jo:hunter2@host", "https:"),
    ],
)
def test_urls_stay_without_their_credentials(asked: str, left: str) -> None:
    source = ModelSource(asked, "/home/jo/.cache/tuibench/m.onnx")
    run = build.run(spec=build.spec(models=(source,)), warnings=(f"{asked} was fetched",))
    public = without_private(run)
    assert public.spec.models == (ModelSource(left, "m.onnx"),)
    assert all_words(public.warnings) == (f"{left} was fetched",)
    assert shlex.split(again(public.spec))[2] == left


NAME = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="/\0\x7f"), min_size=1, max_size=12
)


@given(st.lists(NAME.filter(lambda name: name not in (".", "..")), min_size=2, max_size=4), NAME)
def test_directory_of_any_name_is_removed(folders: list[str], name: str) -> None:
    marked = [f"{folder}SECRET" for folder in folders]
    path = "/" + "/".join([*marked, name + ".onnx"])
    run = build.run(spec=build.spec(models=(ModelSource(path, path),)), models=(build.model(path=path),),
                    warnings=(f"{path} changed", path))  # fmt: skip
    public = without_private(run)
    assert "SECRET" not in repr(public)
    assert name + ".onnx" in shlex.split(again(public.spec))


def test_files_beside_a_model_lose_the_same_directory() -> None:
    path = "/vault/Project X/m.onnx"
    run = build.run(
        spec=build.spec(models=(ModelSource(path, path),)),
        warnings=(legacy_text("/vault/Project X/other.bin is gone"),),
    )
    assert all_words(without_private(run).warnings) == ("other.bin is gone",)


def test_result_name_contains_no_directory() -> None:
    told = public_name(f"{HOME}/Project X/secret-client/it's.onnx against /opt/secret-client/b", private_run(), HOME)
    assert not any(secret in told for secret in SECRETS) and told.startswith("it's.onnx against ")
    assert public_name("four", private_run(), HOME) == "four"
    for name in ("secret-client/m.onnx run", "../secret-client/m.onnx run", "~/secret-client/m.onnx run"):
        assert public_name(name, private_run(), HOME) == "m.onnx run"

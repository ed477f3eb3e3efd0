"""A stored command means the same in any directory, and drives no terminal."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuibench.core.spec import ModelSource
from tuibench.report.command import quote, token_of, typed

HOSTILE = "ev\x1b[31mil\n[red]x\u202e'\\.onnx"


@pytest.mark.parametrize("asked", ["m.onnx", "./m.onnx", "../far/m.onnx", "link.onnx"])
def test_a_model_is_named_by_where_it_lies(asked: str) -> None:
    model = ModelSource(asked, "/srv/my models/m.onnx")
    assert typed(f"tuibench benchmark {asked} -s sync", [model]) == "tuibench benchmark '/srv/my models/m.onnx' -s sync"
    behind = typed(f"tuibench profile --loss -- {asked}", [model])
    assert behind == "tuibench profile --loss -- '/srv/my models/m.onnx'"


@pytest.mark.parametrize("asked", ["sample", "sample:tiny", "hf:a/b", "https://models.example/m.onnx"])
def test_names_and_addresses_stay(asked: str) -> None:
    command = f"tuibench benchmark {asked} -s sync"
    assert typed(command, [ModelSource(asked, "/cache/x.onnx")]) == command


def test_of_what_was_imported_nobody_knows_where_it_lay() -> None:
    assert typed("tuibench benchmark m.onnx", [ModelSource("m.onnx", "m.onnx")]) == "tuibench benchmark m.onnx"


def test_only_the_models_are_replaced() -> None:
    models = [ModelSource("sync", "/srv/sync"), ModelSource("b", "/srv/b")]
    assert typed("tuibench benchmark sync b -s sync", models) == "tuibench benchmark /srv/sync /srv/b -s sync"


def test_what_is_no_command_is_only_shown() -> None:
    assert typed("it's \x1b[2J") == "it's \\e[2J"


def test_what_would_drive_a_terminal_is_written_as_the_shell_reads_it() -> None:
    said = quote(HOSTILE)
    assert said.isprintable() and said == r"$'ev\e[31mil\n[red]x\u202e\'\\.onnx'"


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash what it reads")
@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_a_shell_reads_every_word_as_it_was(word: str) -> None:
    command = ["bash", "-c", f"printf %s {quote(word)}"]
    found = subprocess.run(command, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert found.stdout.decode() == word


def test_the_token_of_a_file_of_an_export_is_its_name() -> None:
    assert token_of(ModelSource("m.onnx", "m.onnx")) == "m.onnx"

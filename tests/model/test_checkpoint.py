"""Directories of transformers: what belongs to them, and which are refused before a weight is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.model.factory import classifier, save
from tests.refusal import refused, require_shown
from tuibench.core.engine import SAFETENSORS
from tuibench.core.errors import ModelError
from tuibench.core.settings.model_token import resolve_model
from tuibench.model.file import locate
from tuibench.runs.copies import file_for


def checkpoint(folder: Path, **config: Any) -> Path:
    """Write a directory with two files of weights; return its configuration."""
    folder.mkdir(exist_ok=True)
    for name in ("model-2.safetensors", "model-1.safetensors", "tokenizer.json"):
        (folder / name).write_bytes(b"0123")
    (folder / "config.json").write_text(json.dumps(config))
    return folder / "config.json"


def test_directory_stands_for_configuration_and_weights(tmp_path: Path) -> None:
    config = checkpoint(tmp_path / "net", model_type="bert")
    assert resolve_model(str(config.parent)).path == str(config)
    found = locate(config, foreign=True)
    assert (found.format, found.path, [one.name for one in found.others]) == (
        *(SAFETENSORS, config),
        ["model-1.safetensors", "model-2.safetensors"],
    )


def test_onnx_beside_safetensors_goes_to_onnx_runtime_and_weights_to_torch(tmp_path: Path) -> None:
    config = checkpoint(tmp_path / "net")
    model = save(classifier(), tmp_path / "net" / "model.onnx")
    assert resolve_model(str(config.parent)).path == model
    assert [file_for(name, model) for name in ("onnxruntime", "openvino", "torch")] == [model, model, str(config)]
    (config.parent / "model-1.safetensors").unlink()
    (config.parent / "model-2.safetensors").unlink()
    assert file_for("torch", model) == model


def drop_weights(config: Path) -> None:
    for one in config.parent.glob("*.safetensors"):
        one.unlink()


def pickle_weights(config: Path) -> None:
    drop_weights(config)
    (config.parent / "pytorch_model.bin").write_bytes(b"\x80\x02.")


def trust_code(config: Path) -> None:
    config.write_text('{"auto_map": {"AutoModel": "net.Net"}}')


def link_out(config: Path) -> None:
    outside = config.parent.parent / "outside.safetensors"
    outside.write_bytes(b"0")
    (config.parent / "model-1.safetensors").unlink()
    (config.parent / "model-1.safetensors").symlink_to(outside)


def break_config(config: Path) -> None:
    config.write_text("[1]")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (drop_weights, "no_safetensors"),
        (pickle_weights, "weights_are_pickled"),
        (trust_code, "model_wants_trust"),
        (link_out, "file_outside_model"),
        (break_config, "config_unreadable"),
    ],
)
def test_unsafe_or_incomplete_directory_is_refused(tmp_path: Path, change: Callable[[Path], None], code: str) -> None:
    config = checkpoint(tmp_path / "net")
    change(config)
    with refused(ModelError, code) as caught:
        locate(config, foreign=True)
    require_shown(caught.value.reason)

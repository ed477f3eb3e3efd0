"""Proves matrix.txt: what each engine does with each model, by runs of the shell command."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import REAL_ENVIRONMENT
from tests.engines import make, matrix
from tests.engines.make import Case
from tests.engines.matrix import Outcome
from tests.engines.test_deepsparse import quantized
from tests.engines.zoo import find_models
from tests.model import bert, exports
from tests.model.factory import save
from tuibench.core import engine

ROWS = Path(__file__).with_name("matrix.txt")
UPDATE = "UPDATE_MATRIX"
NO_ONNX = {"torch"}
"""Engines that read no ONNX files."""

CASES: tuple[Callable[[], Case], ...] = (
    *(make.mlp, make.image, make.ids, make.two_outputs, make.scalar, make.half, make.text),
    *(make.sequence, quantized),
)
EXPORTS = ((exports.joined_text, 20), (exports.normalized, 21), (exports.attentive, 23))
PACKAGED = (
    *("onnxruntime/datasets/mul_1.onnx", "onnxruntime/datasets/sigmoid.onnx", "onnxruntime/datasets/logreg_iris.onnx"),
    *(
        "onnx/backend/test/data/light/light_squeezenet.onnx",
        "onnx/backend/test/data/simple/test_sequence_model4/model.onnx",
    ),
    "onnx/backend/test/data/pytorch-converted/test_Conv2d/model.onnx",
)


def _bert(opset: int, fused: bool, folder: Path) -> Path:
    return Path(save(bert.bert(opset, bert.TINY, fused=fused), folder / "bert.onnx"))


def _int8_bert(folder: Path) -> Path:
    return bert.quantized(_bert(14, False, folder), folder / "int8.onnx", bert.TINY, sequence=16)


def _packaged(path: str, folder: Path) -> Path:
    """Return a link, so that its neighbours are not the package's files."""
    package, _, rest = path.partition("/")
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    target = folder / "model.onnx"
    target.symlink_to(Path(spec.origin).parent / rest)
    return target


def _saved(case: Callable[[], Case], folder: Path) -> Path:
    return Path(case().save(folder))


MODELS: dict[str, Callable[[Path], Path]] = {
    **{case.__name__: partial(_saved, case) for case in CASES},
    **{f"{build.__name__}-{opset}": partial(_saved, partial(build, opset)) for build, opset in EXPORTS},
    "bert-14": partial(_bert, 14, False),
    "bert-fused": partial(_bert, 14, True),
    "bert-int8": _int8_bert,
    **{path: partial(_packaged, path) for path in PACKAGED},
}
"""How to write each model into a directory."""


def engines_root() -> str:
    """Return the directory of the engines that are installed for tests; '' if there is none."""
    return REAL_ENVIRONMENT.get("TUIBENCH_TEST_ENGINES", "")


def test_every_model_and_every_declared_engine_has_a_row() -> None:
    rows = matrix.read_rows(ROWS)
    assert list(rows) == [(model, one) for model in MODELS for one in matrix.ENGINES]
    columns = {engine.split_id(one)[0] for one in matrix.ENGINES}
    assert columns == set(engine.names()) - NO_ONNX


def test_engine_without_a_cell_differs_from_its_row() -> None:
    assert matrix.differences({"onnxruntime": "agrees"}, {"onnxruntime": Outcome("agrees")}) == []
    (line,) = matrix.differences({"onnxruntime": "agrees", "openvino": "agrees"}, {"onnxruntime": Outcome("agrees")})
    assert line.startswith("openvino: 'agrees', not 'no cell'")


def test_models_of_one_name_are_two_rows_of_the_zoo(tmp_path: Path) -> None:
    names = ("a/model.onnx", "b/model.onnx", "b/model.ort", "other.onnx")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find_models(tmp_path) == {
        **{name: tmp_path / name for name in names[:3]}, "other": tmp_path / "other.onnx",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.installed
@pytest.mark.parametrize("model", MODELS)
def test_model_has_the_outcome_of_its_rows(model: str, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    root = engines_root()
    engines = matrix.installed(root)
    trial = matrix.try_model(MODELS[model](folder), engines, root, tmp_path / "home")
    assert trial.faults == ()
    if os.environ.get(UPDATE):
        found = {(model, one): outcome.text for one, outcome in trial.outcomes.items()}
        matrix.update_rows(ROWS, found, list(MODELS))
        return
    rows = matrix.read_rows(ROWS)
    assert matrix.differences({one: rows[model, one] for one in engines}, trial.outcomes) == []

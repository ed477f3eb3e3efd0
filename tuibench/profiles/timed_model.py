"""The model to time and its settings, the same for every engine."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from tuibench.core.errors import ModelError
from tuibench.core.text import show
from tuibench.engines.layer_timer import LayerOrder
from tuibench.engines.protocol import Setting
from tuibench.models.inspection import load_graph


def open_timed(order: LayerOrder) -> tuple[onnx.ModelProto, str]:
    """Return the model from its file and the path of its inputs; raise ModelError if either is missing."""
    if order.point.bundle is None:
        why = show((order.point.failure or ("", "", ""))[2])
        raise ModelError(f"{show(order.path)} cannot be run: {why}", "give other inputs")
    model = load_graph(order.path)
    if model is None:
        reason = f"{show(order.path)} is an .ort file, in which layers cannot be told from the nodes of a model"
        raise ModelError(reason, "profile the .onnx file that it was made of")
    return model, order.point.bundle


def setting_for(path: str, cpus: Sequence[int], threads: int, work_dir: str) -> Setting:
    """Return the settings of a benchmark cell with one stream at f32."""
    return Setting(
        model_path=path,
        threads=threads,
        streams=1,
        cpus=tuple(cpus),
        pin="core",
        precision="f32",
        one_at_a_time=True,
        work_dir=work_dir,
    )

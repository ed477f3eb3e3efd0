"""The optimized graph of an engine, saved only for as long as it takes to read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File

import onnx
from onnx import helper

from tuibench.engines.protocol import Setting
from tuibench.profiles.event import Path
from tuibench.profiles.timing import KernelTime

_NAME, _WEIGHTS = "optimized.onnx", "optimized.weights"
_SMALL_BYTES = "256"


def read_optimized(setting: Setting, work_dir: str) -> onnx.GraphProto:
    """Let the engine save its optimized model; read it without weights and delete the files."""
    import onnxruntime as ort  # the engine is loaded already

    from tuibench.engines.onnxruntime import make_options

    path = File(work_dir) / _NAME
    try:
        options, _ = make_options(replace(setting, threads=1, pin="none"))
        options.optimized_model_filepath = str(path)
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", _WEIGHTS)
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_min_size_in_bytes", _SMALL_BYTES
        )
        ort.InferenceSession(setting.model_path, options, providers=["CPUExecutionProvider"])
        return onnx.load(path, load_external_data=False).graph
    finally:
        for name in (_NAME, _WEIGHTS):
            (File(work_dir) / name).unlink(missing_ok=True)


def graph_of_names(times: dict[Path, KernelTime]) -> onnx.GraphProto:
    """Build a graph from kernel names alone, for an optimized model that cannot be saved."""
    nodes = [helper.make_node(time.op, [], [], name=path[0]) for path, time in times.items() if len(path) == 1]
    return helper.make_graph(nodes, "names", [], [])

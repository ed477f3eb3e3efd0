"""Ways to count: one node on given shapes, a model by inference, a model by one run of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

from tests.model.factory import save
from tests.model.spec import make_spec
from tuibench.core.profile import CostProfile, NodeCost
from tuibench.core.reason import Reason
from tuibench.core.record import to_plain
from tuibench.model.cost.count import carry_out, count
from tuibench.model.cost.products import count_call
from tuibench.model.cost.structure import Call, Tensor, Work
from tuibench.model.reference_run import TracedRun

MICROSOFT = "com.microsoft"
TRACED = Reason("traced")
STATIC = to_plain(Reason("run_limited"))
"""A reason to infer shapes without a run, as a request has it."""
Shape = tuple[int, ...] | None


def work(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape], domain: str = "", **attributes: Any) -> Work:
    """Return the work of one node; a shape of None is an input that is left out."""
    node = helper.make_node(op, [], [], domain=domain, **attributes)
    return count_call(Call(node, _tensors(inputs), _tensors(outputs)))


def macs(op: str, inputs: Sequence[Shape], outputs: Sequence[Shape], domain: str = "", **attributes: Any) -> int | None:
    """Return its multiply-accumulates."""
    return work(op, inputs, outputs, domain, **attributes).macs


def infer(built: onnx.ModelProto, folder: Path, shapes: Mapping[str, tuple[int, ...]] | None = None) -> CostProfile:
    """Return a model's costs without a run."""
    return count(save(built, folder / "m.onnx"), shapes)


def trace(built: onnx.ModelProto, folder: Path, **request: Any) -> CostProfile:
    """Return a model's costs on the shapes of one run."""
    return trace_file(save(built, folder / "m.onnx"), folder, **request)


def trace_file(path: str, folder: Path, **request: Any) -> CostProfile:
    """Return the same for a file."""
    return carry_out(request_for(path, folder, **request), 1 << 34, TracedRun)


def request_for(
    path: str, folder: Path, batch: int | None = None, dims: Mapping[str, int] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a request of the task `cost`."""
    sizes = tuple((name, (size,)) for name, size in (dims or {}).items())
    spec = make_spec(path, batches=(batch,) if batch else (), dims=sizes)
    return {"path": path, "run_dir": str(folder), "spec": to_plain(spec), **more}


def is_inferred(profile: CostProfile) -> bool:
    """Return whether the shapes are inferred."""
    return profile.shapes_from is not None and profile.shapes_from.code == "inferred"


def by_op(profile: CostProfile, op: str) -> list[NodeCost]:
    """Return the nodes of one operator."""
    return [node for node in profile.nodes if node.op == op]


def require_sums(profile: CostProfile) -> None:
    """Assert that totals are the sums of their nodes, and that every node occurs once."""
    assert profile.macs == sum(node.macs or 0 for node in profile.nodes)
    assert profile.element_flops == sum(node.element_flops or 0 for node in profile.nodes)
    assert profile.parameters == sum(node.parameters for node in profile.nodes)
    assert profile.zeros == sum(node.zeros for node in profile.nodes)
    assert profile.activation_bytes == sum(node.activation_bytes or 0 for node in profile.nodes)
    assert [node.index for node in profile.nodes] == list(range(len(profile.nodes)))
    assert len({node.id for node in profile.nodes}) == len(profile.nodes)


def _tensors(shapes: Sequence[Shape]) -> list[Tensor | None]:
    return [None if shape is None else Tensor("float32", shape) for shape in shapes]

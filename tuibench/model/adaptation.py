"""Copy of a model in the form that an engine takes: dims, opset, IR version and the place of its weights."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import onnx
from onnx import defs, inliner

from tuibench.core.engine import FIXED, ModelForm
from tuibench.core.errors import ModelError
from tuibench.model.file import check_external, extent, is_external, locate, read_chunks
from tuibench.model.graph import Body, op_of, text, walk_bodies, walk_weights
from tuibench.model.inspection import require_graph
from tuibench.worker.bundle import read_bundle

_ONNX = ("", "ai.onnx")
_MOST_EMBEDDED = 1_900_000_000
"""Bytes that one file may hold; protobuf ends at 2 GiB. A larger model keeps its weights beside the copy."""
_REDEFINED = ("GroupNormalization",)
"""Operators that an older opset has with another meaning."""
_SAMPLING = {b"linear": b"bilinear", b"cubic": b"bicubic"}
"""Modes of GridSample that opset 20 renamed."""
_MOST_READ = 100
"""Elements of a weight that says a shape, such as that of a Reshape, and is needed to infer others."""

Shapes = dict[str, tuple[int, ...]]


def write_copy(path: str, form: ModelForm, bundle: str | None, target: Path) -> None:
    """Write the copy of a model to `target`; raise ModelError if an operator has no older form."""
    file = locate(path)
    model = require_graph(path)
    check_external(model, file.path)
    _require_known(model)
    _require_ports(model.graph)
    if model.functions:
        _replace_calls(model, inliner.inline_local_functions(_without_weights(model)))
    if form.dims == FIXED:
        _fix_dims(model, read_shapes(bundle))
    else:
        _drop_weight_inputs(model)
        _name_dims(model)
        _fold_identities(model.graph)
        _name_nodes(model.graph)
    if form.highest_opset is not None:
        _lower_opset(model, form.highest_opset)
    if form.highest_ir is not None:
        model.ir_version = min(model.ir_version, form.highest_ir)
    _settle_weights(model, file.path, target)
    target.write_bytes(model.SerializeToString())


def _require_known(model: onnx.ModelProto) -> None:
    """Raise ModelError for an opset or an IR version that onnx does not know, because their meaning may differ."""
    given = max((one.version for one in model.opset_import if one.domain in _ONNX), default=1)
    for what, number, newest in (
        ("opset", given, defs.onnx_opset_version()),
        ("IR version", model.ir_version, onnx.IR_VERSION),
    ):
        if number > newest:
            raise ModelError("version_unknown", what=what, number=number, newest=newest)


def _require_ports(graph: onnx.GraphProto) -> None:
    """Raise ModelError for an input or output that is no tensor or has a NUL in its name: engines may die of it."""
    for role, values in (("input", graph.input), ("output", graph.output)):
        for value in values:
            kind = value.type.WhichOneof("value") or "tensor_type"
            if kind != "tensor_type":
                raise ModelError("port_not_a_tensor", role=role, name=text(value.name), kind=kind.partition("_")[0])
            if "\0" in text(value.name):
                raise ModelError("port_name_with_nul", role=role, name=text(value.name))


def read_shapes(bundle: str | None) -> Shapes:
    """Return the shape of each tensor in the first sample."""
    feeds = read_bundle(bundle) if bundle else [{}]
    return {name: tuple(value.shape) for name, value in feeds[0].items() if hasattr(value, "shape")}


def _fix_dims(model: onnx.ModelProto, shapes: Shapes) -> None:
    """Give each input the shape of its sample; the engine infers all others from them.

    Declared dims of outputs are left out, too: exporters write those of the input that they traced.
    """
    for value in model.graph.input:
        shape = shapes.get(text(value.name))
        if shape is None:
            continue
        tensor = value.type.tensor_type
        tensor.shape.Clear()
        tensor.shape.SetInParent()
        for size in shape:
            tensor.shape.dim.add().dim_value = size
    del model.graph.value_info[:]
    for value in model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()


def _drop_weight_inputs(model: onnx.ModelProto) -> None:
    """Remove the inputs that are weights, as IR 3 has them, because the engine wants values for them."""
    held = {weight.name for weight in model.graph.initializer}
    fed = [value for value in model.graph.input if value.name not in held]
    del model.graph.input[:]
    model.graph.input.extend(fed)
    model.ir_version = max(model.ir_version, 4)


def _name_dims(model: onnx.ModelProto) -> None:
    """Give a name to every dim of the inputs and outputs that is a number or unknown."""
    graph = model.graph
    for role, values in (("input", graph.input), ("output", graph.output)):
        for at, value in enumerate(values):
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                if not dim.dim_param:
                    dim.dim_param = f"{role}{at}_{axis}"
    del graph.value_info[:]


def _fold_identities(graph: onnx.GraphProto) -> None:
    """Let the readers of an Identity of a weight read the weight itself."""
    held = {weight.name for weight in graph.initializer}
    kept = {value.name for value in graph.output}
    read: dict[str, str] = {}
    left = []
    for node in graph.node:
        source = node.input[0] if node.input else ""
        source = read.get(source, source)
        if node.op_type == "Identity" and node.domain in _ONNX and source in held and node.output[0] not in kept:
            read[node.output[0]] = source
        else:
            left.append(node)
    if not read:
        return
    for body in walk_bodies(graph):
        for node in body.node:
            node.input[:] = [read.get(name, name) for name in node.input]
    _set_nodes(graph, left)


def _name_nodes(graph: onnx.GraphProto) -> None:
    """Give each node a name of its own, by which the engine finds it."""
    nodes = [node for body in walk_bodies(graph) for node in body.node]
    taken, seen = {node.name for node in nodes}, set[str]()
    for at, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = next(name for n in count(at) if (name := f"{node.op_type}_{n}") not in taken)
            taken.add(node.name)
        seen.add(node.name)


def _lower_opset(model: onnx.ModelProto, highest: int) -> None:
    """Write the nodes as an older opset has them; raise ModelError for the first that it cannot express.

    The schemas decide. ONNX's version converter lacks many steps down, and copies the weights several times.
    """
    given = max((one.version for one in model.opset_import if one.domain in _ONNX), default=highest)
    if given <= highest:
        return
    tried: set[str] = set()
    while names := {node.op_type for node in _nodes(model) if _is_redefined(node, given, highest)} - tried:
        _expand(model, sorted(names), given)
        tried |= names
    for node in _nodes(model):
        _lower(node, given, highest)
    for one in model.opset_import:
        if one.domain in _ONNX:
            one.version = highest


def _nodes(model: onnx.ModelProto) -> Iterable[onnx.NodeProto]:
    """Return the nodes of ONNX's own operators."""
    return (node for body in walk_bodies(model.graph) for node in body.node if node.domain in _ONNX)


def _is_redefined(node: onnx.NodeProto, given: int, highest: int) -> bool:
    """Return whether the older opset lacks this operator, or has another one of its name."""
    schema = _schema(node.op_type, given)
    if schema is None or schema.since_version <= highest:
        return False
    return node.op_type in _REDEFINED or _schema(node.op_type, highest) is None


def _write_defaults(node: onnx.NodeProto, opset: int) -> None:
    """Add the attributes that are not given, because the inliner leaves them out of the body."""
    schema, given = _schema(node.op_type, opset), {one.name for one in node.attribute}
    for name, declared in (schema.attributes if schema is not None else {}).items():
        if name not in given and declared.default_value.type != onnx.AttributeProto.UNDEFINED:
            node.attribute.append(declared.default_value)


def _expand(model: onnx.ModelProto, names: list[str], opset: int) -> None:
    """Replace nodes of these operators by the bodies that ONNX defines for them, if it does.

    Raise ModelError if a body depends on types that cannot be inferred.
    """
    for node in _nodes(model):
        if node.op_type in names:
            _write_defaults(node, opset)
    calls = [(domain, name) for name in names for domain in _ONNX]
    try:
        # Inferred before, because a body says less of its output's shape than the operator.
        bare = onnx.shape_inference.infer_shapes(_without_weights(model))
        # The inliner asks for the type of an input that is left out, too.
        bare.graph.value_info.add()
        _replace_calls(model, inliner.inline_selected_functions(bare, calls, inline_schema_functions=True))
    except MemoryError:
        raise
    except TypeError as error:
        said = f"it takes onnx 1.19, this is {onnx.__version__}"
        raise ModelError("operator_not_expanded", operator=names[0], text=said) from error
    except Exception as error:  # the C++ library raises anything for a model that it cannot infer
        raise ModelError("operator_not_expanded", operator=names[0], text=str(error)[:300]) from error
    _resolve_casts(model)


def _resolve_casts(model: onnx.ModelProto) -> None:
    """Turn each CastLike into the Cast that it stands for, so that constants in bodies can be folded."""
    inferred = onnx.shape_inference.infer_shapes(_without_weights(model))
    known = {
        value.name: value.type.tensor_type.elem_type for value in (*inferred.graph.input, *inferred.graph.value_info)
    }
    for node in _nodes(model):
        if node.op_type == "CastLike" and known.get(node.input[1]):
            node.op_type = "Cast"
            del node.attribute[:]
            node.attribute.append(onnx.helper.make_attribute("to", known[node.input.pop()]))


def _lower(node: onnx.NodeProto, given: int, highest: int) -> None:
    new, old = _schema(node.op_type, given), _schema(node.op_type, highest)
    if new is not None and new.since_version <= highest:
        return
    fits = new is not None and old is not None and node.op_type not in _REDEFINED
    if fits and new is not None and old is not None:
        fits = len(node.input) <= old.max_input and set(old.attributes) <= set(new.attributes)
        extra = [one for one in node.attribute if one.name not in old.attributes]
        fits = fits and all(_is_default(one, new) for one in extra)
        for one in extra:
            node.attribute.remove(one)
    if not fits:
        raise ModelError("operator_too_new", operator=op_of(node), opset=given, highest=highest)
    for one in node.attribute:
        if (node.op_type, one.name) == ("GridSample", "mode"):
            one.s = _SAMPLING.get(one.s, one.s)


def _is_default(attribute: onnx.AttributeProto, schema: defs.OpSchema) -> bool:
    if attribute.name == "dilations":
        return set(attribute.ints) == {1}
    declared = schema.attributes.get(attribute.name)
    if declared is None:
        return False
    default = declared.default_value
    return bool(default.type == attribute.type and _value(default) == _value(attribute))


def _value(attribute: onnx.AttributeProto) -> Any:
    return onnx.helper.get_attribute_value(attribute)


def _schema(name: str, opset: int) -> defs.OpSchema | None:
    try:
        return defs.get_schema(name, opset)
    except defs.SchemaError:
        return None


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose weights have shape and type only: the inliner copies its input several times."""
    bare = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    bare.graph.name = model.graph.name or "model"
    for field in ("node", "input", "output", "value_info"):
        getattr(bare.graph, field).extend(getattr(model.graph, field))
    for weight in model.graph.initializer:
        known = onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims)
        bare.graph.value_info.append(known)
        if math.prod(weight.dims) <= _MOST_READ and not is_external(weight):
            bare.graph.initializer.append(weight)
    return bare


def _replace_calls(model: onnx.ModelProto, inlined: onnx.ModelProto) -> None:
    """Take over nodes and the functions that are left."""
    _set_nodes(model.graph, inlined.graph.node)
    del model.graph.value_info[:]
    del model.functions[:]
    model.functions.extend(inlined.functions)
    del model.opset_import[:]
    model.opset_import.extend(inlined.opset_import)


def _set_nodes(body: Body, nodes: Iterable[onnx.NodeProto]) -> None:
    kept = list(nodes)
    del body.node[:]
    body.node.extend(kept)


def _settle_weights(model: onnx.ModelProto, source: Path, target: Path) -> None:
    """Put external weights into the model, or, if that is too large for one file, into copies beside `target`."""
    sizes: dict[Path, int] = {}
    found = [(weight, extent(weight, source, sizes)) for weight in walk_weights(model) if is_external(weight)]
    if sum(place.length for _, place in found) + model.ByteSize() <= _MOST_EMBEDDED:
        for weight, place in found:
            weight.raw_data = b"".join(read_chunks(place.path, place.offset, place.length))
            weight.ClearField("external_data")
            weight.data_location = onnx.TensorProto.DEFAULT
        return
    names = {path: f"{target.name}.{at}.data" for at, path in enumerate(sizes)}
    for path, name in names.items():
        shutil.copyfile(path, target.with_name(name))
    for weight, place in found:
        for entry in weight.external_data:
            if entry.key == "location":
                entry.value = names[place.path]

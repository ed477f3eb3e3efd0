"""Words of the fields of errors: kinds of files, inputs of a model, and files by their role."""

from __future__ import annotations

from tuibench.core.text import show
from tuibench.present.error.template import Fields, Words


def _shape(fields: Fields) -> str:
    dims, kind = fields["dims"], fields["kind"]
    if dims is None:
        return show(kind) if kind != "tensor" else "any shape"
    return f"[{', '.join('?' if dim is None else show(dim, 40) for dim in dims)}]"


def _settable_dims(fields: Fields) -> str:
    if not fields["names"]:
        return "all dims of this model are fixed"
    repeated = (f"{show(name, 60)} (wherever it is written)" for name in fields["repeated"])
    return f"its dims: {', '.join([*(show(name, 60) for name in fields['names']), *repeated])}"


PHRASES: dict[str, Words] = {
    # Kinds of files
    "kind_directory": "a directory",
    "kind_pipe": "a pipe",
    "kind_device": "a device",
    "kind_socket": "a socket",
    "kind_other": "a special file",
    # Inputs of a model
    "input_with_shape": "'{name:40}' {shape}",
    "input_with_type": "'{name:40}' {dtype} {shape}",
    "input_shape": _shape,
    "settable_dims": _settable_dims,
    # Files
    "model_file": "model {path}",
    "model_in_directory": "model.onnx in the directory {path}",
    "external_data": "external data {path} of {model}",
    "inputs_file": "--inputs {path}",
    "remote_file": "{path:80} ({bytes:size})",
}

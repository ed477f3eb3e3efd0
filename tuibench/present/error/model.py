"""Words of the errors of models, profiles of them, engines, workers, and their child tasks."""

from __future__ import annotations

from collections.abc import Sequence

from tuibench.core.text import show
from tuibench.core.units import size
from tuibench.present.error.template import Fields, MessageAndHint

_FORMATS = {
    "zip": ("a zip archive", "unpack it, or export the model to ONNX"),
    "gzip": ("a gzip file", "unpack it first"),
    "hdf5": ("an HDF5 file", "convert it to ONNX first"),
    "pickle": ("a Python pickle", "export the model to ONNX first"),
}
_PARSE_CAUSES = {True: "a name in it is not valid UTF-8", False: "it is truncated, damaged or something else"}
_ARRAY_UNREADABLE = "--inputs {path}: array '{name:60}' cannot be read"
_WRITE_AGAIN = "write it again with numpy.savez"


def _quoted(name: str, limit: int = 60) -> str:
    return f"'{show(name, limit)}'"


def _dims(dims: Sequence[int | str | None]) -> str:
    return "[" + ", ".join("?" if dim is None else show(dim, 40) for dim in dims) + "]"


def _many_samples(fields: Fields) -> str:
    # A model that takes one item at a time also accepts several of them on that axis.
    shape = fields["shape"]
    return f"{_dims(['samples', *shape[shape[:1] == [1] :]])} is an array of several samples"


def _dim_flags(dims: Sequence[str]) -> list[str]:
    return [f"--dim {show(key, 40)}=…" for key in dims]


def _input_too_large(fields: Fields) -> str:
    flags = ["-b …"] * fields["has_batch"] + _dim_flags(fields["dims"])
    shape = "x".join(map(str, fields["shape"]))
    advice = f"choose less with {' '.join(flags)}" if flags else f"the model fixes it to {_dims(fields['shape'])}"
    return (
        f"input {_quoted(fields['name'])} of {show(fields['dtype'])} {shape} needs {size(fields['bytes'])},"
        f" {size(fields['free_bytes'])} are free; {advice}"
    )


def _no_size_accepted(fields: Fields) -> str:
    flags = " ".join(_dim_flags(fields["dims"])) or "-shapes …"
    return (
        f"none of {fields['count']} sizes tried for {', '.join(fields['inputs'])} was accepted; pass {flags} or"
        f" --inputs FILE.npz ({fields['why']})"
    )


def _recorded_none(fields: Fields) -> str:
    events = fields["events"]
    why = "its profiler recorded none" if events is None else f"its profiler stops at {events:,} events"
    return f"no inference was recorded completely: {why}"


MODEL_ERRORS: dict[str, MessageAndHint] = {
    # Engines
    "unknown_engine": ("unknown engine '{engine:40}'", "engines: {names}"),
    "engine_has_no_releases": ("{engine} has no releases to choose from, got '{given:60}'", "name it as {engine}"),
    "not_a_release": (
        "'{given:60}' names no release of {engine}",
        "write NAME@RELEASE, such as onnxruntime@1.27.0",
    ),
    "only_one_release": ("{engine} {release:40} does not run here", "the release that runs is {only}"),
    "release_too_old": ("{engine} {release:40} is too old", "releases from {lowest} can be installed"),
    "release_without_layer_times": (
        "layer times come from the {engine} beside tuibench, not from release {release:40}",
        "leave the release out: -e {engine}",
    ),
    "engine_without_layer_times": ("{engine} reports no layer times", "engines with layer times: {names}"),
    "engine_not_installed": ("{engine} is not installed ({text}); {command}", ""),
    "engine_not_imported": ("{engine} cannot be imported: {text}", ""),
    "engine_other_release": ("{engine} contains release {version:60}; tuibench engines remove {engine} removes it", ""),
    "operator_too_new": (
        "{operator} of opset {opset} has no form in opset {highest}, the newest that the engine takes",
        "export the model with an older opset",
    ),
    "operator_not_expanded": (
        "{operator} cannot be replaced by the simpler operators that it stands for: {text:200}",
        "export the model with an older opset",
    ),
    "version_unknown": (
        "the model has {what} {number}; the newest that can be rewritten for the engine is {newest}",
        "export the model with an older {what}",
    ),
    "port_name_with_nul": ("the engine reads names up to their first NUL; {role} '{name}' has one", ""),
    "port_not_a_tensor": ("the engine takes tensors only; {role} '{name}' is a {kind}", ""),
    "contract_broken": ("{what} is {got:200}, not {wanted:200}", ""),
    "copy_died": ("{model} could not be brought into the form that the engine takes: {why}", ""),
    "engine_apart_damaged": (
        "{engine} is damaged: its interpreter is gone, or its installation was interrupted",
        "{command}",
    ),
    "engine_apart_missing": ("{engine} is not installed", "{command}"),
    "engine_process_died": ("the process of {engine} was ended by {signal}", ""),
    "numpy_too_new": (
        "{engine} returns wrong values under numpy {version}; it needs numpy 1.26",
        "tuibench engines install {engine}",
    ),
    "operators_missing": ("{engine} cannot run {ops}", ""),
    "nothing_to_run": ("{engine} has nothing to run: no operator of the model computes anything", ""),
    "executor_refused": ("executor cannot compile this graph: {text}", ""),
    "hidden_size_unknown": ("executor knows no BERT of hidden size {size}; it knows 32, 128, 256, 384, 768, 1024", ""),
    "output_of_one_element": ("{engine} returned output '{name}' with one element repeated", ""),
    "unsupported_stream_kind": ("the engine runs no streams as {kind}; it takes {names:or}", ""),
    "engine_ended_process": ("{engine} ended its process with code {exit_code}: {text:200}", ""),
    "engine_without_queue": ("{engine} has no queue of its own", ""),
    "engine_always_optimizes": ("{engine} cannot run a model unoptimized", ""),
    "unsupported_precision": ("{engine} has no precision '{precision}' on the CPU; it takes {names:or}", ""),
    "other_precision_used": ("{engine} would compute {used} on this CPU where {precision} was requested", ""),
    "unsupported_shape_mode": ("{engine} has no shape '{given}'; it takes {names:or}", ""),
    "name_not_utf8": ("a name in the model is not valid UTF-8: {text}", ""),
    "not_plain_onnx": ("the file is not plain ONNX: {why}", ""),
    "unknown_wire_type": ("wire type {type} at byte {byte}", ""),
    "field_too_long": ("field {number} runs over the end of its message", ""),
    "number_without_end": ("no end of a number before byte {byte}", ""),
    "ort_file_unreadable": ("{engine} reads ONNX files and not the .ort format of ONNX Runtime", ""),
    "model_without_outputs": ("the model has no outputs", ""),
    "other_port_count": ("{engine} reads {count:count {role}}, the file has {expected}", ""),
    "unsupported_port_type": ("{engine} takes no {role} of type {type}: '{name}'", ""),
    "strings_corrupt_memory": ("{engine} corrupts memory with strings; {role} '{name}' is a tensor of strings", ""),
    "no_tensor_given": ("{engine} takes tensors only; input '{name}' was given a {type}", ""),
    "other_type_given": ("input '{name}' takes {dtype} and was given {given}", ""),
    "input_not_given": ("input '{name}' was not given", ""),
    # Ways to pass inputs and outputs
    "port_no_plain_tensor": ("{role} '{name}' is a {kind} of {dtype}", ""),
    "inputs_without_numpy_type": ("numpy has no such type; the inputs can only be bound", ""),
    "output_without_numpy_type": ("an output type has no numpy buffer", ""),
    "output_is_input": ("output '{name}' is an input passed through", ""),
    "no_way_to_pass_inputs": ("the engine has no way to pass inputs", ""),
    "stream_ended": ("the process of a stream ended with code {exit_code}", ""),
    # Files of models
    "path_missing": ("{what} does not exist", "check the path"),
    "path_dangling": ("{what} is a link to a file that does not exist", "correct the link"),
    "path_unreadable": ("{what} cannot be read: {text}", "check the path and its permissions"),
    "path_not_regular": ("{what} is {kind}, not a regular file", "pass the path of an .{extension} file"),
    "disk_read_failed": ("{path} cannot be read: {text}", "check the disk"),
    "changed_while_read": ("{path} changed while it was read", "run it again"),
    "model_empty": ("{path} is empty (0 bytes)", "download or export it again"),
    "model_over_format_limit": (
        "{path} has {bytes:size}, more than the 2 GB that the format allows",
        "save the model with its weights as external data",
    ),
    "model_is_lfs_pointer": ("{path} is a Git LFS pointer, not the model itself", "fetch it with: git lfs pull"),
    "model_is_web_page": (
        "{path} is a web page, not a model ({bytes:size})",
        "the download went wrong; fetch it again",
    ),
    "model_of_other_format": (
        lambda fields: f"{show(fields['path'])} is {_FORMATS[fields['format']][0]}, not an ONNX model",
        lambda fields: _FORMATS[fields["format"]][1],
    ),
    "model_unparsable": (
        lambda fields: f"{show(fields['path'])} is not a readable ONNX model: {_PARSE_CAUSES[fields['bad_name']]}",
        "fetch or export it again",
    ),
    "model_without_graph": ("{path} has no graph, so there is nothing to run", "export the model again"),
    "external_data_too_short": (
        "external data {path} is too short: weight '{name:60}' is at {offset} + {length} of {bytes} bytes",
        "fetch the data file again and put it beside the model",
    ),
    "external_data_shrank": ("external data {path} became shorter while it was read", "run it again"),
    "external_data_no_name": (
        "{path} names external data '{location:80}', which is not a file name",
        "export the model again",
    ),
    "external_data_outside": (
        "{path} names external data '{location:80}', outside its own directory",
        "put the data file beside the model and export it so",
    ),
    "weights_not_found": (
        "the copy for the engine has no weights named {names:+}: its operators were rewritten",
        "the curve of the whole model is measured without --what-if",
    ),
    "weight_damaged": ("weight '{name:60}' is damaged: {text:120}", "export the model again"),
    "weight_with_negative_dim": ("{path}: weight '{name:60}' has a negative dim", "export the model again"),
    "ort_without_graph": (
        "{path} is an .ort file, which has no readable graph of nodes and weights",
        "profile the .onnx file that it was made from",
    ),
    "ort_file": ("an .ort file: only ONNX Runtime can read it, which shows only the interface", ""),
    "file_of_engine": ("only {engine} can read this file, which shows only the interface", ""),
    "script_carries_code": (
        "only {engine} can read this file; it carries code, which runs in processes of its own",
        "",
    ),
    "file_needs_engine": ("{path} is a file of PyTorch", "run it with -e {engine}"),
    "format_not_read": ("{engine} does not read {format} files; {reader} does", ""),
    "model_is_pickled": (
        "{path} is a pickle of PyTorch, which can run any code when it is read",
        "save the model with torch.export.save, or export it to ONNX",
    ),
    "not_a_torch_file": ("{engine} reads .pt2 and TorchScript files, and directories with safetensors", ""),
    "weights_are_pickled": (
        "the weights in {path} are pickles, which can run any code when they are read",
        "save them as safetensors: model.save_pretrained(DIRECTORY)",
    ),
    "no_safetensors": ("{path} has a configuration and no weights as safetensors", "fetch the model again"),
    "model_wants_trust": ("{path} brings code of its own, which is never run", "export the model to ONNX"),
    "config_unreadable": ("{path} is not a configuration of a model: {text}", "fetch the model again"),
    "file_outside_model": ("{path} is a link that leaves the model's directory", "copy the file into the directory"),
    "transformers_missing": ("directories need the package transformers beside torch: {text}", ""),
    "architecture_unknown": ("transformers {version:20} has no network '{name:60}'", ""),
    "input_unknown": ("no values can be made for the input '{name:60}' of this network", ""),
    "ort_needs_engine": ("{path} is an .ort file, which needs ONNX Runtime", "install onnxruntime"),
    "engine_cannot_read": ("{path}: {why}", ""),
    # Inputs made for a model
    "input_without_values": ("input '{name:60}' is a {kind} of {dtype:40}, for which no values can be made", ""),
    "input_too_large": (_input_too_large, ""),
    "no_size_accepted": (_no_size_accepted, ""),
    "output_of_other_type": ("output '{name:60}' is {dtype}, which numpy does not support", ""),
    # A file of inputs
    "input_not_for_npz": ("--inputs: input '{name:60}' is a {kind}, which .npz does not support", ""),
    "sample_counts_differ": ("--inputs {path}: the inputs have different counts of samples: [{counts}]", ""),
    "not_npz": ("--inputs {path} is not a complete .npz file", "write it with numpy.savez"),
    "npz_unreadable": ("--inputs {path} is not a readable .npz: {text:100}", "write it with numpy.savez"),
    "npz_over_memory": ("--inputs {path} unpacks to {bytes:size}, {free_bytes:size} are free", "use fewer samples"),
    "array_missing": ("--inputs {path} has no array '{name:60}'", "the model's inputs: {inputs}"),
    "array_unknown": (
        "--inputs {path}: array '{name:60}' is not an input of the model",
        "the model's inputs: {inputs}",
    ),
    "array_of_other_type": (
        "--inputs {path}: input '{name:60}' is {given}, the model takes {dtype}",
        "convert it with .astype('{dtype}')",
    ),
    "array_of_other_shape": (
        lambda fields: (
            f"--inputs {show(fields['path'])}: input {_quoted(fields['name'])} is {_dims(fields['given'])},"
            f" the model takes {_dims(fields['shape'])}"
        ),
        _many_samples,
    ),
    "array_encrypted": (
        f"{_ARRAY_UNREADABLE}: it is encrypted",
        "write it without a password, with numpy.savez",
    ),
    "array_over_memory": (
        f"{_ARRAY_UNREADABLE}: {{bytes:size}} are more than the free memory",
        "use fewer samples",
    ),
    "array_damaged": (f"{_ARRAY_UNREADABLE}: it is damaged ({{text:80}})", _WRITE_AGAIN),
    "array_of_other_format": (
        f"{_ARRAY_UNREADABLE}: its format {{version}} is not supported",
        _WRITE_AGAIN,
    ),
    "array_of_objects": (f"{_ARRAY_UNREADABLE}: it contains Python objects", "save strings with dtype str"),
    "array_incomplete": (
        f"{_ARRAY_UNREADABLE}: its header says [{{shape:60}}] of {{dtype}}, the file contains {{bytes:size}} of it",
        _WRITE_AGAIN,
    ),
    # Changed models
    "onnxruntime_failed": ("ONNX Runtime: {why}", ""),
    "onnxruntime_failed_lifted": ("ONNX Runtime, with the weights of layers as inputs: {why}", ""),
    "unknown_level": ("there is no level '{level:40}'", "levels: {names}"),
    "changed_model_too_large": ("{path} is too large for a file even without its layers' weights", ""),
    # Child tasks and profiles
    "no_such_task": ("no such task", "tasks: {names}"),
    "model_out_of_memory": ("this model needs more memory than the limit allows", "raise --memory-limit"),
    "child_failed": ("{kind}: {text}", ""),
    "cannot_be_run": ("{model} cannot be run: {why}", "give other inputs"),
    "no_inputs_to_run_on": ("the model has nothing to run on: {why}", ""),
    "no_run_recorded": (_recorded_none, "use inputs with fewer loop iterations"),
    "unknown_form": ("layers cannot be measured as '{form:40}'", "forms: {names}"),
    "layers_cannot_run_alone": ("{path}: its layers cannot run alone", "profile an .onnx file that runs"),
}

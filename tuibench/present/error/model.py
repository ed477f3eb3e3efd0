"""Words of the errors of models, profiles of them, engines, workers, and their child tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuibench.present.error.kind import Told

Fields = Mapping[str, Any]


def _recorded_none(fields: Fields) -> str:
    events = fields["events"]
    why = "its profiler recorded none" if events is None else f"its profiler stops at {events:,} events"
    return f"no inference was recorded completely: {why}"


MODEL_ERRORS: dict[str, Told] = {
    # Engines
    "engine_unsupported": ("engine {engine} is not supported in this version", "engines here: {names}"),
    "unknown_engine": ("unknown engine '{engine:40}'", "engines here: {names}"),
    "engine_without_layer_times": ("{engine} reports no layer times", "-e {names} makes profiles"),
    "engine_not_installed": ("{engine} is not installed ({text}); {command}", ""),
    "engine_without_queue": ("{engine} has no queue of its own", ""),
    "engine_always_optimizes": ("{engine} cannot run a model unoptimized", ""),
    "unsupported_precision": ("{engine} has no precision '{precision}' on the CPU; it takes {names:or}", ""),
    "other_precision_used": ("{engine} would compute {used} on this CPU where {precision} was requested", ""),
    "unsupported_shape_mode": ("{engine} has no shape '{given}'; it takes {names:or}", ""),
    "name_not_utf8": ("a name in the model is not valid UTF-8: {text}", ""),
    "not_plain_onnx": ("the file is not plain ONNX: {text}", ""),
    "ort_file_unreadable": ("{engine} reads ONNX files and not the .ort format of ONNX Runtime", ""),
    "model_without_outputs": ("the model has no outputs", ""),
    "other_port_count": ("{engine} has {count:count {role}} where the file has {expected}", ""),
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
    "stream_ended": ("the process of a stream ended with {exit_code}", ""),
    # Child tasks and profiles
    "no_such_task": ("tasks are {names}", ""),
    "model_out_of_memory": ("this model needs more memory than the limit allows", "raise --memory-limit"),
    "internal_error": ("{kind}: {text}", ""),
    "cannot_be_run": ("{model} cannot be run: {why}", "give other inputs"),
    "no_inputs_to_run_on": ("the model has nothing to run on: {why}", ""),
    "no_run_recorded": (_recorded_none, "use inputs with fewer loop iterations"),
    "unknown_form": ("layers cannot be measured as '{form:40}'", "forms: {names}"),
    "layers_cannot_run_alone": ("{path}: its layers cannot run alone", "profile an .onnx file that runs"),
}

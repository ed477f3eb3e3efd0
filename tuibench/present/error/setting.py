"""Words of the errors of settings, the tokens of models, dims and shapes."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from tuibench.core.text import show
from tuibench.present.error.template import Fields, MessageAndHint

_GIVE_ONE = "give one of them"
_GIVE_PATH = "give its https: address, or download the file and give its path"
_INPUTS = "its inputs: {inputs}"


def _of_axis(fields: Fields) -> str:
    unit = " (physical cores usable here)" if fields["of_cores"] else ""
    return f"takes {fields['low']} to {fields['high']}{unit}, not '{show(fields['given'], 40)}'"


def _lists(fields: Fields) -> str:
    forms = fields["forms"]
    return f"lists: {' or '.join(forms)}" if forms else ""


def _by_use(of_model: str, of_inputs: str) -> Callable[[Fields], str]:
    """Return a maker of the hint for the file of a model, or for that of input arrays."""
    return lambda fields: of_model if fields["is_model"] else of_inputs


def _of_system(fields: Fields) -> str:
    text = str(fields["text"])
    return f"{show(fields['path'])}: {show(text[:1].lower() + text[1:])}"


def _model_in_directory(fields: Fields) -> str:
    found = fields["found"]
    return f"give the file: {show(found, 120)}" if found else "give the path of an .onnx file"


def _cached_models(fields: Fields) -> str:
    paths = [shlex.quote(show(path, 200)) for path in fields["paths"]]
    if not paths:
        return "download the ONNX file from where its authors publish it now and give its path"
    more = f" and {fields['more']} more" if fields["more"] else ""
    return "cached models: " + ", ".join(f"tuibench benchmark {path}" for path in paths) + more


def _no_free_length(fields: Fields) -> str:
    fixed = fields["fixed"]
    return f"no free dim for a sequence length ({fields['dims'] if fixed is None else f'fixed to {fixed}'})"


def _axis_disagrees(fields: Fields) -> str:
    dim, expected = fields["dim"], fields["expected"]
    why = f"the model fixes it to {expected}" if dim is None else f"dim {show(dim, 40)} is elsewhere {expected}"
    name = show(fields["name"], 60)
    # Three flags give shapes, so that none of them is named.
    place = "" if fields["flag"] == "-shapes" else f"{show(fields['flag'])}: "
    return f"{place}input '{name}' axis {fields['axis']} is {fields['given']}, but {why}"


SETTING_ERRORS: dict[str, MessageAndHint] = {
    # Values
    "value_needed": ("needs a value", ""),
    "name_too_long": ("{count} characters: a name has at most {most}", "give a shorter name"),
    "not_one_line": ("takes one line of at most {most} visible characters, not '{given:40}'", ""),
    "not_streams": (
        "takes {low} to {high}, or auto, not '{given:40}'",
        "auto is one stream per core, in elastic two per NUMA node",
    ),
    "not_in_integer_range": ("takes a whole number from {low} to {high}, not '{given:40}'", ""),
    "not_in_range": ("takes {unit} from {low:g} to {high:g}, not '{given:40}'", ""),
    "not_one_of": (
        "takes {allowed:or}, not '{given:40}'",
        lambda fields: "separate several by commas" if fields.get("is_list") and len(fields["allowed"]) > 1 else "",
    ),
    "not_a_size": ("takes a size from 1MiB to 1048576TiB such as 8GB or 512MiB, not '{given:40}'", ""),
    "not_shapes": (
        "takes one shape per input such as [1,3,224,224],[1,128], not '{given:60}'",
        "put each shape in brackets, and the whole in quotes for the shell",
    ),
    "not_in_this_version": ("{what:60} is not supported in this version", "omit it"),
    "unknown_setting": ("this version has no setting {name:40}", "use the version that measured it"),
    # Lists
    "list_too_long": ("{given:60} has more than {most} values", "give a shorter list"),
    "not_names": ("takes names separated by commas, not '{given:40}'", ""),
    "range_backwards": ("{given:40} runs backwards", "write {first}-{last}"),
    "not_in_list_range": (_of_axis, _lists),
    # Profiles
    "profile_takes_one_name": ("takes one {noun} here, not '{given:40}'", "a profile is of one {noun}"),
    "profile_takes_one_value": (
        "takes one value here, not '{given:40}'",
        "a profile has one {noun}; tuibench benchmark takes lists",
    ),
    "needs_loss_profile": ("belongs to a loss profile", "give --loss"),
    "needs_time_profile": ("belongs to a performance profile", "omit --loss"),
    # Settings that exclude each other
    "amount_excludes_target": ("{first} sets how much is measured, {second} how precisely", _GIVE_ONE),
    # Tokens of models, and input files
    "model_without_name": (
        "a model with an empty name was given",
        "tuibench benchmark sample measures the built-in one",
    ),
    "zoo_not_cached": ("{model:80} is not in SparseZoo's cache here, and its host no longer exists", _cached_models),
    "zoo_ambiguous": ("{model:80} fits several models in SparseZoo's cache", _cached_models),
    "http_not_secure": ("{model:80}: http: is not secure", _GIVE_PATH),
    "unknown_sample": ("there is no {given:60}", "samples: {allowed}"),
    "sample_not_installed": ("{model} is missing from this installation ({path})", "install tuibench again"),
    "path_not_utf8": ("{path} is not valid UTF-8, and engines take no other paths", "rename it"),
    "working_directory_deleted": (
        "{path}: the working directory was deleted",
        "change to a directory that exists, or give an absolute path",
    ),
    "file_missing": (
        _of_system,
        _by_use("check the path; 'sample' is built in", "check the path; the file contains one array per input"),
    ),
    "link_to_missing_file": (_of_system, "it is a link to a missing file"),
    "path_failed": (_of_system, ""),
    "file_not_readable": ("{path}: permission denied", "make it readable for this user"),
    "not_a_regular_file": (
        "{path} is {kind}, not a file",
        _by_use("give a model that is a regular file", "give an .npz file that is a regular file"),
    ),
    "directory_without_model": ("{path} is a directory without a model.onnx", _model_in_directory),
    # Dims
    "not_a_dim": ("takes NAME=N, not '{given:60}'", "such as --dim seq=128"),
    "not_a_dim_list": ("takes NAME=LIST, not '{given:60}'", "such as --dim height=224,320"),
    "dim_twice": ("{name:60} is given twice", "a profile has one of each"),
    "dim_list_twice": ("{name:60} is given twice", "give all its values in one list: NAME=32,64"),
    "dim_fixed": ("the model fixes this dim to {fixed}", "{dims}"),
    "dim_unknown": ("the model has no such dim", "{dims}"),
    "dim_conflict": ("this dim was also given as {other}", _GIVE_ONE),
    "no_free_length": (_no_free_length, ""),
    # Batch
    "batch_conflict": ("-b {batch}: the batch was also given as {other}", _GIVE_ONE),
    "batch_dims_disagree": ("dims {names} are the batch and must agree, not [{sizes}]", "give one value"),
    "batch_too_small": ("a batch of {batch} is too small", "give at least 1"),
    "batch_fixed": ("the model allows {allowed} only: {why}", ""),
    "input_is": ("input '{name:60}' is {shape}", ""),
    "no_batch_axis": ("no input has a batch axis", ""),
    "sample_no_multiple": (
        "-b {batch}: a sample of --inputs has {items:count item}, which is not a multiple of {batch}",
        "omit -b, or use samples with a multiple of {batch}",
    ),
    "sample_sets_batch": (
        "-b {batch}: a sample of --inputs has {items:count item}, so that the batch is {items}",
        "with one value for -b, samples are split into batches of that size",
    ),
    # Shapes
    "shape_fits_no_input": ("shape [{shape}]: no input has {dims} dims", _INPUTS),
    "shapes_differ_in_number": ("{given:count shape} given, but the model has {count:count input}", _INPUTS),
    "shape_of_other_rank": ("input '{name:60}' has {dims} dims, but the given shape has {given}", _INPUTS),
    "axis_disagrees": (_axis_disagrees, _INPUTS),
}

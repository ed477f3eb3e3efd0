"""Words of the reasons and notes of a profile: costs, rows, estimates, peak speeds, layers alone or changed."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.reason import DONE_BEFORE, LEFT_OUT, LIGHTER_BRANCH
from tuibench.core.text import show
from tuibench.core.units import count_of, percent, short
from tuibench.present.amount import support_words
from tuibench.present.error.template import Fields

_NOT_SHOWN = "INT8 gains and roof shares are not shown"


def _no_residual(fields: Fields) -> str:
    share, factor = fields["share"], fields["factor"]
    words = f"the layers take {'all' if share is None else f'{share:.1%}'.replace('%', ' %')}"
    return f"{words} of the unprofiled time" + (f", and were scaled to it by {factor:.3f}" if factor != 1 else "")


def _quoted(name: str, limit: int = 60) -> str:
    return f"'{show(name, limit)}'"


def cause_words(fields: Fields) -> str:
    """Return the words of a cause; records of older versions have only an engine's text."""
    return show(fields["why"] if "why" in fields else fields["text"], 500)


def _too_far_to_scale(fields: Fields) -> str:
    share = "an unknown share" if fields["share"] is None else f"{100 * fields['share']:.0f} %"
    end = "" if fields["has_bound"] else ", and no bound follows from them"
    return f"the layers add up to {share} of the unprofiled time, too far from it to be scaled{end}"


def _runs_not_recorded(fields: Fields) -> str:
    end = "" if fields["events"] is None else f", which stops at {fields['events']:,} events"
    return f"{fields['count']} of {fields['of']} profiled runs: the profiler's file lacks the others{end}"


def _of_output(words: str) -> Callable[[Fields], str]:
    return lambda fields: f"output {_quoted(fields['name'])} {words}"


def _samples_left_out(what: str) -> Callable[[Fields], str]:
    return lambda fields: (
        f"{fields['count']} of {count_of(fields['of'], 'sample')} left out: output {_quoted(fields['name'])} of the"
        f" unchanged model is {what} there"
    )


def _fewer_samples(fields: Fields) -> str:
    batch = fields["batch"]
    inside = "" if batch < 2 else f"; a sample is a whole batch, here of {batch} items"
    return f"{count_of(fields['samples'], 'sample')} instead of {fields['asked']}: the data has no more{inside}"


def _no_int8_form(fields: Fields) -> str:
    ops = fields["ops"]
    named = show((ops[0] if len(ops) == 1 else f"none of {', '.join(ops)}")[:200])
    return f"{named} has {'no' if len(ops) == 1 else 'an'} int8 form here"


def _missing_attributes(fields: Fields) -> str:
    names = fields["names"]
    start, end = ("its attribute", "is") if len(names) == 1 else ("its attributes", "are")
    return f"{start} {' and '.join(map(show, names))} {end} missing"


def _zeros(start: str, end: str = " of dense ones") -> Callable[[Fields], str]:
    """Return a maker of the conclusion on zeros, with the ratio of times and its interval."""

    def make(fields: Fields) -> str:
        value, low, high = (fields[name] for name in ("ratio", "low", "high"))
        ratio = "?" if value is None else f"{value:.2f}"
        within = f" (95 % interval {low:.2f} to {high:.2f})" if low is not None and high is not None else ""
        head = start.format(engine=show(fields["engine"]))
        return f"{head}: layers with {100 * fields['share']:.0f} % zeros take {ratio}x the time{end}{within}"

    return make


PROFILE_WORDS: dict[str, str | Callable[[Fields], str]] = {
    "operators_supported": lambda fields: (
        f"{show(fields['engine'], 60)} {support_words(fields['engine'], fields['share'])}"
    ),
    "one_process": "measured in one process",
    # Costs of a node that are zero, unknown or a lower bound
    LIGHTER_BRANCH: "the other branch of its If is larger",
    DONE_BEFORE: "depends on constants alone: computed beforehand",
    LEFT_OUT: "the limit of nodes was reached: not all of this call is counted",
    "body_did_not_run": "is in a branch or loop that did not run",
    "times_unknown": "how often it runs is unknown: its figures are those of one execution",
    "operator_unknown": lambda fields: f"the operator {show(fields['name'], 60)} is unknown",
    "shapes_misfit": "its shapes do not fit the operator",
    "size_unknown": lambda fields: f"the size of {_quoted(fields['name'])} is not known",
    "shape_unknown": "the shape of {what} {number} is not known",
    "tensor_missing": "{what} {number} is missing",
    "attributes_missing": _missing_attributes,
    "too_few_dims": "the {what} has {dims} dims, not {least}",
    "no_matrix": "a matrix has {dims} dims, not 2",
    "flat_output": "the output has too few dims",
    "scalar_side": "one side of the product is a single number",
    "scalar_operand": "one operand of the product is a single number",
    "equation_input_count": "its equation does not fit its inputs",
    "equation_rank": "its equation does not fit the rank of its inputs",
    "weights_misfit": "its two weights do not fit together",
    "depth_misfit": "its input does not fit its attribute K",
    "keys_missing": "its keys are missing",
    "heads_unknown": "its heads are unknown",
    "past_buffer_shared": "past and present share one buffer, so the length of the past is unknown",
    "work_by_data": "how much {name} does depends on the data",
    "points_by_data": "how many points it takes depends on the data",
    # Sources of the shapes
    "traced": "one run without optimization",
    "inferred": lambda fields: f"static inference: {fields['why']}" if fields["why"] else "static inference",
    "too_many_nodes": "the model was not run, as it has too many nodes",
    "not_run_as": lambda fields: f"the model was not run, as {show(fields.get('why') or fields['text'], 500)}",
    "run_limited": "the run reached a limit",
    "no_inputs": "there are no inputs",
    "inputs_unreadable": "the inputs made for it cannot be read: {text}",
    "unoptimized_failed": "the run without optimization failed: {why}",
    "unoptimized_refused": lambda fields: f"the engine without optimization: {cause_words(fields)}",
    "profiler_cut": "the profiler stops at {events:,} events, before one inference was over",
    "profiler_empty": "the profiler reported nothing",
    # Rows and estimates of a profile
    "folded": "done before the model runs",
    "ran_too_short": "ran in less time than the profiler resolves",
    "not_seen_to_run": "did not run, or took less time than the profiler resolves",
    "did_not_run": "did not run",
    "not_seen": "not in the trace of its run",
    "residual": "what is left of the unprofiled time",
    "no_residual": _no_residual,
    "ratio_without_interval": "a layer's ratio has no interval",
    "time_without_interval": "the time has no interval",
    "bound": "a bound",
    "below_resolution": "below the profiler's resolution",
    "no_timed_row": "no row of this kind takes time",
    "row_without_interval": "a row has no interval",
    # Limits of rows
    "work_unknown": "not all that it computes or moves is known",
    "no_peak_of_precision": lambda fields: (
        f"its numbers are {show(fields['precision'], 20)}, in which no peak was measured"
    ),
    "roofs_not_measured": "not measured on this machine: {names}",
    "unattributed": lambda fields: (
        f"{_NOT_SHOWN}: {percent(fields['share'])} of the time is in no layer (limit {percent(fields['limit'])});"
        " profile again while the machine is idle"
    ),
    "above_peak": lambda fields: (
        f"{_NOT_SHOWN}: a row ({show(fields['op'], 60)}) has {short(fields['gflops'])} GFLOP/s,"
        f" {short(fields['multiple'])}× the measured peak (limit {short(fields['limit'])}×), so its time or its nodes"
        " are wrong"
    ),
    # Peak speeds of the machine
    "peak_failed": cause_words,
    "dram_not_measured": "DRAM not measured: {needed_mb} MB must be free for more than caches hold",
    "dram_of_few_bytes": "DRAM on {mb} MB, of {wanted_mb} MB that no cache would hold",
    "zeros_gain": _zeros("{engine} gains from zeros here"),
    "zeros_gain_nothing": _zeros("{engine} gains nothing from zeros here"),
    "zeros_unclear": _zeros("unclear if {engine} gains from zeros here", end=""),
    # Layers in another form, measured alone
    "alone_failed": cause_words,
    "not_measured_with": "it is not measured with {engine}",
    "no_costs_to_choose_by": "the costs of the layers are unknown, so none can be selected",
    "not_counted": "not counted",
    # Notes on costs and times
    "overhead_exceeds_kernels": "below the profiler's resolution: its overhead exceeds the time of most kernels",
    "sum_too_far_to_scale": _too_far_to_scale,
    "names_not_recorded": "{count} nodes have names that the profiler cannot record: their time is in no layer",
    "mapped_by_names": "mapped by names alone: the optimized model cannot be saved ({why})",
    "runs_not_recorded": _runs_not_recorded,
    "fewer_profiled_runs": "{count:count profiled run} instead of {of}: one takes too long, or has many kernels",
    "zeros_of_too_many_bytes": "zeros not counted in all weights: more than {bytes:size} of them",
    "zeros_took_too_long": "zeros not counted in all weights: more than {s:.0f} s of reading",
    "zeros_of_each_channel": "zeros not counted in weights whose channels have zero points of their own",
    "zeros_unreadable": "zeros not counted in all weights: {why}",
    "weights_uncounted": "zeros not counted: {bytes:size} of weights",
    "weights_took_too_long": "zeros not counted: more than {s:.0f} s of reading",
    "roofs_of_other_precisions": "no share of the roofs: they are of {roofs:and}, and this is {names:+}",
    "no_time_for_a_form": lambda fields: (
        f"no {' and '.join(show(form.upper(), 20) for form in fields['forms'])} estimate: a layer's ratio applies to"
        " its time, and none is known"
    ),
    "layer_costs_unknown": lambda fields: "; ".join(["the costs of the layers are unknown", *fields["reasons"]]),
    "some_layer_costs_unknown": "costs of {missing} of {of:count layer} unknown: not all their nodes were counted",
    "inputs_not_computed": lambda fields: f"its inputs could not be computed: {cause_words(fields)}",
    "node_not_in_model": "the model has no such node",
    "node_in_subgraph": "it is in the subgraph of another node",
    "runs_subgraphs": "it runs subgraphs",
    "reads_no_tensor": "it reads a value that is no tensor",
    "products_in_floats": "the engine runs its products in floats anyway",
    "too_short_alone": "it takes less than {least_us:g} µs alone",
    "opset_without_integers": lambda fields: (
        f"its operators are of version {fields['version']}, without integers: {cause_words(fields)}"
    ),
    "already_integer": "it already uses integers",
    "no_int8_form": _no_int8_form,
    "first_input_constant": "its first input is a constant",
    "transposes_or_scales": "it transposes or scales what it reads",
    "weights_not_constant": "its weights are not constant",
    "ranges_unknown": "its inputs or outputs are unknown",
    "bias_not_constant": "its bias is not constant",
    "bias_of_other_size": "its bias has another size than its channels",
    "not_float32": "it is not of 32-bit floats",
    # Layers of a loss profile
    "already_int8": "already int8",
    "not_run": "not run",
    "weights_packed": "its weights are packed",
    "weights_of_type": "its weights are {dtype}",
    "weights_not_finite": "its weights contain NaN or infinity",
    "scales_of_no_channels": "its weights have scales for something else than channels",
    "scale_not_constant": "the scale of its weights is no constant",
    "axes_unclear": "the axes of its weights are unclear",
    "no_float_output": "no output contains floats, so there is nothing to compare",
    "outputs_all_zeros": "the outputs of the unchanged model are all zeros",
    "outputs_too_large": "the outputs are too large to be squared",
    "output_reshaped": _of_output("has another shape than without the change"),
    "output_was_zeros": _of_output("is all zeros without the change and is not with it: no dB"),
    "output_not_finite": _of_output("became NaN or infinite"),
    "unchanged_not_finite": _of_output("of the unchanged model is NaN or infinite"),
    "changed_model_failed": cause_words,
    "change_ended_child": lambda fields: f"{cause_words(fields)} with this layer changed",
    # Notes of a loss profile
    "from_weights_alone": "from the weights alone: proxies, which need not rank the layers as a measurement would",
    "rounds_weights_only": (
        "int8 rounds the weights of one layer, symmetric per output channel; activations stay as they are"
    ),
    "functions_left_out": "layers inside the model's own functions are left out",
    "recurrent_not_changed": ("the weights of {ops} are not changed, only those of convolutions and matrix products"),
    "no_changeable_layer": "there is no layer whose weights could be changed",
    "fewer_samples": _fewer_samples,
    "outputs_left_out": lambda fields: (
        f"outputs without floats are left out: {', '.join(_quoted(name, 40) for name in fields['names'])}"
    ),
    "samples_not_finite": _samples_left_out("NaN or infinite"),
    "samples_empty": _samples_left_out("empty"),
    "values_left_out": lambda fields: (
        f"output {_quoted(fields['name'])} is NaN or infinite in {fields['count']} of {fields['of']} values, which are"
        " left out"
    ),
    "outputs_vary": (
        "the outputs of the unchanged model vary between runs ({sqnr_db:.0f} dB): smaller noise is not due to a layer"
    ),
}
"""By code; `present/reason.py` formats the texts."""

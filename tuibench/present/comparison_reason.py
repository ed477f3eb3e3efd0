"""Words of the reasons why two operands have no ratio, no interval or no verdict."""

from __future__ import annotations

from collections.abc import Callable

from tuibench.core.text import show
from tuibench.present.amount import elsewhere_words
from tuibench.present.error.template import Fields
from tuibench.present.profile.reason import cause_words

COMPARISON_WORDS: dict[str, str | Callable[[Fields], str]] = {
    # Two operands
    "operand_without_value": "one operand has no value",
    "operand_without_interval": "one operand has no interval",
    "operand_without_time": "no execution of one operand has a time",
    "operand_too_short": "{count} of at least {least} executions of one operand",
    "operand_failed": "{name}: {why}",
    "operand_unmeasured": "{name}: {status}: {why}",
    "pooled_only": "of all iterations together",
    "different_times": "measured at different times",
    "models_differ": "the models differ, and their outputs were not compared with each other",
    "models_unread": "one of the models could not be read",
    "drift_needs_onnx": "only ONNX models are compared with each other, not {formats:and}",
    "drift_failed": lambda fields: f"the outputs of the models were not compared: {cause_words(fields)}",
    "interface_names_differ": "the models have other {role}s: {base:and} and {new:and}",
    "interface_types_differ": "the models have another type of {role} {name:60}: {base} and {new}",
    "interface_shapes_differ": "the models have another shape of {role} {name:60}",
    "outputs_unchecked": "outputs of {engine} were not checked",
    "ran_in_engine_inside": lambda fields: f"{show(fields['engine'], 60)} {elsewhere_words(fields['engine'])}",
    "outputs_differ": "outputs of {engine} differ from the reference",
    "settings_differ": "{name}: {base} against {new}",
    "settings_unknown": "content of the model, precision, pinning and inputs of one operand are unknown",
    "shared_host": "{name} was measured concurrently with another benchmark",
    "mixed_sessions": "{name} was measured in sessions under unequal conditions",
    "machine_unknown": lambda fields: (
        f"unknown machine of {show(fields['name'])}" + (f", by {show(fields['tool'])}" if fields["tool"] else "")
    ),
}
"""By code; `present/reason.py` formats the texts."""

"""The settings of a stored benchmark as if they had been typed again, with what was typed now in their place."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from tuibench.core.spec import BenchmarkSpec
from tuibench.request.flag import FLAGS
from tuibench.request.flag_reader import FlagReader
from tuibench.request.repeat import again

_EFFORT = ("quick", "precise", "target", "time_s", "warmup_s", "executions")
_REPLACES = {
    # A named effort is all that is said about how long; the others exclude each other.
    "quick": _EFFORT,
    "precise": _EFFORT,
    "target": ("time_s", "executions"),
    "time_s": ("target",),
    "executions": ("target",),
}


def recall(spec: BenchmarkSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a BenchmarkRequest that make `spec` again, but for its models and for what is `given`."""
    # By way of the command that every result carries: whatever that spells out is read as it always is.
    _, fields = FlagReader(FLAGS).split(shlex.split(again(spec))[2:])
    for field in given:
        for replaced in _REPLACES.get(field, ()):
            fields.pop(replaced, None)
    dims = _merge(fields.get("dims", ()), given.get("dims", ()))
    return {**fields, **given, "dims": dims}


def _merge(stored: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """'NAME=LIST' each; a name that was given now has its new list only."""
    names = {text.rpartition("=")[0] for text in given}
    return (*(text for text in stored if text.rpartition("=")[0] not in names), *given)

"""The settings of a stored benchmark as if they had been typed again, with what was typed now in their place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.request.flag import FLAGS
from tuibench.request.flag_reader import FlagReader
from tuibench.request.repeat import benchmark_words
from tuibench.request.request import BenchmarkRequest
from tuibench.request.translation import Topology, to_spec

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
    # The flags are read as if typed, so a setting out of its range is refused here.
    _, fields = FlagReader(FLAGS).split([*benchmark_words(spec)])
    for field in given:
        for replaced in _REPLACES.get(field, ()):
            fields.pop(replaced, None)
    dims = _merge(fields.get("dims", ()), given.get("dims", ()))
    return {**fields, **given, "dims": dims}


def repeat(
    spec: BenchmarkSpec, sources: Sequence[ModelSource], given: Mapping[str, Any], topology: Topology, name: str
) -> tuple[BenchmarkRequest, BenchmarkSpec, tuple[str, ...]]:
    """What is measured again, read in the same way as a command that was typed; `name` unless another is given."""
    fields = {"name": name, **recall(spec, given)}
    request = BenchmarkRequest(models=tuple(source.path for source in sources), **fields)
    found, notes = to_spec(request, topology)
    named = {os.path.abspath(source.path): source for source in sources}
    return request, replace(found, models=tuple(named[source.path] for source in found.models)), notes


def _merge(stored: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """'NAME=LIST' each; a name that was given now has its new list only."""
    names = {text.rpartition("=")[0] for text in given}
    return (*(text for text in stored if text.rpartition("=")[0] not in names), *given)

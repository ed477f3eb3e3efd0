"""Checks of imported results: the JSON schema, then ids, ranges of numbers and intervals."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tuibench.core import cell, model, profile, spec
from tuibench.core import result as run
from tuibench.core.cell import CellResult, Estimate, Execution
from tuibench.core.reason import Verdict
from tuibench.core.result import RunResult
from tuibench.core.schema import AMOUNT, CORES, COUNT, LENGTH, LONGEST_S, SIZE, Range, holds, words_of
from tuibench.core.settings import benchmark as benchmark_setting
from tuibench.core.settings import profile as profile_setting
from tuibench.core.settings.setting import ranges_of
from tuibench.core.text import show


class Refusal(Exception):
    """Error with the problem, its place in the file and a hint."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
LONGEST_LISTED = 100_000
"""Length limit of texts that lists show and the store's index keeps for every benchmark."""
_LISTED = ("foreign", "host", "started_utc")
_NEEDED = ("models", "engines", "scenarios", "cores")
_MOST_BINS = 256
_WIDEST_BIN = 2.0
_ROUNDING = 1e-9


def _amounts(*names: str) -> dict[str, Range]:
    return dict.fromkeys(names, AMOUNT)


Ranges = Mapping[type, Mapping[str, Range]]

_MEASURED: Ranges = {
    run.RunResult: _amounts("seconds", "waited_s"),
    run.RunSession: _amounts("executions"),
    Verdict: _amounts("n", "ratio"),
    cell.CellResult: {"items": COUNT, "sittings": COUNT, **_amounts("load_ms", "first_ms", "memory_bytes")},
    # By default a cell has as many streams as cores.
    cell.Asked: {"cores": CORES, "batch": LENGTH, "dims": SIZE, "streams": CORES},
    cell.Used: {"streams": CORES, **_amounts("cpus", "threads", "batch", "distinct_inputs")},
    cell.Execution: {"iterations": COUNT, **_amounts(
        "timed_s", "seconds_ran", "p50_ns", "mean_ns", "std_ns", "floor_ns", "percentiles_ns", "effective_n",
        "calls_per_s", "cpu_s", "load_ms", "first_ms", "memory_bytes",
    )},
    cell.Pooled: _amounts("items_per_sec", "seconds_ran", "iterations", "median", "mean", "std", "percentiles"),
    cell.Estimate: _amounts("n"),
    cell.Warmup: _amounts("seconds", "iterations"),
    cell.Samples: _amounts("kept", "total"),
    cell.Noise: _amounts("blocks", "disturbed_blocks"),
    model.ModelSummary: _amounts("file_bytes", "external_bytes", "nodes"),
    model.Point: _amounts("model", "batch", "items", "dims", "chosen", "distinct"),
    model.FedInput: _amounts("shape"),
    profile.CostProfile: _amounts("batch", "items", "dims"),
    profile.PerformanceProfile: {"cores": CORES, **_amounts(
        "cpus", "threads", "batch", "items", "dims", "processes", "runs", "load_ms", "peak_bytes",
    )},
    profile.Roofline: {"cores": CORES},
    profile.LossProfile: _amounts("samples"),
    profile.LossPoint: _amounts("samples"),
}  # fmt: skip


def allowed_ranges() -> Ranges:
    """Return the range of each number in a result by class and field; those of its specification from the settings."""
    asked = ranges_of((*benchmark_setting.settings(), *profile_setting.settings()))
    effort = asked[spec.Effort]
    effort["min_executions"] = effort["max_executions"] = effort["executions"]
    effort["timed_s"] = effort["limit_s"] = (0, LONGEST_S)
    return {**_MEASURED, **asked}


def find_impossible(result: RunResult) -> str:
    """Return the first impossible value in a well-formed result; '' if there is none."""
    return next(_problems(result), "")


def _problems(result: RunResult) -> Iterator[str]:
    if not ULID.match(result.id):
        yield f"tuibench.id is '{show(result.id, 60)}', which is no ULID"
    known = allowed_ranges()
    yield from _range_problems(result, known, "tuibench")
    for name, value in result.spec.options.items():
        allowed = known[spec.BenchmarkSpec].get(name)
        if allowed is not None:
            yield from outside(value, allowed, f"tuibench.spec.options.{name}")
    yield from _text_problems(result)
    seen: set[str] = set()
    for i, found in enumerate(result.cells):
        place = f"tuibench.cells[{i}]"
        if found.key in seen:
            yield f"{place}.key is that of a cell before it"
        seen.add(found.key)
        yield from _cell_problems(found, known, place)


def _range_problems(value: Any, ranges: Ranges, place: str) -> Iterator[str]:
    """Yield each number outside its range, with its place and the range."""
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            if not isinstance(part, (int, float, str)):
                yield from _range_problems(part, ranges, f"{place}[{i}]")
    elif dataclasses.is_dataclass(value):
        known = ranges.get(type(value), {})
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if field.name in known:
                yield from outside(part, known[field.name], f"{place}.{field.name}")
            elif part is not None and not isinstance(part, (int, float, str)):
                yield from _range_problems(part, ranges, f"{place}.{field.name}")


def outside(value: Any, allowed: Range, place: str) -> Iterator[str]:
    """Yield each number in `value`, at any depth, that is outside the range."""
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from outside(part, allowed, f"{place}[{i}]")
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from outside(part, allowed, f"{place}.{show(name, 60)}")
    elif isinstance(value, (int, float)) and not holds(allowed, value):
        yield f"{place} is {value}; allowed is {words_of(allowed)}"


def _text_problems(result: RunResult) -> Iterator[str]:
    asked = result.spec
    for name in _NEEDED:
        if not getattr(asked, name):
            yield f"tuibench.spec.{name} is empty"
    for name, sizes in asked.dims:
        if not sizes:
            yield f"tuibench.spec.dims: {show(name, 60)} has no size"
    listed = {name: getattr(result, name) for name in _LISTED}
    listed |= {f"spec.models[{i}].asked": source.asked for i, source in enumerate(asked.models)}
    listed |= {f"spec.engines[{i}]": engine for i, engine in enumerate(asked.engines)}
    listed |= {f"spec.scenarios[{i}]": scenario for i, scenario in enumerate(asked.scenarios)}
    listed |= {f"cells[{i}].asked.engine": one.asked.engine for i, one in enumerate(result.cells)}
    for name, text in listed.items():
        if len(text) > LONGEST_LISTED:
            yield f"tuibench.{name} is a text of {len(text)} characters; allowed are {LONGEST_LISTED}"


def _cell_problems(cell: CellResult, ranges: Ranges, place: str) -> Iterator[str]:
    estimates = {f"latency_ms.{show(name, 60)}": estimate for name, estimate in cell.latency_ms.items()}
    estimates |= {"items_per_sec": cell.items_per_sec, "items_per_cpu_sec": cell.items_per_cpu_sec}
    for name, estimate in estimates.items():
        yield from _range_problems(estimate, ranges, f"{place}.{name}")
        yield from _estimate_problems(estimate, f"{place}.{name}")
    for n, execution in enumerate(cell.executions):
        yield from _execution_problems(execution, f"{place}.executions[{n}]")


def _estimate_problems(estimate: Estimate, place: str) -> Iterator[str]:
    bounds = {"low": estimate.low, "value": estimate.value, "high": estimate.high}
    for name, bound in bounds.items():
        yield from outside(bound, AMOUNT, f"{place}.{name}")
    known = [bound for bound in bounds.values() if bound is not None and math.isfinite(bound)]
    if any(low > high * (1 + _ROUNDING) for low, high in pairwise(known)):
        yield f"{place}: its value is outside its interval"


def _execution_problems(execution: Execution, place: str) -> Iterator[str]:
    histogram = execution.histogram
    # Percentiles are computed from the histogram by powers of the ratio.
    if len(histogram["counts"]) > _MOST_BINS or not 0 < histogram["ratio"] <= _WIDEST_BIN:
        yield f"{place}.histogram has bins that no execution has"


CHECKED = frozenset(
    {"type", "const", "enum", "required", "properties", "additionalProperties", "propertyNames", "items"}
    | {"prefixItems", "minItems", "maxItems", "minLength", "pattern", "anyOf", "$ref"}
)
"""The supported keywords; others would be ignored, so a test checks that the schema uses no others."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {"object": "an object", "array": "a list", "string": "a text", "integer": "a whole number",
          "number": "a number", "boolean": "true or false", "null": "null"}  # fmt: skip

Schema = Mapping[str, Any]


def find_problem(value: Any, schema: Schema, place: str = "") -> str:
    """Return the first difference between `value` and `schema`, with its place; '' if there is none.

    Ignore keys that the schema does not name, even if it closes the object: newer writers may add some.
    """
    return next(_Check(schema).problems(value, schema, place), "")


class _Check:
    """One pass over a document; references are resolved against the root schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def problems(self, value: Any, schema: Schema, place: str) -> Iterator[str]:
        if "$ref" in schema:
            yield from self.problems(value, self._resolve(schema["$ref"]), place)
        if "anyOf" in schema:
            yield from self._any_of(value, schema["anyOf"], place)
        if not _has_type(value, schema.get("type")):
            yield f"{place or 'the file'} is {_describe(value)}, not {_type_words(schema['type'])}"
            return
        yield from _simple(value, schema, place)
        if isinstance(value, dict):
            yield from self._object(value, schema, place)
        elif isinstance(value, list):
            yield from self._array(value, schema, place)

    def _resolve(self, reference: str) -> Schema:
        found: Any = self._root
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        return found  # type: ignore[no-any-return]

    def _any_of(self, value: Any, choices: Sequence[Schema], place: str) -> Iterator[str]:
        found = [next(self.problems(value, choice, place), "") for choice in choices]
        if all(found):
            # The deepest problem belongs to the choice that the writer intended.
            yield max(found, key=lambda problem: len(problem.split(" ", 1)[0]))

    def _object(self, value: dict[str, Any], schema: Schema, place: str) -> Iterator[str]:
        properties: Schema = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{_join(place, name)} is missing"
        others = schema.get("additionalProperties")
        names: Schema = schema.get("propertyNames", {})
        for name, part in value.items():
            yield from self.problems(name, names, f"a key of {place or 'the file'}")
            if name in properties:
                yield from self.problems(part, properties[name], _join(place, name))
            elif isinstance(others, Mapping):
                yield from self.problems(part, others, _join(place, name))

    def _array(self, value: list[Any], schema: Schema, place: str) -> Iterator[str]:
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{place} has {len(value)} entries, not {schema.get('maxItems', schema.get('minItems'))}"
            return
        first: Sequence[Schema] = schema.get("prefixItems", ())
        for i, (part, own) in enumerate(zip(value, first, strict=False)):
            yield from self.problems(part, own, f"{place}[{i}]")
        if "items" in schema and not _all_plain(value, schema["items"]):
            for i, part in enumerate(value[len(first) :], len(first)):
                yield from self.problems(part, schema["items"], f"{place}[{i}]")


def _all_plain(values: list[Any], schema: Schema) -> bool:
    """Return whether all values have the one required type; checks a long series without a call per value."""
    wanted = schema.get("type")
    return len(schema) == 1 and isinstance(wanted, str) and set(map(type, values)) <= set(_TYPES[wanted])


def _simple(value: Any, schema: Schema, place: str) -> Iterator[str]:
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{place} is {_describe(value)}, not {schema['const']}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{place} is {_describe(value)}, none of {', '.join(str(one) for one in schema['enum'])}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield f"{place} is empty"
        if "pattern" in schema and not re.search(_to_the_end(schema["pattern"]), value):
            yield f"{place} is {_describe(value)}, which does not have the right form"


def _to_the_end(pattern: str) -> str:
    """Return the pattern for Python, where `$` also matches before a last line feed, unlike in JSON Schema."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _same(value: Any, one: Any) -> bool:
    """Return whether both are equal, with true different from 1."""
    return bool(value == one) and isinstance(value, bool) == isinstance(one, bool)


def _has_type(value: Any, wanted: str | Sequence[str] | None) -> bool:
    if wanted is None:
        return True
    names = [wanted] if isinstance(wanted, str) else wanted
    return any(isinstance(value, _TYPES[n]) and (n == "boolean" or not isinstance(value, bool)) for n in names)


def _type_words(wanted: str | Sequence[str]) -> str:
    return " or ".join(_WORDS[name] for name in ([wanted] if isinstance(wanted, str) else wanted))


def _describe(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, str):
        return f"'{show(value, 60)}'"
    return json.dumps(value)


def _join(place: str, name: str) -> str:
    shown = show(name, 60)
    return f"{place}.{shown}" if place else shown

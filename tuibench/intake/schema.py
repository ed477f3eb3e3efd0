"""The subset of JSON Schema that the schema of exports uses; reports the first problem with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tuibench.core.text import show

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

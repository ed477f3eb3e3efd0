"""Our schema checker against a complete JSON Schema implementation, on our schema and faulty exports."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.present import build
from tuibench.model.imports.checks import CHECKED, find_problem
from tuibench.model.imports.task import SCHEMA_PATH
from tuibench.present.json_export import dumps

SCHEMA = json.loads(SCHEMA_PATH.read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
SILENT = {"$schema", "$defs", "title", "description"}
WRONG = st.sampled_from([None, True, "text", 3, 2.5, [], {}, [1, "x"], {"a": None}, "", "ok", "agrees", "0" * 12, -1])


def export() -> Any:
    spec = build.spec(dims=(("seq", (1, 2)),))
    return json.loads(dumps(build.run(build.ok_cell(), build.failed_cell({"batch": 3}), spec=spec)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield (*path, step)
        yield from places(part, (*path, step))


EXPORT = export()
PLACES = list(places(EXPORT))


def keywords(schema: Any) -> Iterator[str]:
    """Yield the keywords of a schema without property names."""
    for name, part in schema.items():
        yield name
        inner = part.values() if name in ("properties", "$defs") else part if isinstance(part, list) else [part]
        for one in inner:
            if isinstance(one, dict):
                yield from keywords(one)


def test_every_keyword_of_the_schema_is_supported() -> None:
    assert set(keywords(SCHEMA)) <= CHECKED | SILENT


def test_valid_export_has_no_problem() -> None:
    assert find_problem(EXPORT, SCHEMA) == ""


@given(st.sampled_from(PLACES), WRONG, st.booleans())
def test_fault_is_found_where_the_complete_implementation_finds_one(
    path: tuple[Any, ...], wrong: Any, gone: bool
) -> None:
    faulty = copy.deepcopy(EXPORT)
    holder = faulty
    for step in path[:-1]:
        holder = holder[step]
    if gone and isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder[path[-1]] = wrong
    assert bool(find_problem(faulty, SCHEMA)) == (not VALIDATOR.is_valid(faulty))


@pytest.mark.parametrize(
    ("path", "wrong", "words"),
    [
        (("batch_size",), "8", "is '8', not a whole number or null"),
        (("batch_size",), True, "is true, not a whole number or null"),
        (("tuibench", "cells"), {}, "is an object, not a list"),
        (("tuibench", "cells", 0, "status"), "\x1b[31m", "is '\\e[31m', none of ok, failed, partial, skipped"),
        (("tuibench", "cells", 0, "grade", "letter"), "E", "is 'E', none of A, B, C, D"),
        (("tuibench", "cells", 0, "key"), "0" * 12 + "\n", "is '000000000000\\n', which does not have the right form"),
        (("tuibench", "cells", 0, "executions", 2, "series", 0), [1, 2], "has 2 entries, not 3"),
        (("tuibench", "cells", 0, "executions", 0, "histogram", "counts", 1), "2", "is '2', not a whole number"),
        (("tuibench", "spec", "dims", 0, 1), 3, "is 3, not a list"),
        (("tuibench", "id"), "", "is empty"),
    ],
)
def test_problem_names_its_place(path: tuple[Any, ...], wrong: Any, words: str) -> None:
    faulty = copy.deepcopy(EXPORT)
    holder = faulty
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = wrong
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    assert find_problem(faulty, SCHEMA) == f"{place} {words}"


def test_keys_of_newer_writers_are_ignored() -> None:
    newer = {**EXPORT, "mood": "good", "tuibench": {**EXPORT["tuibench"], "weather": []}}
    assert find_problem(newer, SCHEMA) == ""

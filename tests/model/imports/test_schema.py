"""Imports refuse what the JSON schema refuses, each at its place, and raise nothing but the refusal."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.present import build
from tuibench.model.imports.checks import Refusal
from tuibench.model.imports.task import read_own
from tuibench.present.json_export import dumps

SCHEMA_PATH = Path(__file__).resolve().parents[3] / "tuibench" / "data" / "benchmark.schema.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA_PATH.read_text("utf-8")))
WRONG = st.sampled_from([None, True, "text", 3, 2.5, [], {}, [1, "x"], {"a": None}, "", "ok", "agrees", "0" * 12, -1])
DERIVED = {"first", "headline", "conclusions", "again", "model"}
"""Parts of an export that are made anew from the others."""


def export() -> Any:
    spec = build.spec(dims=(("seq", (1, 2)),))
    return json.loads(dumps(build.run(build.ok_cell(), build.failed_cell({"batch": 3}), spec=spec)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield (*path, step)
        yield from places(part, (*path, step))


EXPORT = export()
LENIENT = {"schema", "stopped_by"}
"""Imports accept more here: the schema number of records, and an end without a reason."""
PLACES = [
    ("tuibench", *path) for path in places(EXPORT["tuibench"]) if path[0] not in DERIVED and path[-1] not in LENIENT
]


def with_fault(path: tuple[Any, ...], wrong: Any, *, gone: bool = False) -> Any:
    faulty = copy.deepcopy(EXPORT)
    holder = faulty
    for step in path[:-1]:
        holder = holder[step]
    if gone and isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder[path[-1]] = wrong
    return faulty


def problem_of(document: Any) -> str:
    try:
        read_own(copy.deepcopy(document))
    except Refusal as refusal:
        return refusal.what
    return ""


@given(st.sampled_from(PLACES), WRONG)
def test_wrong_value_is_refused_where_the_schema_refuses_it(path: tuple[Any, ...], wrong: Any) -> None:
    faulty = with_fault(path, wrong)
    assert VALIDATOR.is_valid(faulty) or problem_of(faulty)


@given(st.sampled_from(PLACES))
def test_missing_value_is_refused_or_has_a_default(path: tuple[Any, ...]) -> None:
    problem = problem_of(with_fault(path, None, gone=True))
    assert not problem or "is missing" in problem or "is null" in problem or "no execution has" in problem


@pytest.mark.parametrize(
    ("path", "wrong", "words"),
    [
        (("cells",), {}, "is an object, not a list"),
        (("cells", 0, "items"), True, "is true, not a whole number"),
        (("cells", 0, "status"), "\x1b[31m", "is '\\e[31m', none of ok, failed, partial, skipped"),
        (("cells", 0, "grade", "letter"), "E", "is 'E', none of A, B, C, D"),
        (("cells", 0, "key"), "0" * 12 + "\n", "is '000000000000\\n', which does not have the right form"),
        (("cells", 0, "executions", 2, "series", 0), [1, 2], "has 2 entries, not 3"),
        (("cells", 0, "executions", 2, "series", 0), [1, 2, "x"], "[2] is 'x', not a number"),
        (("spec", "dims", 0, 1), 3, "is 3, not a list"),
    ],
)
def test_problem_names_its_place(path: tuple[Any, ...], wrong: Any, words: str) -> None:
    place = "tuibench" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    assert problem_of(with_fault(("tuibench", *path), wrong)).replace(f"{place} ", place) == f"{place}{words}"


def test_keys_of_newer_writers_are_ignored() -> None:
    assert problem_of({**EXPORT, "mood": "good", "tuibench": {**EXPORT["tuibench"], "weather": []}}) == ""

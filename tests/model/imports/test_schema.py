"""Imports refuse what the JSON schema refuses and nothing else for its form; what they accept can be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.present import build
from tests.present.profile.sample_data import make_profile
from tests.present.test_listing import row
from tuibench.core import cell, result, spec
from tuibench.core import profile as core_profile
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.result import RunResult, RunSession
from tuibench.core.spec import ProfileSpec
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.model.imports import checks
from tuibench.model.imports.checks import InvalidImport, restore
from tuibench.model.imports.task import read_own
from tuibench.present.json_export import dumps
from tuibench.present.reason import reason_words
from tuibench.present.summary import stored_page, summary
from tuibench.store.benchmark_file import summarize

SCHEMA_PATH = Path(__file__).resolve().parents[3] / "tuibench" / "data" / "benchmark.schema.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA_PATH.read_text("utf-8")))
CODED = {"code": "part_failed", "fields": {"failure": {"code": [], "fields": {}}}}
"""A reason in the form of the store."""
WRONG: tuple[Any, ...] = (
    None,
    True,
    "text",
    3,
    2.5,
    [],
    {},
    [1, "x"],
    {"a": None},
    "",
    "ok",
    "agrees",
    "0" * 12,
    -1,
    CODED,
)
DERIVED = {"first", "headline", "conclusions", "again", "model"}
"""Parts of an export that are made anew from the others."""


def later_fields(*places: Any) -> set[tuple[str, str]]:
    """Return class and name of each field in these modules that older exports lack."""
    kinds = [one for place in places for one in vars(place).values() if isinstance(one, type) and is_dataclass(one)]
    return {(kind.__name__, one.name) for kind in kinds for one in fields(kind) if one.metadata.get("later")}


LATER = {name for _, name in later_fields(cell, result, core_profile, spec, checks)}


def benchmark() -> RunResult:
    reason = replace(build.estimate(511.9), low=None, high=None, reason=legacy_text("of all iterations together"))
    cells = (
        build.ok_cell(stopped_by=legacy_text("the maximum"), items_per_sec=reason, executions=(build.execution(),)),
        build.failed_cell({"batch": 3}),
    )
    found = build.comparison(cells[0].key, cells[1].key, "p50", 0.964, 0.95, 0.98, kind=None, why="measured apart")
    session = RunSession("2026-01-02T03:04:05Z", "b", 3, (legacy_text("kernel: 1 → 2"),))
    spec = build.spec(dims=(("seq", (1, 2)),))
    return build.run(*cells, spec=spec, comparisons=(found,), sittings=(session,))


def profile(kind: str) -> RunResult:
    return build.run(spec=build.spec(profile=ProfileSpec(kind)), profile=make_profile(2, kind), schema=2)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each part; of a list of numbers only that of the first."""
    if isinstance(value, list) and all(isinstance(part, (int, float)) for part in value):
        value = value[:1]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield (*path, step)
        yield from places(part, (*path, step))


EXPORTS = {
    name: json.loads(dumps(result))
    for name, result in {"run": benchmark(), "layers": profile("performance"), "loss": profile("loss")}.items()
}
PLACES = [("run", path) for path in places(EXPORTS["run"]["tuibench"]) if path[0] not in DERIVED]
PLACES += [
    (name, path) for name in ("layers", "loss") for path in places(EXPORTS[name]["tuibench"]) if "profile" in path
]


def copied(document: Any) -> Any:
    """Return a deep copy of a JSON document, in a tenth of the time of `copy.deepcopy`."""
    return json.loads(json.dumps(document))


def with_fault(place: tuple[str, tuple[Any, ...]], *wrong: Any) -> Any:
    """Return an export with another value in a place, or without its key."""
    name, path = place
    faulty = copied(EXPORTS[name])
    holder = faulty["tuibench"]
    for step in path[:-1]:
        holder = holder[step]
    if wrong:
        holder[path[-1]] = wrong[0]
    else:
        del holder[path[-1]]
    return faulty


def problem_of(document: Any) -> Reason | None:
    try:
        read_own(copied(document))
    except InvalidImport as refusal:
        return refusal.reason
    return None


def form_problem(document: Any) -> Reason | None:
    """Return the first value of another type than the result's; a null without a reason is not one of form."""
    own = copied(document["tuibench"])
    try:
        restore(RunResult, own, "tuibench", restore(dict[str, str], own.get("reasons"), "reasons", {}))
    except InvalidImport as refusal:
        return None if refusal.reason.code == "null_without_reason" else refusal.reason
    return None


def check(faulty: Any) -> None:
    """Require the verdict of the schema, and that every accepted document can be listed, shown and exported."""
    problem = problem_of(faulty)
    assert not form_problem(faulty) if VALIDATOR.is_valid(faulty) else problem
    if not problem:
        survives(read_own(copied(faulty)))


def survives(result: RunResult) -> None:
    stored = StoredBenchmark(row(), Metadata(), result)
    assert summary(result) and stored_page(stored, 0.0, figures=80) and json.dumps(summarize(result))
    again = json.loads(dumps(result))
    assert VALIDATOR.is_valid(again) and not problem_of(again)


@given(st.sampled_from(PLACES), st.sampled_from(WRONG))
def test_wrong_value_is_refused_where_the_schema_refuses_it(place: tuple[str, tuple[Any, ...]], wrong: Any) -> None:
    check(with_fault(place, wrong))


def test_missing_value_is_refused_where_the_schema_requires_it() -> None:
    named = [place for place in PLACES if isinstance(place[1][-1], str) and place[1][-1] not in LATER]
    missing = {place: with_fault(place) for place in named}
    accepted = {place: faulty for place, faulty in missing.items() if not problem_of(faulty)}
    assert [place for place, faulty in accepted.items() if not VALIDATOR.is_valid(faulty)] == []
    assert len(accepted) < len(named) / 10


def place_of(path: tuple[Any, ...]) -> str:
    return "tuibench" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def no_text(path: tuple[Any, ...]) -> Reason:
    return because("value_of_other_type", place=place_of(path), expected="text", given=None, type="object")


REASONS = [
    ("warnings", 0),
    ("sittings", 0, "mixed", 0),
    ("cells", 0, "stopped_by"),
    ("cells", 0, "grade", "cause"),
    ("cells", 0, "items_per_sec", "reason"),
    ("comparisons", 0, "why_no_verdict"),
]


@pytest.mark.parametrize("path", REASONS, ids=str)
def test_reason_is_a_sentence_never_a_code(path: tuple[Any, ...]) -> None:
    for coded in (CODED, {"code": "told", "fields": {"text": "x"}}):
        assert problem_of(with_fault(("run", path), coded)) == no_text(path)
    check(with_fault(("run", path), ""))
    check(with_fault(("run", path), None))


def test_verdict_in_the_form_of_the_store_is_refused() -> None:
    verdict = {"kind": None, "ratio": 1.0, "reasons": [CODED]}
    place = ("run", ("comparisons", 0, "verdict"))
    assert problem_of(with_fault(place, verdict)) == no_text(place[1])


def test_fields_that_came_later_may_be_missing() -> None:
    older = copied(EXPORTS["run"])
    names = {name for kind, name in later_fields(checks) if kind == "ExportedComparison"}
    assert len(names) == 6
    for name in names:
        del older["tuibench"]["comparisons"][0][name]
    assert problem_of(older) is None
    survives(read_own(older))


def test_later_fields_of_profiles_are_those_that_0_1_0_lacked() -> None:
    assert later_fields(core_profile, spec) == {
        ("BenchmarkSpec", "options"), ("ProfileSpec", "fresh_roofs"), ("CostProfile", "bound"),
        ("LayerTime", "roof_reason"), ("LossProfile", "data_sha256"), ("Roofline", "grade"), ("WhatIf", "around"),
        ("PerformanceProfile", "pruned"), ("ZeroEffect", "grade"), ("ZeroEffect", "measured_utc"),
        ("PrunedPoint", "operator"), ("PrunedPoint", "layer"), ("PrunedPoint", "part_ms"), ("Noise", "others_ns"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "wrong", "words"),
    [
        (("cells",), {}, "is an object, not a list"),
        (("cells", 0, "items"), True, "is true, not a whole number"),
        (("cells", 0, "status"), "\x1b[31m", "is '\\e[31m', none of ok, failed, partial, skipped"),
        (("cells", 0, "grade", "letter"), "E", "is 'E', none of A, B, C, D"),
        (("cells", 0, "grade", "cause"), None, "is null, not a text"),
        (("cells", 0, "key"), "0" * 12 + "\n", "is '000000000000\\n', which does not have the right form"),
        (("cells", 0, "executions", 0, "series", 0), [1, 2], "has 2 entries, not 3"),
        (("cells", 0, "executions", 0, "series", 0), [1, 2, "x"], "[2] is 'x', not a number"),
        (("spec", "dims", 0, 1), 3, "is 3, not a list"),
    ],
)
def test_problem_names_its_place(path: tuple[Any, ...], wrong: Any, words: str) -> None:
    place = place_of(path)
    assert reason_words(problem_of(with_fault(("run", path), wrong))).replace(f"{place} ", place) == f"{place}{words}"


def test_keys_of_newer_writers_are_ignored() -> None:
    export = EXPORTS["run"]
    assert problem_of({**export, "mood": "good", "tuibench": {**export["tuibench"], "weather": []}}) is None

"""The store recorded with 0.1.0 still yields every fact that its readers printed then.

The store, its answers and how both were made: tests/fixtures/store_0_1/make.py. Sentences may change, facts may not:
numbers, ids, kinds, states, keys, names and commands are compared byte for byte. New keys are welcome, lost ones not.
A failure here is mended in the code; the recorded answers are never made anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.store_0_1.reader import HOSTS, VARIANTS, call, read, recorded_answers, unpack

_ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
_WORD = re.compile(r"[a-z]+")
_VERBATIM = frozenset({"again", "description", "engine", "foreign", "metric", "name", "names", "op"})
"""Keys whose values are facts although they have spaces."""
WORDS = "<words>"
LOST = "<lost>"

Facts = dict[tuple[str | int, ...], Any]


def facts_of(text: str, other: str) -> Facts:
    """Return the value at each place of a JSON text; for other text the ids in it.

    Members of objects that are the same in the other text are left out: nine tenths of all.
    """
    document = _parse(text)
    if document is None:
        return {("ids", number): one for number, one in enumerate(_ULID.findall(text))}
    return dict(_walk(document, _parse(other), ()))


def _parse(text: str) -> Any:
    """Return a JSON document with each number as its bytes: 1 and 1.0 differ; None for other text."""
    try:
        return json.loads(text, parse_int=str.encode, parse_float=str.encode)
    except ValueError:
        return None


def _walk(value: Any, other: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if place[-1:] == ("state",) and "versions" in place:
        # The models of the recording are not kept, so the state of their files is irrelevant.
        return
    if isinstance(value, dict):
        yield place, "<object>"
        others = other if isinstance(other, dict) else {}
        for name, each in value.items():
            if name not in others or others[name] != each:
                yield from _walk(each, others.get(name), (*place, name))
    elif isinstance(value, list):
        masked = [_masked(each, place) for each in value]
        if value and all(each == WORDS for each in masked):
            yield place, WORDS
            return
        yield place, f"<list of {len(value)}>"
        opposites = other if isinstance(other, list) else []
        for number, (each, opposite) in enumerate(zip_longest(value, opposites[: len(value)])):
            if each != opposite or number >= len(opposites):
                yield from _walk(each, opposite, (*place, number))
    else:
        yield place, f"{type(value).__name__} {_masked(value, place)}"


def _masked(value: Any, place: tuple[str | int, ...]) -> Any:
    """Return the value, or WORDS for a sentence; text written by the user is not a sentence."""
    keys = [each for each in place if isinstance(each, str)]
    own_note = keys[-1:] == ["note"] and "cells" not in keys
    if not isinstance(value, str) or own_note or (keys and keys[-1] in _VERBATIM):
        return value
    return WORDS if " " in value and len(_WORD.findall(value)) >= 2 else value


def _without_new_keys(before: str, now: str) -> str:
    """Return the answer without bindings of keys that the recorded version did not have; those are no loss."""
    old, new = _parse(before), _parse(now)
    if not (isinstance(old, dict) and isinstance(new, dict) and isinstance(old.get("keys"), list)):
        return now
    known = {one["id"] for one in old["keys"]}
    document = json.loads(now)
    return json.dumps(document | {"keys": [one for one in document["keys"] if one["id"] in known]})


def lost(before: str, now: str) -> dict[tuple[str | int, ...], tuple[Any, Any]]:
    """Return the facts that are no longer printed, with their replacements."""
    if before == now:
        return {}
    now = _without_new_keys(before, now)
    facts, found = facts_of(before, now), facts_of(now, before)
    return {
        place: (value, found.get(place, LOST))
        for place, value in facts.items()
        # New entries in an empty list, such as a damage warning, are no loss.
        if found.get(place) != value and not (value == "<list of 0>" and place in found)
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_recorded_store_prints_the_recorded_facts(variant: str, tmp_path: Path) -> None:
    recorded = recorded_answers()[variant]
    now = read(variant, tmp_path / "place")
    assert list(now) == sorted(recorded)
    codes = {command: (answer["code"], now[command]["code"]) for command, answer in recorded.items()}
    # A command that failed on a damaged store may succeed now; the reverse is a loss.
    assert {command: pair for command, pair in codes.items() if pair[1] not in (pair[0], 0)} == {}
    missing = {
        command: found for command, answer in recorded.items() if (found := lost(answer["out"], now[command]["out"]))
    }
    assert missing == {}


def test_reading_as_another_host_lists_every_record() -> None:
    answers = recorded_answers()
    lists = {
        json.dumps(
            sorted(row["id"] for row in json.loads(answers[variant]["000 list --all --json"]["out"])["benchmarks"])
        )
        for variant in ("healthy", "on-another-host", "on-an-unknown-host")
    }
    assert len(lists) == 1


def test_killed_run_is_saved_with_every_recorded_execution(tmp_path: Path) -> None:
    home = unpack(tmp_path)
    names: dict[str, str] = json.loads((tmp_path / "names.json").read_text(encoding="utf-8"))
    (run,) = (one for one, name in names.items() if name == "run killed: broken off")
    export = ("export", run, "-x", "-")
    answers = call([export, ("resume", run, "--finish"), export], home, HOSTS[0])
    before, resumed, after = answers.values()
    assert resumed["code"] in (0, 1), resumed["err"]
    assert _executions(before["out"]) == _executions(after["out"])
    assert _executions(before["out"])


def _executions(text: str) -> list[Any]:
    return [execution for cell in json.loads(text)["tuibench"]["cells"] for execution in cell["executions"]]


def test_changed_fact_is_found_and_changed_sentence_is_not() -> None:
    before = '{"id": "a1", "n": 1, "cause": "others ran meanwhile", "all": [{"k": 2.0}]}'
    assert lost(before, before.replace("others ran meanwhile", "other processes were busy")) == {}
    assert lost(before, before.replace("{", '{"new": 3, ', 1)) == {}
    assert list(lost(before, before.replace("2.0", "2"))) == [("all", 0, "k")]
    assert list(lost(before, before.replace('"n": 1', '"n": "1"'))) == [("n",)]
    assert list(lost(before, before.replace('"n": 1, ', ""))) == [("n",)]
    assert list(lost(before, before.replace("a1", "a2"))) == [("id",)]

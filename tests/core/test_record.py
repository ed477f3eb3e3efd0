from __future__ import annotations

import gc
import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tuibench.core.reason import Reason
from tuibench.core.record import LEAST, MOST_NESTED, from_plain, pack, to_compact, to_plain, unpack


@dataclass(frozen=True)
class Leaf:
    weight: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Branch:
    """Every form of a field that a record may have, itself among them."""

    leaf: Leaf
    maybe: Leaf | None = None
    either: int | str = 0
    leaves: tuple[Leaf, ...] = ()
    pair: tuple[int, Leaf] = (0, Leaf(0.0))
    by_name: dict[str, Leaf] = field(default_factory=dict)
    anything: dict[str, Any] = field(default_factory=dict)
    below: tuple[Branch, ...] = ()


WHOLE = Branch(
    Leaf(1.5, ("a", "b")),
    Leaf(2.0),
    "word",
    (Leaf(3.0), Leaf(4.0)),
    (7, Leaf(5.0)),
    {"x": Leaf(6.0)},
    {"y": [1, None]},
    (Branch(Leaf(8.0)),),
)


def test_plain_record_is_built_again_equal() -> None:
    assert from_plain(Branch, json.loads(json.dumps(to_plain(WHOLE)))) == WHOLE


def test_unknown_fields_are_ignored_and_missing_ones_have_defaults() -> None:
    assert from_plain(Branch, {"leaf": {"weight": 1.0, "colour": "green"}, "news": 1}) == Branch(Leaf(1.0))


def test_integer_becomes_a_float_only_in_a_float_field() -> None:
    built = from_plain(Branch, {"leaf": {"weight": 3}, "either": 3})
    assert (type(built.leaf.weight), type(built.either)) == (float, int)


def test_none_is_kept_in_an_optional_field() -> None:
    assert from_plain(Branch, {"leaf": {"weight": 1.0}, "maybe": None, "either": None}).maybe is None


def test_dict_field_is_a_copy() -> None:
    data: dict[str, Any] = {"leaf": {"weight": 1.0}, "anything": {"a": 1}}
    from_plain(Branch, data).anything["a"] = 2
    assert data["anything"] == {"a": 1}


@pytest.mark.parametrize("row", [[1], [1, {"weight": 1.0}, 2]])
def test_tuple_of_another_length_is_an_error(row: list[Any]) -> None:
    with pytest.raises(ValueError, match="zip"):
        from_plain(Branch, {"leaf": {"weight": 1.0}, "pair": row})


def test_missing_required_field_is_an_error() -> None:
    with pytest.raises(TypeError):
        from_plain(Leaf, {})


MANY = 3000


def test_long_tuples_are_packed_at_any_depth_and_built_again() -> None:
    leaves = tuple(Leaf(n / 7, ("name", str(n))) for n in range(MANY))
    whole = replace(WHOLE, below=(WHOLE,) * LEAST, leaves=leaves)
    compact = json.loads(json.dumps(to_compact(whole)))
    assert from_plain(Branch, compact) == whole == from_plain(Branch, json.loads(json.dumps(to_plain(whole))))
    assert compact["leaves"].keys() == {"columns", "rows", "blocks"} == compact["below"].keys()
    assert len(json.dumps(compact["leaves"])) < len(json.dumps(to_plain(whole.leaves))) / 3


def test_short_tuples_and_other_values_are_not_packed() -> None:
    short = Branch(Leaf(1.0, ("a",) * MANY), leaves=(Leaf(2.0),) * (LEAST - 1), anything={"x": list(range(MANY))})
    assert to_compact(short) == to_plain(short)


def test_packed_rows_of_other_versions_are_built_like_single_ones() -> None:
    def built(columns: dict[str, list[Any]]) -> Branch:
        packed = pack(tuple(columns), tuple(columns.values()))
        return from_plain(Branch, {"leaf": {"weight": 1.0}, "below": packed})

    leaves = [{"weight": n} for n in range(3)]
    found = built({"colour": ["red"] * 3, "leaf": leaves, "either": [1, 2, 3]})
    assert found.below == tuple(Branch(Leaf(float(n)), either=n + 1) for n in range(3))
    assert found.below[0].by_name is not found.below[1].by_name
    with pytest.raises(KeyError, match="leaf"):
        built({"either": [1, 2]})


def test_collector_pauses_while_many_rows_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[bool] = []

    def watched(found: Any) -> Any:
        for block in unpack(found):
            yield block
            rests.append(not gc.isenabled())

    monkeypatch.setattr("tuibench.core.record.unpack", watched)
    packed = pack(("leaf",), [[{"weight": 1.0}] * MANY])
    assert len(from_plain(Branch, {"leaf": {"weight": 1.0}, "below": packed}).below) == MANY
    assert rests == [True, True] and gc.isenabled()


def nested_reason(levels: int) -> dict[str, Any]:
    inner = {} if levels == 1 else {"failure": nested_reason(levels - 1)}
    return {"code": "part_failed", "fields": inner}


@pytest.mark.parametrize(
    "plain",
    [
        {}, {"code": "failed"}, {"fields": {}}, {"code": [], "fields": {}}, {"code": 1, "fields": {}},
        {"code": "failed", "fields": []}, {"code": "failed", "fields": {}, "more": 1}, 3, [],
        {"code": "failed", "fields": {"why": {"a": 1}}}, {"code": "several", "fields": {"reasons": [{}]}},
        {"code": "several", "fields": {"reasons": [[]]}}, nested_reason(MOST_NESTED + 1),
    ],
)  # fmt: skip
def test_reason_of_another_form_is_an_error(plain: Any) -> None:
    with pytest.raises(ValueError, match="reason"):
        from_plain(Reason, plain)


def test_deepest_reason_is_built() -> None:
    assert to_plain(from_plain(Reason, nested_reason(MOST_NESTED))) == nested_reason(MOST_NESTED)

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tuibench.core.record import from_plain, to_plain


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


def test_what_was_made_plain_is_built_again() -> None:
    assert from_plain(Branch, json.loads(json.dumps(to_plain(WHOLE)))) == WHOLE


def test_what_newer_writers_know_is_ignored_and_what_older_ones_did_not_has_its_default() -> None:
    assert from_plain(Branch, {"leaf": {"weight": 1.0, "colour": "green"}, "news": 1}) == Branch(Leaf(1.0))


def test_a_whole_number_is_a_float_where_one_is_meant_and_nowhere_else() -> None:
    built = from_plain(Branch, {"leaf": {"weight": 3}, "either": 3})
    assert (type(built.leaf.weight), type(built.either)) == (float, int)


def test_none_is_none_where_it_may_be() -> None:
    assert from_plain(Branch, {"leaf": {"weight": 1.0}, "maybe": None, "either": None}).maybe is None


def test_a_dict_is_a_copy() -> None:
    data: dict[str, Any] = {"leaf": {"weight": 1.0}, "anything": {"a": 1}}
    from_plain(Branch, data).anything["a"] = 2
    assert data["anything"] == {"a": 1}


@pytest.mark.parametrize("row", [[1], [1, {"weight": 1.0}, 2]])
def test_a_row_of_another_length_is_an_error(row: list[Any]) -> None:
    with pytest.raises(ValueError, match="zip"):
        from_plain(Branch, {"leaf": {"weight": 1.0}, "pair": row})


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(TypeError):
        from_plain(Leaf, {})

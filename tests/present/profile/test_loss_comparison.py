"""Two loss profiles: only equal quantities have a difference; both profiles are always listed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.present.profile.sample_data import make_loss
from tuibench.core.profile import LEVELS, LossProfile
from tuibench.core.profile_facts import describe_data
from tuibench.core.reason import Reason
from tuibench.present.profile.comparison import compare_loss


def with_db(loss: LossProfile, place: int, db: float | None, **changes: Any) -> LossProfile:
    """Return the profile with another figure of one layer."""
    points = tuple(replace(point, sqnr_db=db, **changes) for point in loss.layers[place].points)
    layers = list(loss.layers)
    layers[place] = replace(layers[place], points=points)
    return replace(loss, layers=tuple(layers))


def test_loss_profiles_match_by_node_sorted_by_change() -> None:
    old, new = make_loss(), with_db(make_loss(), 2, 3.0)
    changed = new.layers[2]
    found = compare_loss(old, new, (Reason("told", {"text": "kernel differs"}),))
    assert found.pairs[0].id == changed.id and found.words == ("kernel differs",) and not found.unlike
    assert found.pairs[0].delta == pytest.approx(10 ** (-3 / 20) - 10 ** (-44 / 20))
    assert [pair.id for pair in found.pairs[1:]] == [each.id for each in old.layers if each.id != changed.id]
    back = compare_loss(new, old)
    assert back.pairs[0].id == changed.id and back.pairs[0].delta == -(found.pairs[0].delta or 0.0)
    other = compare_loss(old, make_loss(24))
    assert len(other.pairs) == 14 and other.pairs[-1].old is None and other.pairs[-1].delta is None
    assert other.words == ("models: 7 of 14 layers with weights are in both",)


def test_harm_in_both_has_no_difference_and_in_one_the_greatest() -> None:
    one = with_db(with_db(make_loss(), 1, None, reason="nan", harm=True), 2, 3.0)
    assert {pair.delta for pair in compare_loss(one, one).pairs} == {0.0}
    first, second, *_ = compare_loss(make_loss(), one).pairs
    assert (first.id, first.delta) == (one.layers[1].id, math.inf) and second.id == one.layers[2].id


@pytest.mark.parametrize(
    ("changes", "words", "advice"),
    [
        ({"kind": "approximated", "data": "", "samples": 0}, "kind measured / approximated", "--approximate"),
        ({"samples": 8, "data": "8 samples from a.npz"}, "samples 2 / 8", "--samples"),
        (
            {"data": "2 samples from a.npz"},
            "data 2 samples of synthetic data (seed 0) / 2 samples from a.npz",
            "--inputs",
        ),
    ],
)
def test_noises_of_different_quantities_are_listed_without_difference(
    changes: dict[str, Any], words: str, advice: str
) -> None:
    old, new = make_loss(), replace(with_db(make_loss(), 2, 3.0), **changes)
    found = compare_loss(old, new)
    assert {pair.delta for pair in found.pairs} == {None} and advice in found.unlike
    assert any(word.startswith(words) for word in found.words)
    assert [pair.id for pair in found.pairs] == [each.id for each in old.layers], "in the order of the model"
    assert all(None not in values for pair in found.pairs for values in pair.noise.values())


def test_files_with_commas_in_names_are_listed_with_full_names() -> None:
    old, new = (replace(make_loss(), data=f"2 samples from a, {name}.npz") for name in ("old", "new"))
    found = compare_loss(old, new)
    assert found.unlike and found.words == ("data 2 samples from a, old.npz / 2 samples from a, new.npz",)


@pytest.mark.parametrize("name", ["calib.npz", "c" * 80])
def test_files_of_one_name_match_only_with_equal_content(name: str) -> None:
    data = describe_data(2, 0, name)
    old = replace(make_loss(), data=data, data_sha256="a" * 64)
    found = compare_loss(old, replace(old, data_sha256="b" * 64))
    assert found.unlike.startswith("they were not measured on the same data")
    assert found.words == (f"data {data} (sha256 aaaaaaaa) / {data} (sha256 bbbbbbbb)",)
    moved = compare_loss(old, replace(old, data=describe_data(2, 0, "moved.npz")))
    assert not moved.unlike and moved.words == (), "what it is called makes no difference"
    assert not compare_loss(old, replace(old, data_sha256="")).unlike, "of an older record the name alone is known"
    assert compare_loss(old, replace(old, data=describe_data(8, 0, name), samples=8)).unlike


def test_different_sizes_have_no_difference() -> None:
    found = compare_loss(make_loss(), make_loss(), (), ("batch 1", "batch 8"))
    assert {pair.delta for pair in found.pairs} == {None} and found.words == ("sizes batch 1 / batch 8",)
    proxies = make_loss(measured=False)
    assert not compare_loss(proxies, proxies, (), ("batch 1", "batch 8")).unlike, "weights have no batch"


def test_levels_of_one_profile_are_listed_without_difference() -> None:
    old, new = make_loss(), replace(with_db(make_loss(), 2, 3.0), levels=("int8", "pruned 0.99"))
    found = compare_loss(old, new)
    assert found.levels == (*LEVELS, "pruned 0.99") and found.shared == ("int8",) and not found.unlike
    assert found.pairs[0].id == new.layers[2].id and found.pairs[0].noise["pruned 0.5"][1] is None


def test_same_name_with_another_operator_is_another_layer() -> None:
    old, new = make_loss(), make_loss()
    others = replace(new, layers=tuple(replace(each, op=f"{each.op}Other") for each in new.layers))
    found = compare_loss(old, others)
    assert len(found.pairs) == 14 and {pair.delta for pair in found.pairs} == {None}
    assert found.unlike == "no layer with weights is in both: these are two models"

"""Changes of layers: exact counts of zeros, and rounding per output channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.model.loss.built import convolutions, layers_of, linear, quantized, random, reader
from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.profile import LEVELS
from tuibench.model.loss.change import change, prune, pruned_share, round_to_int8
from tuibench.model.loss.layers import Weight
from tuibench.worker.bundle import Array


def held(array: Array) -> Weight:
    return Weight(array, array.astype(np.float32), np.zeros(1, array.dtype))


def test_pruning_removes_the_smallest_weights_and_first_ties_first() -> None:
    array = np.array([[1, -3, 1], [-1, 2, 0]], np.float32)
    assert prune(held(array), 0.5).tolist() == [[0, -3, 0], [-1, 2, 0]]
    assert prune(held(array), 0).tolist() == array.tolist()
    assert not prune(held(array), 1).any()
    assert array[0, 0] == 1, "the weight itself stays as it is"


@given(
    arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=7), elements=st.floats(-3, 3, width=32)),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_pruning_makes_at_least_the_requested_zeros(array: Array, one: float, two: float) -> None:
    less, more = sorted((one, two))
    few, many = prune(held(array), less), prune(held(array), more)
    assert np.count_nonzero(few == 0) == max(round(less * array.size), np.count_nonzero(array == 0))
    assert np.count_nonzero(many == 0) >= np.count_nonzero(few == 0)
    kept = many != 0
    assert np.array_equal(many[kept], array[kept])
    if kept.any() and not kept.all():
        assert np.abs(array[~kept]).max() <= np.abs(array[kept]).min()


def test_nan_and_infinite_weights_are_pruned_last() -> None:
    array = np.array([np.nan, 5, -np.inf, 1], np.float32)
    assert prune(held(array), 0.5).tolist()[1::2] == [0, 0]


def test_pruned_int8_weight_equals_its_zero_point() -> None:
    built, real = quantized()
    (layer,) = layers_of(built)
    weight = reader().weight(layer)
    pruned = prune(weight, 0.5)
    assert pruned.dtype == np.int8
    gone = np.argsort(np.abs(real), axis=None, kind="stable")[:4]
    assert pruned.reshape(-1)[gone].tolist() == [[2, 10][i % 2] for i in gone]
    assert np.count_nonzero(pruned != weight.stored) == 2, "two of them were zero before"


def test_int8_has_one_step_for_each_output_channel() -> None:
    matrix = np.array([[127, 0.127], [63.6, 0.0634]], np.float32)
    (layer,) = layers_of(linear(matrix))
    found = round_to_int8(held(matrix), layer)
    assert np.allclose(found, [[127, 0.127], [64, 0.063]], rtol=1e-6)


def test_groups_of_a_transposed_convolution_have_their_own_steps() -> None:
    _, layer, _ = layers_of(convolutions())
    array = random(*layer.shape)
    array[2:] *= 1000
    found = round_to_int8(held(array), layer)
    # Two channels in, three out, in each of two groups: each of six has the step of its largest weight.
    blocks = array.reshape(2, 2, 3)
    step = np.abs(blocks).max(axis=1, keepdims=True) / 127
    assert np.allclose(found.reshape(2, 2, 3), np.rint(blocks / step) * step)
    assert np.abs(found[:2] - array[:2]).max() < 0.02


def test_zero_channels_stay_zero_and_types_are_kept() -> None:
    (layer,) = layers_of(linear(random(4, 3)))
    array = random(4, 3).astype(np.float16)
    array[:, 1] = 0
    found = round_to_int8(held(array), layer)
    assert found.dtype == np.float16 and not found[:, 1].any() and np.isfinite(found).all()


def test_levels_match_those_written_in_records() -> None:
    assert [pruned_share(level) for level in LEVELS] == [0.5, 0.8, 0.9, 0.95, None]
    (layer,) = layers_of(linear(random(4, 5)))
    weight = held(random(4, 5))
    assert [np.count_nonzero(change(weight, layer, level) == 0) for level in LEVELS[:4]] == [10, 16, 18, 19]
    assert np.count_nonzero(change(weight, layer, "int8") == 0) <= 1


@pytest.mark.parametrize("level", ["", "pruned", "pruned x", "pruned 1.1", "pruned nan", "int4", "\x1b[31m"])
def test_unknown_level_is_refused(level: str) -> None:
    with refused(UsageError, "unknown_level", level=level, names=list(LEVELS)):
        pruned_share(level)

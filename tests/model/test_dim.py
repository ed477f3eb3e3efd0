"""Batch, dims, lengths and shapes of a request, combined with the dims the model fixes."""

from __future__ import annotations

import pytest

from tests.model.spec import make_spec
from tests.refusal import refused
from tuibench.core.dims import PointRequest, expand
from tuibench.core.errors import UsageError
from tuibench.core.model import Port
from tuibench.core.roles import Layout
from tuibench.present.error.words import hint_words, message_words

PICTURE = Port("x", "tensor", "float32", ("N", 3, "H", None))
IDS = Port("ids", "tensor", "int64", ("batch", "seq"))
FIXED = Port("x", "tensor", "float32", (1, 3, 8, 8))


def points(*ports: Port, batch_dim: str | None = None, **asked: object) -> list[PointRequest]:
    return expand(make_spec("m.onnx", **asked), 0, Layout(ports, batch_dim))


def test_batch_is_the_first_free_axis_zero_wherever_it_occurs() -> None:
    state = Port("h", "tensor", "float32", (2, "batch", 8))
    assert Layout((state, IDS)).batch == {"batch"}
    point = points(state, IDS, batches=(4,))[0]
    assert point.batch == 4 and point.fixed == {"batch": 4}


@pytest.mark.parametrize(
    ("second", "follows"),
    [(None, True), ("unk__331", True), ("p2o.DynamicDimension.3", True), ("batch_2", True), ("boxes", False)],
)
def test_other_axis_zero_follows_the_batch_unless_named(second: str | None, follows: bool) -> None:
    layout = Layout((IDS, Port("z", "tensor", "float32", (second, 4))))
    assert ((second or "z:0") in layout.batch) is follows


def test_placeholder_on_every_axis_is_not_one_dim() -> None:
    layout = Layout((Port("x", "tensor", "float32", ("dyn", 3, "dyn", "dyn")),))
    assert layout.batch == {"x:0"} and set(layout.places) == {"x:0", "x:2", "x:3"}


def test_name_on_every_axis_can_be_set_as_one_or_by_place() -> None:
    square, row = Port("x", "tensor", "float32", ("N", "N")), Port("y", "tensor", "float32", ("N", 3))
    both = points(square, row, dims=(("N", (4,)),))[0]
    assert both.fixed == {"x:0": 4, "x:1": 4, "y:0": 4} and both.batch == 4
    assert points(square, dims=(("x:1", (7,)),))[0].fixed == {"x:0": 1, "x:1": 7}
    assert Layout((square, row), "N").batch == {"x:0", "x:1", "y:0"}
    with refused(UsageError, "dim_conflict", subject="--dim x:1=5:", other=4):
        points(square, dims=(("N", (4,)), ("x:1", (5,))))
    with refused(UsageError, "batch_conflict", batch=2, other=4):
        points(square, dims=(("N", (4,)),), batches=(2,))
    with pytest.raises(UsageError) as caught:
        points(square, dims=(("M", (4,)),))
    assert hint_words(caught.value) == "its dims: x:0, x:1, N (wherever it is written)"


def test_default_batch_is_one_or_fixed_by_the_model() -> None:
    assert points(IDS)[0].batch == 1
    assert points(Port("x", "tensor", "float32", (3, 2)))[0].batch == 3
    assert points(Port("sr", "tensor", "int64", ()))[0].batch is None
    assert points(Port("x", "tensor", "float32", (0, 2)))[0].batch is None
    assert points()[0].batch is None
    state = Port("hidden_state", "tensor", "float32", (2, 1, 8))
    assert points(state, Port("x", "tensor", "float32", (1, 8)))[0].batch == 1


def test_batch_forbidden_by_the_model_is_a_failed_point() -> None:
    first, second = points(FIXED, batches=(1, 4))
    assert first.problem is None and first.batch == 1
    assert second.problem is not None
    assert message_words(second.problem) == "batch 4: the model allows 1 only: input 'x' is [1, 3, 8, 8]"


@pytest.mark.parametrize(
    ("asked", "flag"),
    [
        ({"dims": (("N", (2, 0)),)}, "--dim N=0:"),
        ({"dims": (("x:0", (0,)),)}, "--dim x:0=0:"),
        ({"shapes": ((0, 3, 8, 8),)}, "-shapes:"),
        ({"batches": (0,)}, "-b 0:"),
        ({"batch_dim": "H", "dims": (("H", (0,)),)}, "--dim H=0:"),
    ],
)
def test_zero_batch_is_refused_with_the_flag_that_set_it(asked: dict[str, object], flag: str) -> None:
    with refused(UsageError, "batch_too_small", subject=flag, batch=0):
        points(PICTURE, **asked)  # type: ignore[arg-type]


def test_zero_batch_from_a_file_is_refused_and_an_empty_constant_is_not() -> None:
    with refused(UsageError, "batch_too_small", subject="--inputs:", batch=0):
        expand(make_spec("m.onnx"), 0, Layout((IDS,)), {"ids": (0, 8)})
    empty = Port("x", "tensor", "float32", (0, 4))
    assert [p.problem for p in expand(make_spec("m.onnx"), 0, Layout((empty,)), {"x": (0, 4)})] == [None]
    assert points(empty, shapes=((0, 4),))[0].batch is None
    assert points(IDS, dims=(("seq", (0,)),))[0].fixed == {"batch": 1, "seq": 0}


def test_points_are_the_product_in_order() -> None:
    found = points(IDS, batches=(1, 2), dims=(("seq", (16, 32)),))
    assert [(p.id, p.fixed["batch"], p.fixed["seq"]) for p in found] == [
        ("m0p0", 1, 16),
        ("m0p1", 1, 32),
        ("m0p2", 2, 16),
        ("m0p3", 2, 32),
    ]


def test_dims_are_set_by_name_and_by_place() -> None:
    point = points(PICTURE, dims=(("x:2", (64,)), ("x:3", (32,))))[0]
    assert point.fixed == {"N": 1, "H": 64, "x:3": 32}
    assert points(PICTURE, dims=(("x:1", (3,)),))[0].fixed == {"N": 1}
    assert points(Port("a:b", "tensor", "float32", (1, None)), dims=(("a:b:1", (5,)),))[0].fixed == {"a:b:1": 5}
    assert points(PICTURE, dims=(("N", (4,)),))[0].batch == 4
    assert points(PICTURE, batch_dim="x:3", batches=(2,))[0].fixed == {"x:3": 2}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"dims": (("depth", (4,)),)}, "no such dim"),
        ({"dims": (("x:9", (4,)),)}, "no such dim"),
        ({"dims": (("x:1", (4,)),)}, "fixes this dim to 3"),
        ({"dims": (("H", (4,)), ("x:2", (5,)))}, "also given as 4"),
        ({"batches": (2,), "dims": (("N", (4,)),)}, "also given as 4"),
        ({"shapes": ((2, 3, 8, 8),), "batches": (4,)}, "also given as 2"),
        ({"shapes": ((1, 4, 8, 8),)}, "fixes it to 3"),
        ({"shapes": ((1, 3, 8),)}, "has 4 dims, but the given shape has 3"),
        ({"shapes": ((1, 3, 8, 8), (1, 2))}, "2 shapes given, but the model has 1 input"),
        ({"batch_dim": "q"}, "no such dim"),
    ],
)
def test_invalid_request_names_the_available_dims(asked: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        points(PICTURE, **asked)  # type: ignore[arg-type]
    assert words in message_words(caught.value)
    if words == "no such dim":
        assert hint_words(caught.value).endswith("N, H, x:3")


def test_shape_applies_by_position_and_a_single_one_by_rank() -> None:
    mask = Port("mask", "tensor", "int64", ("batch", "seq"))
    scalar = Port("rate", "tensor", "float32", ())
    assert points(IDS, mask, scalar, shapes=((2, 64),))[0].fixed == {"batch": 2, "seq": 64}
    assert points(IDS, scalar, shapes=((2, 64), ()))[0].fixed == {"batch": 2, "seq": 64}
    with refused(UsageError, "shape_fits_no_input", shape=[1, 2, 3], dims=3) as caught:
        points(IDS, mask, shapes=((1, 2, 3),))
    assert message_words(caught.value) == "shape [1, 2, 3]: no input has 3 dims"
    assert hint_words(caught.value) == "its inputs: 'ids' [batch, seq], 'mask' [batch, seq]"
    with refused(UsageError, "axis_disagrees", name="mask", axis=1, given=65, dim="seq", expected=64):
        points(IDS, mask, shapes=((2, 64), (2, 65)))


def test_batch_flag_overrides_one_in_shapes_with_a_note() -> None:
    point = points(PICTURE, batches=(16,), shapes=((1, 3, 8, 8),))[0]
    assert point.batch == 16 and "-b 16" in point.notes[0]


def test_open_rank_takes_the_given_shape() -> None:
    point = points(Port("x", "tensor", "float32", None), shapes=((2, 5, 7),))[0]
    assert point.shapes == {"x": (2, 5, 7)} and point.batch == 2


def test_seq_len_sets_new_tokens_and_not_the_past() -> None:
    past = Port("past_key_values.0.key", "tensor", "float32", ("batch", 4, "past_seq", 8))
    mask = Port("attention_mask", "tensor", "int64", ("batch", "total_seq"))
    assert points(IDS, mask, past, sequence_lengths=(8,))[0].fixed == {"seq": 8, "batch": 1}


def test_seq_len_without_a_free_dim_is_a_failed_point() -> None:
    assert points(PICTURE, sequence_lengths=(8,))[0].problem
    fixed = Port("input_ids", "tensor", "int64", (1, 128))
    good, bad = points(fixed, sequence_lengths=(128, 64))
    assert good.problem is None and bad.problem is not None
    assert message_words(bad.problem) == "-seq_len 64: no free dim for a sequence length (fixed to 128)"


def test_batch_from_data_is_not_reported_as_a_flag() -> None:
    port = Port("x", "tensor", "float32", ("batch", 512))
    with refused(UsageError, "sample_sets_batch", batch=1, items=4) as caught:
        expand(make_spec("m.onnx", batches=(1,)), 0, Layout((port,)), {"x": (4, 512)})
    assert "4 items" in message_words(caught.value) and "-b" in hint_words(caught.value)
    with refused(UsageError, "sample_no_multiple", batch=3, items=4):
        expand(make_spec("m.onnx", batches=(3,)), 0, Layout((port,)), {"x": (4, 512)})

"""Synthetic inputs: seeded, rotating, and with values that real models accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.model.factory import F32, I64, STRING, encoder, model, tensor, weight
from tests.refusal import refused
from tuibench.core.dims import Search
from tuibench.core.errors import ModelError
from tuibench.core.model import Port
from tuibench.core.roles import Layout
from tuibench.model.inputs import Synthesis, Vocabulary, count_distinct, find_vocabulary
from tuibench.model.inspection import input_ports


def synthesis(
    *ports: Port, vocabulary: Vocabulary | None = None, seed: int = 0, batch: int = 2, step: int = 0
) -> Synthesis:
    layout = Layout(ports)
    search = Search(layout, batch, dict.fromkeys(layout.batch, batch))
    candidate = [c for _, c in search.candidates()][step]
    return Synthesis(layout, vocabulary or Vocabulary(), candidate, seed)


def one(port: Port, **made: Any) -> Any:
    return synthesis(port, **made).sample(0)[port.name]


@pytest.mark.parametrize(
    ("dtype", "shape", "low", "high"),
    [
        ("float32", ("b", 3, 8, 8), 0.0, 1.0),
        ("uint8", ("b", 8, 8, 3), 0, 255),
        ("int64", ("b", 300), 0, 1),
        ("float16", ("b", 300), -8, 8),
        ("int8", ("b", 300), 0, 127),
    ],
)
def test_values_follow_type_and_shape(dtype: str, shape: tuple[int | str | None, ...], low: float, high: float) -> None:
    array = one(Port("x", "tensor", dtype, shape))
    assert array.dtype == np.dtype(dtype) and array.shape == (2, *shape[1:])
    assert array.min() >= low and array.max() <= high and len(np.unique(array)) > 1


def test_seed_decides_the_values_and_samples_differ() -> None:
    port = Port("x", "tensor", "float32", ("b", 4))
    samples = [synthesis(port).sample(n)["x"] for n in range(8)]
    assert len({s.tobytes() for s in samples}) == 8
    assert samples[3].tobytes() == synthesis(port).samples(4)[3]["x"].tobytes()
    assert samples[0].tobytes() != synthesis(port, seed=1).sample(0)["x"].tobytes()


def test_samples_of_a_batch_start_one_row_later_in_one_array() -> None:
    ports = Port("x", "tensor", "float32", ("b", 3, 8, 8)), Port("h", "tensor", "float32", (2, "b", 4))
    samples = synthesis(*ports, batch=4).samples(8)
    assert all(feed["x"].shape == (4, 3, 8, 8) for feed in samples)
    assert samples[2]["x"][0].tobytes() == samples[1]["x"][1].tobytes()
    assert len(samples[0]["x"].base) == 11 and samples[0]["x"].base is samples[7]["x"].base
    assert len({feed["h"].tobytes() for feed in samples}) == 8
    assert samples[5]["x"].tobytes() == synthesis(*ports, batch=4).sample(5)["x"].tobytes()
    one = synthesis(*ports, batch=1).samples(8)
    assert [feed["x"][0].tobytes() for feed in one[:4]] == [row.tobytes() for row in samples[0]["x"]]


def test_pictures_have_the_values_of_scaled_bytes() -> None:
    array = one(Port("x", "tensor", "float32", ("b", 3, 64, 64)))
    assert array.dtype == np.float32 and set(np.unique(array * 256)) == set(range(256))


def test_token_ids_stay_inside_the_table_behind_casts_and_reshapes() -> None:
    built = encoder(rows=7)
    vocabulary = find_vocabulary(built, ("ids", "attention_mask"))
    assert vocabulary.limits == {"ids": 7}
    made = synthesis(*input_ports(built.graph), vocabulary=vocabulary, batch=64)
    ids = made.sample(0)["ids"]
    assert ids.dtype == np.int32 and set(np.unique(ids)) == set(range(7))
    assert (made.sample(0)["attention_mask"] == 1).all()
    assert "[0, 7)" in made.fed()[0].how and made.fed()[1].how == "ones"


def test_smallest_table_limits_ids_even_quantized_or_in_a_branch() -> None:
    branch = helper.make_graph([helper.make_node("Gather", ["small", "ids"], ["z"])], "b", [], [tensor("z", F32, None)])
    nodes = [
        helper.make_node("DequantizeLinear", ["packed", "scale"], ["table"]),
        helper.make_node("Gather", ["table", "ids"], ["y"]),
        helper.make_node("If", ["flag"], ["q"], then_branch=branch, else_branch=branch),
    ]
    weights = [
        weight("packed", np.ones((90, 4), np.int8)),
        weight("scale", np.float32(1)),
        weight("small", np.ones((30, 4), np.float32)),
    ]
    built = model(nodes, [tensor("ids", I64, ["b", 8])], [tensor("y", F32, None)], weights)
    assert find_vocabulary(built, ("ids",)).limits == {"ids": 30}


def test_gather_along_the_second_axis_counts_its_columns() -> None:
    node = helper.make_node("Gather", ["w", "ids"], ["y"], axis=1)
    built = model([node], [tensor("ids", I64, [4])], [tensor("y", F32, None)], [weight("w", np.ones((9, 5)))])
    assert find_vocabulary(built, ("ids",)).limits == {"ids": 5}


def with_function(name: str, body: list[Any], calls: list[tuple[str, ...]], rows: tuple[int, ...]) -> Any:
    """Return a model that calls its own function of a table and ids, or of ids alone, for several outputs."""
    nodes = [helper.make_node(name, list(call), [f"y{n}"], domain="own") for n, call in enumerate(calls)]
    weights = [weight(f"w{n}", np.ones((size, 4), np.float32)) for n, size in enumerate(rows)]
    built = model(nodes, [tensor("ids", I64, [4]), tensor("ids2", I64, [4])], [tensor("y0", F32, None)], weights)
    built.opset_import.append(helper.make_opsetid("own", 1))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    built.functions.append(helper.make_function("own", name, ["t", "ids"], ["y"], body, opsets))
    return built


def test_tables_inside_functions_are_found_for_each_call() -> None:
    body = [
        helper.make_node("Cast", ["ids"], ["wide"], to=I64),
        helper.make_node("Identity", ["t"], ["table"]),
        helper.make_node("Gather", ["table", "wide"], ["y"]),
    ]
    built = with_function("Look", body, [("w0", "ids"), ("w1", "ids2")], (9, 5))
    assert find_vocabulary(built, ("ids", "ids2")).limits == {"ids": 9, "ids2": 5}


def test_recursive_function_does_not_hang_the_table_search() -> None:
    again = [helper.make_node("Loop", ["t", "ids"], ["h"], domain="own") for _ in range(2)]
    body = [*again, helper.make_node("Gather", ["t", "ids"], ["y"])]
    assert find_vocabulary(with_function("Loop", body, [("w0", "ids")], (9,)), ("ids",)).limits == {}


def test_category_values_come_from_the_model() -> None:
    encode = helper.make_node("OneHotEncoder", ["s"], ["y"], domain="ai.onnx.ml", cats_strings=["red", "blue"])
    built = model([encode], [tensor("s", STRING, [None, 1])], [tensor("y", F32, None)], ml=True)
    words = one(Port("s", "tensor", "string", (None, 1)), vocabulary=find_vocabulary(built, ("s",)), batch=64)
    assert set(words.ravel().tolist()) == {"red", "blue"}
    assert one(Port("s", "tensor", "string", ("n",))).dtype.kind == "U"


@pytest.mark.parametrize(
    ("node", "weights", "expected"),
    [
        (helper.make_node("MatMul", ["x", "w"], ["y"]), np.ones((37, 5)), 37),
        (helper.make_node("Gemm", ["x", "w"], ["y"], transB=1), np.ones((5, 37)), 37),
        (
            helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", nodes_featureids=[0, 36]),
            None,
            37,
        ),
    ],
)
def test_first_weights_give_the_number_of_features(node: Any, weights: Any, expected: int) -> None:
    held = [] if weights is None else [weight("w", weights.astype(np.float32))]
    built = model([node], [tensor("x", F32, [None, None])], [tensor("y", F32, None)], held, ml=True)
    assert find_vocabulary(built, ("x",)).sizes == {("x", -1): expected}


def test_length_inputs_match_the_length_of_their_neighbour() -> None:
    ports = (
        Port("input_tensor", "tensor", "int64", (1, "input_length")),
        Port("input_lengths", "tensor", "int32", (1,)),
    )
    assert synthesis(*ports).sample(0)["input_lengths"].tolist() == [16]
    two = (
        Port("mel", "tensor", "float32", ("b", 80, "frames")),
        Port("text", "tensor", "int64", ("b", "tokens")),
        Port("text_len", "tensor", "int64", ("b",)),
    )
    made = synthesis(*two)
    assert made.sample(0)["text_len"].tolist() == [made.candidate.shapes["text"][1]] * 2


def test_rates_masks_flags_and_positions_get_valid_values() -> None:
    assert int(one(Port("sr", "tensor", "int64", ()))) == 16000
    assert one(Port("attention_mask", "tensor", "float32", ("b", 4))).tolist() == [[1] * 4] * 2
    assert one(Port("mask", "tensor", "bool", ("b", 4))).all()
    assert one(Port("use_cache", "tensor", "bool", (1,))).tolist() == [True]
    assert len(np.unique(one(Port("flags", "tensor", "bool", ("b", 64))))) == 2
    positions = one(Port("position_ids", "tensor", "int64", ("b", 6)), vocabulary=Vocabulary({"position_ids": 4}))
    assert positions.tolist() == [[0, 1, 2, 3, 0, 1]] * 2


def test_positions_continue_after_the_past() -> None:
    ids = Port("input_ids", "tensor", "int64", (1, "seq"))
    past = Port("past.0", "tensor", "float32", (1, 2, "past_seq", 4))
    feed = synthesis(ids, Port("position_ids", "tensor", "int64", (1, "seq")), past).sample(0)
    assert feed["position_ids"][0].tolist() == list(range(16, 32))


@pytest.mark.parametrize(("dtype", "raw"), [("bfloat16", np.uint16), ("float8e4m3fn", np.uint8), ("int4", np.uint8)])
def test_types_unknown_to_numpy_are_raw_bits(dtype: str, raw: type[Any]) -> None:
    array = one(Port("x", "tensor", dtype, ("b", 50)))
    assert array.dtype == raw
    if dtype == "bfloat16":
        values = (array.astype(np.uint32) << 16).view(np.float32)
        assert np.isfinite(values).all() and -8 < values.min() < 0 < values.max() < 8
    if dtype == "int4":
        assert array.max() < 8


def test_scalars_empty_sequences_maps_and_optionals_are_made() -> None:
    assert one(Port("x", "tensor", "float32", ())).shape == ()
    assert one(Port("x", "tensor", "float32", (0, 4))).shape == (0, 4)
    items = one(Port("x", "sequence", "float32", (2, 3), "tensor"))
    assert [i.shape for i in items] == [(2, 3)] * 2 and items[0].tobytes() != items[1].tobytes()
    mapped = one(Port("x", "map", "string->float32", None, "tensor"))
    assert len(mapped) == 4 and all(isinstance(k, str) and isinstance(v, float) for k, v in mapped.items())
    whole = one(Port("x", "map", "int64->int64", None, "tensor"))
    assert all(isinstance(v, int) for v in whole.values())
    optional = Port("x", "optional", "float32", (2, 3), "tensor")
    assert one(optional) is None and synthesis(optional).fed()[0].how == "absent"
    assert one(optional, step=1).shape == (2, 3)


def test_constant_inputs_share_one_array_in_all_samples() -> None:
    samples = synthesis(Port("mask", "tensor", "int64", (1, 4)), Port("x", "tensor", "float32", (1, 4))).samples(3)
    assert samples[0]["mask"] is samples[2]["mask"] and samples[0]["x"] is not samples[2]["x"]


def test_oversized_input_is_refused_with_its_size_and_the_flag() -> None:
    fixed = synthesis(Port("x", "tensor", "float32", (10**6, 10**6)))
    shape, least = [10**6, 10**6], {"bytes": 4 * 10**12, "free_bytes": 10**10}
    with refused(ModelError, "input_too_large", name="x", dtype="float32", shape=shape, has_batch=False, dims=[]):
        fixed.require_room(10**10)
    with refused(ModelError, "input_too_large", **least):
        fixed.require_room(10**10)
    free = synthesis(Port("x", "tensor", "float32", ("N", 10**6, 10**6)))
    with refused(ModelError, "input_too_large", has_batch=True, dims=[]):
        free.require_room(10**10)
    synthesis(Port("x", "tensor", "float32", (0, 4))).require_room(10**6)
    with refused(ModelError, "input_too_large"):
        synthesis(Port("x", "tensor", "int64", (0, 2**62))).require_room(10**10)


def test_distinct_samples_are_reduced_to_fit_memory() -> None:
    assert count_distinct(8, 1000) == (8, None)
    count, note = count_distinct(8, 100_000_000)
    assert count == 2 and note is not None and note.startswith("2")
    assert count_distinct(8, 10**9)[0] == 1

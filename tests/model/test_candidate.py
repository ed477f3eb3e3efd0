"""Free dims get likely values together, and an engine's error message steers the next guess."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tuibench.core.dims import MAX_TRIALS, Candidate, Search
from tuibench.core.model import Port
from tuibench.core.roles import Layout


def f32(name: str, *shape: int | str | None) -> Port:
    return Port(name, "tensor", "float32", shape)


def i64(name: str, *shape: int | str | None) -> Port:
    return Port(name, "tensor", "int64", shape)


def found(*ports: Port, batch: int | None = 1, fixed: Mapping[str, int] | None = None) -> list[Candidate]:
    layout = Layout(ports)
    known = {**dict.fromkeys(layout.batch, batch or 1), **(fixed or {})}
    return [candidate for _, candidate in Search(layout, batch, known).candidates()]


@pytest.mark.parametrize(
    ("ports", "shapes"),
    [
        ([f32("x", "b", 3, None, None)], [(1, 3, 224, 224)]),
        ([f32("x", "b", "h", "w", 3)], [(1, 224, 224, 3)]),
        ([f32("x", "b", "c", "h", "w")], [(1, 3, 224, 224)]),
        ([f32("x", "b", 3, "d", "h", "w")], [(1, 3, 16, 224, 224)]),
        ([f32("x", "b", 1, "time", 80)], [(1, 1, 16, 80)]),
        ([f32("enc", 1, "input_length", 256)], [(1, 16, 256)]),
        ([f32("audio", "b", "samples")], [(1, 16000)]),
        ([f32("input", None, None), f32("state", 2, None, 128), i64("sr")], [(1, 576), (2, 1, 128), ()]),
        ([i64("input_ids", "b", "s"), i64("attention_mask", "b", "s")], [(1, 16), (1, 16)]),
        ([f32("x", None, None, 4)], [(1, 16, 4)]),
    ],
)
def test_first_guess_uses_likely_shapes(ports: list[Port], shapes: list[tuple[int, ...]]) -> None:
    assert list(found(*ports)[0].shapes.values()) == shapes


def test_model_without_free_dims_has_one_candidate() -> None:
    layout = Layout((f32("x", "b", 4),))
    search = Search(layout, 2, {"b": 2})
    assert not search.has_choice and not search.needs_trial
    assert [dict(c.shapes) for _, c in search.candidates()] == [{"x": (2, 4)}]


def test_text_recognition_strip_is_the_second_guess() -> None:
    shapes = [c.shapes["x"] for c in found(f32("x", "b", 3, None, "w"))]
    assert shapes[:2] == [(1, 3, 224, 224), (1, 3, 48, 320)]


def test_total_length_is_past_plus_new() -> None:
    ports = (i64("input_ids", "b", "seq"), i64("attention_mask", "b", "total_seq"), f32("past.0", "b", 4, "past", 8))
    first = found(*ports)[0]
    assert first.dims == {"seq": 16, "total_seq": 32, "past": 16}
    asked = found(*ports, fixed={"seq": 1, "past": 7})[0]
    assert asked.dims["total_seq"] == 8


def test_dim_written_as_a_sum_is_computed() -> None:
    ports = (i64("ids", "b", "s"), i64("mask", "b", "past_len + 1"), f32("past", "b", 2, "past_len", 8))
    assert found(*ports)[0].dims["past_len + 1"] == 17
    with_unknown = found(i64("ids", "b", "s"), i64("q", "b", "s + s"))[0]
    assert with_unknown.dims["s + s"] == 32


def test_second_name_at_axis_zero_is_tried_alone_then_with_the_batch() -> None:
    candidates = found(f32("x", "n", 4), f32("z", "boxes", 4), batch=4)
    assert [c.shapes["z"][0] for c in candidates[:2]] == [1, 4]
    assert candidates[1].tied == ("boxes",) and "boxes" not in candidates[1].dims


def test_batch_dim_of_a_state_follows_the_batch() -> None:
    first = found(f32("x", "b", 8), f32("h", 2, None, 16), batch=4)[0]
    assert first.shapes["h"] == (2, 4, 16) and first.tied == ("h:1",)


def test_candidates_are_bounded_and_distinct() -> None:
    ports = tuple(f32(f"x{n}", 1, f"p{n}", f"q{n}") for n in range(12))
    candidates = found(*ports)
    assert len(candidates) == MAX_TRIALS == len({tuple(c.shapes.items()) for c in candidates})


def test_weights_and_error_messages_steer_the_guesses() -> None:
    layout = Layout((f32("x", "b", None),))
    sized = Search(layout, 1, {"b": 1}, sizes={("x", -1): 37})
    assert next(sized.candidates())[1].shapes["x"] == (1, 37)
    told = Search(layout, 1, {"b": 1})
    trials = told.candidates()
    assert next(trials)[1].shapes["x"] == (1, 16)
    told.hint("Non-zero status: LeftShape: {1,16}, RightShape: {41,5} at file.cc:99 v1.2")
    assert (1, 41) in [next(trials)[1].shapes["x"] for _ in range(4)]


def test_kernel_sizes_in_an_error_do_not_steer_a_picture() -> None:
    search = Search(Layout((f32("x", "b", 3, None, None),)), 1, {"b": 1})
    trials = search.candidates()
    next(trials)
    search.hint("dims of 1 and 4")
    assert next(trials)[1].shapes["x"] == (1, 3, 48, 320)


def test_search_starts_with_the_steps_that_worked_before() -> None:
    search = Search(Layout((f32("x", "b", 3, None, None),)), 1, {"b": 1})
    steps, second = list(search.candidates())[1]
    assert next(search.candidates(steps))[1] == second


def test_open_rank_is_guessed_with_the_batch() -> None:
    shapes = [c.shapes["x"] for c in found(Port("x", "tensor", "float32", None), batch=4)]
    assert shapes[:2] == [(4, 16), (4, 3, 224, 224)] and () in shapes


def test_optional_input_is_absent_first() -> None:
    assert [c.present for c in found(Port("x", "optional", "float32", (1, 2), "tensor"), batch=None)] == [False, True]

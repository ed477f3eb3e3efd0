from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.settings.axis import MOST_VALUES, Axis, parse_integers, parse_names
from tuibench.core.text import show
from tuibench.present.error.words import message_words

CORES = Axis("-ncores", 1, 12, of_cores=True, node=6)
LENGTHS = Axis("-seq_len", 1, None)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", (4,)),
        ("1,2,max", (1, 2, 12)),
        ("3-6", (3, 4, 5, 6)),
        ("pow2", (1, 2, 4, 8, 12)),
        ("pow2:8", (1, 2, 4, 8)),
        ("pow2:6", (1, 2, 4, 6)),
        ("node", (6,)),
        (" MAX , 1", (12, 1)),
        ("1-2,4-5", (1, 2, 4, 5)),
    ],
)
def test_lists_are_expanded_in_the_order_given(text: str, values: tuple[int, ...]) -> None:
    assert parse_integers(text, CORES) == (values, ())


def test_pow2_ends_once_where_the_end_is_a_power_of_two() -> None:
    assert parse_integers("pow2", Axis("-ncores", 1, 8))[0] == (1, 2, 4, 8)


def test_repeats_are_dropped_and_said() -> None:
    values, notes = parse_integers("1,12,max,1", CORES)
    assert values == (1, 12)
    assert notes == ("-ncores: 1, 12 given more than once, measured once",)


@pytest.mark.parametrize(
    "text", ["0", "-1", "13", "1-13", "all", "", "1,", "1,,2", "2.5", "1e3", "١", "1_0", "0x1", "pow2:0", "pow2:x", "-"]
)
def test_bad_tokens_name_the_allowed_range(text: str) -> None:
    with refused(UsageError, "not_in_list_range", subject="-ncores", low=1, high=12, of_cores=True):
        parse_integers(text, CORES)


def test_a_range_that_runs_backwards_shows_how_it_is_written() -> None:
    with refused(UsageError, "range_backwards", given="8-1", first=1, last=8):
        parse_integers("8-1", CORES)


@pytest.mark.parametrize("text", ["max", "pow2", "node"])
def test_ends_mean_nothing_on_an_axis_without_one(text: str) -> None:
    with refused(UsageError, "not_in_list_range", low=1, high=2147483647, forms=["1,2,4", "1-4", "pow2:64"]):
        parse_integers(text, LENGTHS)


def test_node_is_for_cores_only() -> None:
    with refused(UsageError, "not_in_list_range", forms=["1,2,4", "1-4", "max", "pow2", "pow2:64"]):
        parse_integers("node", Axis("-b", 1, 64))


def test_an_endless_range_ends_with_a_message_instead_of_the_memory() -> None:
    with refused(UsageError, "list_too_long", most=MOST_VALUES):
        parse_integers("1-2000000000", LENGTHS)


@given(st.text(max_size=12))
def test_any_text_gives_values_in_range_or_a_usage_error(text: str) -> None:
    try:
        values, _ = parse_integers(text, CORES)
    except UsageError as error:
        message = message_words(error)
        assert show(message, 9999) == message
    else:
        assert values and all(1 <= value <= 12 for value in values)


def test_names_are_lowered_kept_in_order_and_checked() -> None:
    assert parse_names("Sync,async,SYNC", "-s", ("sync", "async")) == (
        ("sync", "async"),
        ("-s: sync given more than once, measured once",),
    )
    with refused(UsageError, "not_one_of", subject="-s", allowed=["sync", "async"], given="fast", is_list=True):
        parse_names("sync,fast", "-s", ("sync", "async"))
    for bad in ("", "a,,b", "a b", "\x1b[31m", "../x"):
        with refused(UsageError, "not_names", subject="-e", given=bad):
            parse_names(bad, "-e")

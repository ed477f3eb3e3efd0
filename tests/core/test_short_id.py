from __future__ import annotations

import pytest

from tests.refusal import refused
from tuibench.core.errors import UnknownId
from tuibench.core.ids import resolve, short_id, short_ids
from tuibench.present.error.words import error_line, hint_words, message_words

NEW = "01M3250VZ80009WDVSQ5ZMAB12"
MIDDLE = "01M3250VZ7000RKVQKEBZ9CD12"
OLD = "01M1000000000RKVQKEBZ9CDEF"
IDS = (NEW, MIDDLE, OLD)
RERUN = {NEW: OLD}


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("ab12", NEW),
        ("AB12", NEW),
        ("b12", NEW),
        ("cd12", MIDDLE),
        ("cdef", OLD),
        ("01m1", OLD),
        ("01m3250vz8", NEW),
        (NEW.lower(), NEW),
        ("last", NEW),
        ("LAST", NEW),
        ("last~0", NEW),
        ("last~2", OLD),
        ("ab12~", OLD),
        ("last~", OLD),
        (" cdef ", OLD),
        ("abi2", NEW),
    ],
)
def test_token_of_one_benchmark_resolves_to_it(token: str, expected: str) -> None:
    assert resolve(token, IDS, RERUN) == expected


def test_ambiguous_token_lists_its_benchmarks() -> None:
    with refused(UnknownId, "id_ambiguous", noun="benchmark", given="12", ids=[NEW, MIDDLE], count=2) as caught:
        resolve("12", IDS, RERUN)
    assert message_words(caught.value) == "12 matches 2 benchmarks"
    assert hint_words(caught.value) == "type more characters: ab12, cd12"


def test_short_id_on_screen_wins_over_a_prefix() -> None:
    ending = "01M1000000000RKVQKEBZ901M3"
    assert resolve("01m3", (NEW, ending), {}) == ending


@pytest.mark.parametrize("token", ["zzzz", "", "last~3", "cd12~", "\x1b]0;x\x07", "~"])
def test_unknown_token_is_refused_with_a_hint(token: str) -> None:
    with pytest.raises(UnknownId) as caught:
        resolve(token, IDS, RERUN)
    assert hint_words(caught.value)
    assert "\x1b" not in message_words(caught.value)


def test_last_without_a_run_is_refused() -> None:
    with refused(UnknownId, "id_past_oldest", noun="run", given="last", count=0) as caught:
        resolve("last", (), {}, noun="run")
    assert error_line(caught.value) == "last: there is no run yet"


def test_hint_lists_the_newest_ids_and_counts_the_others() -> None:
    many = tuple(f"{NEW[:-4]}ZZ{number}" for number in range(10, 20))
    with refused(UnknownId, "id_unknown", given="q", ids=list(many[:8]), count=10) as caught:
        resolve("q", many, {})
    assert hint_words(caught.value).endswith("zz16, zz17 and 2 more")


def test_short_ids_have_four_characters_unless_shared() -> None:
    shared = "01M2000000000RKVQKEBZXCDEF"
    assert short_id(NEW) == "ab12"
    assert short_ids((*IDS, shared)) == {NEW: "ab12", MIDDLE: "cd12", OLD: "z9cdef"[1:], shared: "xcdef"}

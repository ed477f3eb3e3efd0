from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuibench.core.text import cut, cut_apart, cut_middle, cut_start, pad, width_of, wrap


def test_wide_and_joined_characters_take_their_columns() -> None:
    assert width_of("abc") == 3
    assert width_of("日本") == 4
    assert width_of("e\u0301") == 1


@given(st.text(max_size=30), st.integers(1, 20))
def test_cut_text_never_exceeds_its_room(text: str, room: int) -> None:
    assert width_of(cut(text, room)) <= room
    assert width_of(cut_start(text, room)) <= room


def test_fit_end_keeps_the_end_of_a_text() -> None:
    assert cut("name=32", 5) == "name…"
    assert cut_start("name=32", 5) == "…e=32"
    assert cut("name", 4) == "name"


def test_ellipsis_may_be_an_ascii_character() -> None:
    assert cut("name=32", 5, "~") == "name~" and cut("name", 4, "~") == "name"


def test_lines_are_wrapped_by_columns() -> None:
    assert wrap("no layer has a value", 8) == ["no layer", "has a", "value"]
    assert wrap("値がありません 層", 7) == ["値があ", "りませ", "ん 層"]
    assert wrap("a longest b", 4) == ["a", "long", "est", "b"]
    assert wrap("a number 5\u00a0% and more", 11, "  ") == ["a number", "  5\u00a0% and", "  more"]
    assert wrap("abcdef", 6, "  ") == ["abcdef"] and wrap("abcdefghi", 6, "  ") == ["abcd", "  efgh", "  i"]
    assert wrap("  ", 4) == [] and wrap("日x", 1) == ["日", "x"]


@given(st.text(st.sampled_from("ab 宽é\u0301"), max_size=30), st.integers(2, 12))
def test_wrapped_lines_fit_and_lose_only_blanks(text: str, room: int) -> None:
    lines = wrap(text, room)
    assert all(line and width_of(line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def test_padding_counts_columns() -> None:
    assert pad("日", 4) == "日  " and pad("日", 4, right=True) == "  日"
    assert pad("long", 2) == "long"


def test_fit_middle_keeps_both_ends() -> None:
    assert cut_middle("encoder.layer.3.weight", 11) == "encod…eight"
    assert cut_middle("encoder", 7) == "encoder" and cut_middle("encoder", 6) == "en…der"
    assert [cut_middle("encoder", room) for room in (0, 1, 2, 3)] == ["", "…", "e…", "e…r"]


@given(st.text(st.sampled_from("abc.…宽é\u0301"), max_size=30), st.integers(0, 20))
def test_text_cut_in_its_middle_never_exceeds_its_room(text: str, room: int) -> None:
    cut = cut_middle(text, room)
    assert width_of(cut) <= room and (cut == text or room == 0 or "…" in cut)


def test_names_cut_to_the_same_text_keep_their_difference() -> None:
    names = [f"stage1.0.conv{n}.weight_quantized" for n in (1, 2)] + ["stem.weight_quantized", "stage1.0.conv1.bias"]
    found = cut_apart(names, 20)
    assert cut_middle(names[0], 20) == cut_middle(names[1], 20) == "stage1.0.…_quantized"
    assert found[:2] == ["…conv1.we…_quantized", "…conv2.we…_quantized"]
    assert found[2:] == [cut_middle(name, 20) for name in names[2:]] and all(width_of(one) <= 20 for one in found)
    assert cut_apart(["a" * 30] * 2, 8) == [cut_middle("a" * 30, 8)] * 2, "the same name twice stays the same"
    far = [f"{'block.' * 9}{a}.{'x' * 30}.{b}.{'weight' * 9}" for a in "ab" for b in "cd"]
    assert len(set(cut_apart(far, 24))) > 1

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.keys import Keys, _character_to_key

from tuibench.tui.key import is_text, is_typed, spelled, written


@pytest.mark.parametrize("sign", sorted(set(string.ascii_letters + string.digits + string.punctuation)))
def test_keyboard_symbols_have_textual_key_names(sign: str) -> None:
    assert spelled(sign) == _character_to_key(sign)
    assert written(spelled(sign)) == sign


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        (" ctrl+R ", "ctrl+r"),
        ("Ctrl+Shift+F5", "ctrl+shift+f5"),
        ("shift+ctrl+x", "ctrl+shift+x"),
        ("shift+a", "A"),
        ("Esc", "escape"),
        ("PgUp", "pageup"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        ("comma", "comma"),
        ("ctrl+i", "tab"),
        ("ctrl+m", "enter"),
        ("ctrl+[", "escape"),
    ],
)
def test_common_key_spellings_are_accepted(typed: str, name: str) -> None:
    assert spelled(typed) == name


@pytest.mark.parametrize(
    "typed",
    ["", " ", "frob", "f25", "f0", "ctrl+", "ctrl+ctrl+a", "super+a", "ctrl a", "\x1b", "\x07", "é+", "up down"],
)
def test_invalid_key_has_no_name(typed: str) -> None:
    assert spelled(typed) == ""


@given(st.text(max_size=12))
def test_any_text_is_key_or_none_and_names_are_stable(typed: str) -> None:
    name = spelled(typed)
    assert not name or spelled(name) == name


def test_named_keys_match_textual() -> None:
    known = {key.value for key in Keys}
    named = ["enter", "tab", "space", "escape", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"]
    assert {spelled(name) for name in (*named, "left", "right", "up", "down", "f1", "f24")} <= known


def test_arrows_are_words_in_ascii_mode() -> None:
    assert (written("left"), written("left", arrows=False), written("ctrl+left")) == ("←", "left", "ctrl+left")
    assert written("pagedown") == "pgdn" and written("shift+tab") == "shift+tab"


def test_is_typed_excludes_ctrl_alt_and_function_keys() -> None:
    assert all(is_typed(name) for name in ("a", "f", "question_mark", "enter", "left", "space", "shift+tab"))
    assert not any(is_typed(name) for name in ("ctrl+a", "alt+x", "f1", "f24", "ctrl+shift+f5"))


def test_is_text_accepts_only_keys_used_by_text_field() -> None:
    assert all(is_text(name) for name in ("a", "G", "7", "question_mark", "space", "left", "ctrl+u"))
    assert not any(is_text(name) for name in ("enter", "escape", "up", "tab", "f1", "ctrl+p", "pageup"))

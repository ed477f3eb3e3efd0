"""A stored command as it can be typed into a shell in any directory, and printed on any terminal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from tuibench.core.remote import is_remote
from tuibench.core.spec import ModelSource
from tuibench.core.text import show

_LONGEST = 100_000
"""No command of ours: it was imported, and splitting takes its time."""
_WHERE_MODELS_BEGIN = 2
"""Behind the program and its command."""


def typed(command: str, models: Sequence[ModelSource] = ()) -> str:
    """The same command: models by where they lie, and what would drive a terminal as escapes of the shell."""
    if len(command) > _LONGEST:
        return show(command, _LONGEST)
    try:
        words = shlex.split(command)
    except ValueError:
        return show(command, _LONGEST)
    return " ".join(quote(word) for word in _located(words, models))


def quote(word: str) -> str:
    """One word, readable wherever it is printed; bash, zsh and ksh that read it have the word again."""
    if show(word, len(word)) == word:
        return shlex.quote(word)
    return "$'" + "".join(_escaped(char) for char in word) + "'"


def _escaped(char: str) -> str:
    if char in "'\\":
        return f"\\{char}"
    # Shells read what `show` writes, but take two digits for a byte, of which some characters have two.
    return f"\\u{ord(char):04x}" if "\x80" <= char <= "\xff" and show(char) != char else show(char)


def _located(words: list[str], models: Sequence[ModelSource]) -> list[str]:
    """A path that was typed relative to a directory names nothing in another one."""
    asked = [model.asked for model in models]
    paths = [token_of(model) for model in models]
    begin = _WHERE_MODELS_BEGIN
    for at in (begin, len(words) - len(asked)):
        if asked and words[at : at + len(asked)] == asked:
            return [*words[:at], *paths, *words[at + len(asked) :]]
    return words


def token_of(model: ModelSource) -> str:
    """What is typed for a model wherever one stands: its name where that is no path, else where its file lies."""
    by_name = is_remote(model.asked) or model.asked == "sample" or model.asked.startswith("sample:")
    # Of what was imported nobody knows where it lay.
    return model.asked if by_name or not os.path.isabs(model.path) else model.path

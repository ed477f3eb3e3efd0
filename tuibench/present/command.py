"""The command that repeats a result; it works in any directory and can be printed on any terminal."""

from __future__ import annotations

import os
import shlex

from tuibench.core.errors import UsageError
from tuibench.core.ids import short_id
from tuibench.core.model import is_remote
from tuibench.core.result import RunResult
from tuibench.core.settings.command import command_words
from tuibench.core.spec import BenchmarkSpec, ModelSource
from tuibench.core.text import show

_MAX_CHARS = 16_384
"""Longest command worth copying, in characters: names inside a model can have megabytes."""


def command_of(run: RunResult) -> str:
    """Return the shell line that repeats `run`; '' for a result of another tool."""
    return "" if run.foreign else typed(run.spec, run.id)


def typed(spec: BenchmarkSpec, run_id: str) -> str:
    """Return the shell line that measures `spec` again, or `tuibench rerun ID` if no such line can be shown."""
    try:
        words = command_words(spec, [token_of(model) for model in spec.models])
    except UsageError:
        words = []  # it has a setting of a newer version, which `rerun` names
    if not words or sum(map(len, words)) > _MAX_CHARS:
        words = ["tuibench", "rerun", short_id(run_id)]
    return " ".join(map(quote, words))


def quote(word: str) -> str:
    """Return the word quoted with printable characters only; bash, zsh and ksh read it back unchanged."""
    if show(word, len(word)) == word:
        return shlex.quote(word)
    return "$'" + "".join(_escaped(char) for char in word) + "'"


def _escaped(char: str) -> str:
    if char in "'\\":
        return f"\\{char}"
    # Shells read the escapes of `show`, but limit \x to one byte, so these characters need \u.
    return f"\\u{ord(char):04x}" if "\x80" <= char <= "\xff" and show(char) != char else show(char)


def token_of(model: ModelSource) -> str:
    """Return the command-line token of a model: its name if that is not a path, else the path of its file."""
    by_name = is_remote(model.asked) or model.asked == "sample" or model.asked.startswith("sample:")
    # The path of an imported model is unknown.
    return model.asked if by_name or not os.path.isabs(model.path) else model.path

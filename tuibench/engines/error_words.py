"""Reasons in the errors of engines, without the engine's source paths and signatures."""

from __future__ import annotations

import re

from tuibench.core.errors import TuibenchError
from tuibench.core.reason import Reason, error_text

_CODE = re.compile(r"\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ")
_PLACE = re.compile(r"/[\w./+-]+\.(?:cc|cpp|h|hpp):\d+ (?=[\w:<~])")
_LOADING = re.compile(r"Load model from .*? failed:\s*", re.DOTALL)
"""The phase and the cell already say so, and a path can be long."""
_UNNAMED = "(anonymous namespace)"


def plain_words(text: str) -> str:
    """Return only the reason: a signature of 400 characters would push it off any line of limited length."""
    text = _LOADING.sub("", _CODE.sub("", text))
    begin = 0
    while place := _PLACE.search(text, begin):
        end = _end_of_signature(text, place.end())
        text = text[: place.start()] + text[end:].lstrip() if end else text
        begin = place.start() if end else place.end()
    return text.strip()


def engine_words(error: BaseException, max_chars: int = 300) -> str:
    """Return the reason in an engine's exception, cut to `max_chars`; its type if it has no text."""
    return (plain_words(str(error)) or type(error).__name__)[:max_chars]


def engine_reason(error: BaseException, max_chars: int = 300) -> Reason:
    """Return the reason of an engine's exception: its message, cut to `max_chars`; a TuibenchError's own reason."""
    return error.reason if isinstance(error, TuibenchError) else error_text(engine_words(error, max_chars))


def exception_reason(error: BaseException, max_chars: int = 2000) -> Reason:
    """Return the reason of any exception: its type and its message, cut to `max_chars`.

    The type is left out for an engine's own exceptions.
    """
    said = str(error).strip() or type(error).__name__
    if isinstance(error, TuibenchError) or type(error) is RuntimeError or plain_words(said) != said:
        return engine_reason(error, max_chars)
    return error_text(f"{type(error).__name__}: {said}"[:max_chars])


def is_of_engine(error: Exception) -> bool:
    """Return whether the engine raised the error, as opposed to our own code."""
    return type(error).__module__.startswith("onnxruntime") or type(error) is RuntimeError


def _end_of_signature(text: str, begin: int) -> int:
    """Return the position after the argument list that starts behind `begin`; 0 if there is none."""
    start = text.find("(", begin)
    while start >= 0 and text.startswith(_UNNAMED, start):
        start = text.find("(", start + len(_UNNAMED))
    depth = 0
    for index in range(start, len(text) if start >= 0 else start):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            rest = re.match(r"(?: const)?(?: \[with [^]]*\])?", text[index + 1 :])
            return index + 1 + (rest.end() if rest else 0)
    return 0

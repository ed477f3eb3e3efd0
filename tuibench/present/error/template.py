"""The form of a message and its hint in the tables of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Fields = Mapping[str, Any]
Words = str | Callable[[Fields], str]
MessageAndHint = tuple[Words, Words]
"""A message and a hint, which may be empty. In a template, `{name:60}` shows at most 60 characters of a field."""

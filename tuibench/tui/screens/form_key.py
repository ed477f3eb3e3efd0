"""Keys of a form that come before what has the focus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.binding import Binding, BindingType


def at_once(bindings: Iterable[BindingType]) -> list[BindingType]:
    """The same, carried out before the next key is looked at: else a burst of keys all goes to the first field."""
    return [replace(binding, priority=True) if isinstance(binding, Binding) else binding for binding in bindings]

"""Key bindings of a form with priority over the focused widget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.binding import Binding, BindingType


def at_once(bindings: Iterable[BindingType]) -> list[BindingType]:
    """Return the bindings with priority, so that each key of a burst acts before the next one is dispatched."""
    return [replace(binding, priority=True) if isinstance(binding, Binding) else binding for binding in bindings]

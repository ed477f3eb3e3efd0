"""Which keys do something on a page at this moment: what help and palette are made from."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import ActiveBinding

from tuibench.tui import key
from tuibench.tui.screens.base import Page


def live_keys(page: Page) -> Iterator[tuple[str, str, ActiveBinding]]:
    """Key as Textual spells it, id, and who hears it; classes bind whole groups, and not all carry out all of one."""
    for name, active in page.active_bindings.items():
        known = key.KEYS.get(active.binding.id or "")
        if (
            known is not None
            and active.enabled
            and callable(getattr(active.node, f"action_{active.binding.action}", None))
        ):
            yield name, known.id, active

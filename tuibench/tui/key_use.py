"""Lists the keys that are active on a page now; help and palette are generated from them."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import ActiveBinding

from tuibench.tui import key
from tuibench.tui.screens.base import Page


def live_keys(page: Page) -> Iterator[tuple[str, str, ActiveBinding]]:
    """Yield key, id and binding; skip actions that the node does not implement, as classes bind whole groups."""
    for name, active in page.active_bindings.items():
        known = key.KEYS.get(active.binding.id or "")
        if (
            known is not None
            and active.enabled
            and callable(getattr(active.node, f"action_{active.binding.action}", None))
        ):
            yield name, known.id, active

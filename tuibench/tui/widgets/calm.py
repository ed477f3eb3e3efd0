"""Base classes that prevent Textual from repainting parts of a screen that did not change.

Each overrides private behaviour of Textual, as `textual_seam.py` does for the app, because no public API reduces
painting. Each names the behaviour of Textual 8.2 it works around; `tests/tui/widgets/test_calm.py` checks that the
workaround still has an effect.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Self, cast

from textual import events
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


class Calm:
    """First base class of a screen: moving the focus repaints only the two widgets involved.

    Can be removed once setting `Screen.focused` no longer repaints the screen. Both widgets receive an event and
    repaint themselves.
    """

    # Textual declares it with repaint=True: each tab key would send the whole screen, 5 to 9 kB.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def _compositor_refresh(self) -> None:
        """Skip painting a covered screen; not needed once `App._background_screens` stops at an opaque screen on top.

        Textual checks only the screens below for transparency, so the next one below is painted behind any page
        (Textual's pull requests 3062 and 6307, made for modal screens).
        """
        # Covering a screen marks it for painting. The paint runs 1/60 s later and would make the covering screen paint
        # again. The covered screen is painted when it returns.
        me = cast("Screen[object]", self)
        above = list(dropwhile(lambda one: one is not me, me.app.screen_stack))[1:]
        if all(one.is_modal for one in above):
            super()._compositor_refresh()  # type: ignore[misc]


class Steady:
    """First base class of a widget: a new size does not send again what the layout has just painted.

    Can be removed once `Widget._size_updated` no longer marks the whole widget for painting after a layout.
    """

    # Not a Widget subclass: Textual takes the default CSS of the first base that is one.
    _size: Size
    _repaint_regions: set[Region]

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        is_new = self._size != size
        changed: bool = super()._size_updated(size, virtual_size, container_size, layout)  # type: ignore[misc]
        if is_new:
            # The layout that set the size paints the whole widget; Textual requests the same paint again.
            self._repaint_regions.clear()
            # Textual sends no Resize to a widget whose region was read between its creation and its first layout:
            # fields were painted without their right ends. A duplicate Resize replaces the first.
            self.post_message(events.Resize(size, virtual_size, container_size))  # type: ignore[attr-defined]
        return changed


class Bare(Steady):
    """First base class of a container that paints nothing itself: a change of it does not repaint its children.

    The layout repaints what a shrinking or removed child leaves behind. Can be removed once a container's refresh does
    not repaint its children.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Request a layout if asked for; never repaint."""
        refreshed: Self = super().refresh(*regions, repaint=False, layout=layout, recompose=recompose)  # type: ignore[misc]
        return refreshed

"""What keeps Textual from painting a whole screen again where nothing of it has changed.

Each of these reaches below its public surface, as `textual_seam.py` does for the app: there is no public way to have
less painted. Each says which behaviour of Textual 8.2 it waits for; `tests/tui/widgets/test_calm.py` sees whether it
still does what it is here for.
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
    """First among the bases of a screen: the focus goes from one widget to another for the bytes of those two.

    Waits for a `Screen.focused` that paints nothing by itself: both widgets are told of it, and paint themselves.
    """

    # Screen declares it with repaint: each tab key would send the whole screen, 5 to 9 kB.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def _compositor_refresh(self) -> None:
        """Paint nothing that is covered; waits for an `App._background_screens` that ends at an opaque screen on top.

        It asks those below alone whether one sees through them, so that the one next below counts as seen through
        any page (Textual's pull requests 3062 and 6307, which were made for modal screens).
        """
        # A screen is marked to be painted when another one covers it; its turn comes a sixtieth of a second later,
        # and what covers it would be painted again. It is painted when it comes back.
        me = cast("Screen[object]", self)
        above = list(dropwhile(lambda one: one is not me, me.app.screen_stack))[1:]
        if all(one.is_modal for one in above):
            super()._compositor_refresh()  # type: ignore[misc]


class Steady:
    """First among the bases of a widget: what a layout has just painted is not sent once more for its new size.

    Waits for a `Widget._size_updated` that does not mark all of a widget to be painted which the layout paints anyway.
    """

    # No widget itself, as Textual takes the default CSS of the first base that is one.
    _size: Size
    _repaint_regions: set[Region]

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        is_new = self._size != size
        changed: bool = super()._size_updated(size, virtual_size, container_size, layout)  # type: ignore[misc]
        if is_new:
            # The layout that gave the size paints all of it; Textual asks for the same again.
            self._repaint_regions.clear()
            # Textual tells nobody whose place was looked up between being made and being laid out: fields stayed
            # without their ends. Told twice is told once, as a later one replaces it.
            self.post_message(events.Resize(size, virtual_size, container_size))  # type: ignore[attr-defined]
        return changed


class Bare(Steady):
    """First among the bases of a container: it has nothing to paint itself, so that no change of it paints its parts.

    What parts leave when they go or shrink is painted by the layout that takes it from them. Waits for a container
    whose refresh leaves its parts alone.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Only a layout."""
        refreshed: Self = super().refresh(*regions, repaint=False, layout=layout, recompose=recompose)  # type: ignore[misc]
        return refreshed

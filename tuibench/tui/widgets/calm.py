"""What keeps Textual from painting a whole screen again where nothing of it has changed."""

from __future__ import annotations

from textual.reactive import Reactive
from textual.widget import Widget


class Calm:
    """First among the bases of a screen: the focus goes from one widget to another for the bytes of those two."""

    # Screen declares it with repaint: each tab key would send the whole screen, 5 to 9 kB.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

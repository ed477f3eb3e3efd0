"""Command palette: finds any action of the current screen by typing a part of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.binding import ActiveBinding
from textual.command import Command, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher
from textual.widgets import Input, LoadingIndicator

from tuibench.tui import key
from tuibench.tui.screens.base import Page

if TYPE_CHECKING:
    from tuibench.tui.app import Dashboard


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


GROUP_WORDS = {
    "benchmark": "Benchmark",
    "run": "Run",
    "project": "Project",
    "form": "Form",
    "figure": "Figure",
    "profile": "Profile",
    "engine": "Engine",
    "machine": "Machine",
    "list": "List",
    "open": "List",
    "wide": "List",
    "tab": "Tab",
    "everywhere": "Dashboard",
}
"""Label of each group, the most specific first; groups that only move the cursor are left out."""
_DESCRIBED = 1e-6
"""Score of a match in the description, lower than any match in the name."""
_WITHOUT = frozenset({"palette", "back", "scroll-left", "scroll-right", "next-field", "previous-field"})


@dataclass(frozen=True, slots=True)
class Action:
    """One line of the palette."""

    name: str
    pressed: str
    text: str
    run: Callable[[], Awaitable[None]]


def list_actions(page: Page) -> Iterator[Action]:
    """Yield the actions that keys would run on a page now, grouped."""
    app = page.dashboard
    active = {one: found for _, one, found in live_keys(page)}
    for group, word in GROUP_WORDS.items():
        for one in key.GROUPS[group]:
            found = active.get(one.id)
            if found is None or one.id in _WITHOUT:
                continue
            pressed = key.shown(one.id, app.keymap, app.ascii_only)
            yield Action(f"{word}: {one.word}", pressed, one.text, _runner(app, found.binding.action, found.node))


def _runner(app: Dashboard, action: str, node: object) -> Callable[[], Awaitable[None]]:
    async def carry_out() -> None:
        await app.run_action(action, default_namespace=node)  # type: ignore[arg-type]

    return carry_out


def _score(matcher: Matcher, query: str, name: str, text: str) -> float:
    """Return how well an action matches the typed text; 0 if it does not."""
    return matcher.match(name) or _DESCRIBED * all(word in text.lower() for word in query.lower().split())


class ActionProvider(Provider):
    """Provides Textual's palette with actions."""

    async def discover(self) -> Hits:
        """Yield all actions, before anything is typed."""
        for action in self._actions():
            # Text instead of str: a string is parsed as markup, and some keys are brackets.
            shown = Text(f"{action.name} ({action.pressed})")
            yield DiscoveryHit(shown, action.run, text=action.name, help=action.text)

    async def search(self, query: str) -> Hits:
        """Yield actions whose name has the typed letters in order, then those whose description has the words."""
        matcher = self.matcher(query)
        for action in self._actions():
            if (score := _score(matcher, query, action.name, action.text)) > 0:
                shown = Content.assemble(matcher.highlight(action.name), f" ({action.pressed})")
                yield Hit(score, shown, action.run, text=action.name, help=action.text)

    def _actions(self) -> Iterator[Action]:
        page = cast("Dashboard", self.app).page
        return list_actions(page)


class Palette(CommandPalette):
    """Textual's palette without animations and without signs that need a special font."""

    DEFAULT_CSS = """
    Palette { background: transparent; }
    Palette SearchIcon, Palette LoadingIndicator { display: none; }
    Palette #--input, Palette #--results CommandList { border: none; }
    /* In less Textual would break lines of no width; what does not fit is cut off. */
    Palette > Vertical { min-width: 16; }
    """

    def __init__(self) -> None:
        super().__init__([ActionProvider], placeholder="type part of an action's name", id="--command-palette")

    def on_mount(self) -> None:
        """Stop the blinking cursor, which costs 2 kB a second, and the indicator, which counts frames while hidden."""
        self.query_one(Input).cursor_blink = False
        # Without colour, only a border separates the last action from the page below.
        found, ascii_only = self.query_one(CommandList), cast("Dashboard", self.app).ascii_only
        found.styles.border_bottom = ("ascii" if ascii_only else "solid", "ansi_default")
        # The scrollbar's ends are drawn with signs that --ascii lacks.
        found.styles.scrollbar_size_vertical = 0
        self.call_after_refresh(self._stop_indicator)

    def _action_command_list(self, action: str) -> None:
        """Ignore keys before the list's first layout, and enter on an action found for an earlier text.

        Overrides a private method; can be removed once CommandList handles a page key before its first layout, and
        enter waits for the matches of the whole text.
        """
        found = self.query_one(CommandList)
        if found.scrollable_content_region and (action != "select" or self._is_current(found)):
            super()._action_command_list(action)

    def _is_current(self, found: CommandList) -> bool:
        typed = self.query_one(Input).value.strip()
        if not typed or found.highlighted is None:
            return True
        option = found.get_option_at_index(found.highlighted)
        hit = option.hit if isinstance(option, Command) else None
        return hit is None or _score(Matcher(typed), typed, str(hit.text), str(hit.help or "")) > 0

    def _stop_indicator(self) -> None:
        for indicator in self.query(LoadingIndicator):
            indicator.auto_refresh = None

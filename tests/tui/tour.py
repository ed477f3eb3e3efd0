"""Visits every screen and dialog of the dashboard once, as a user would, and lets a test check each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.pilot import press, settle
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.app import Dashboard
from tuibench.tui.screens.detail.screen import TABS

Visit = Callable[[str], Awaitable[object]]
Dialog = tuple[str, tuple[str, ...]]
"""Name, and the keys that open it; escape closes it."""
Way = tuple[str, Callable[[], Screen[None]], tuple[Dialog, ...]]
"""Name, how to get there, and what is opened there."""

_DIALOGS: tuple[Dialog, ...] = (
    ("export", ("x",)),
    ("name", ("e",)),
    ("removal", ("d",)),
    ("palette", ("colon",)),
    ("help", ("f1",)),
)


def ways(project: str, ids: tuple[str, ...], model: str) -> Iterator[Way]:
    """Yield each screen's name, route and dialogs; `ids` are stored benchmarks, `model` is a path."""
    one, other = ids[0], ids[1]
    yield "project", lambda: route.project(project), (*_DIALOGS, ("filter", ("slash", "o")), ("re-run", ("r",)))
    yield "settings", lambda: route.project(project, "settings"), (("fields", ("e",)), ("palette", ("colon",)))
    yield "loose", route.unassigned, (("filter", ("slash", "o")),)
    for tab in TABS:
        dialogs: tuple[tuple[str, tuple[str, ...]], ...] = _DIALOGS if tab == TABS[0] else ()
        yield f"detail {tab}", lambda tab=tab: route.detail(one, tab), dialogs  # type: ignore[misc]
    yield "performance profiles", lambda: route.project(project, "performance"), (("filter", ("slash", "o")),)
    yield "loss profiles", lambda: route.project(project, "loss"), ()
    yield "profile form", lambda: route.profile_form(project), (("help", ("f1",)),)
    for what in (FLOPS, APPROXIMATED):
        yield what, lambda what=what: route.theory(project, what), (("help", ("f1",)),)  # type: ignore[misc]
    yield "no profile", lambda: route.profile(one), ()
    yield "no profiles compared", lambda: route.profile_comparison(other, one), ()
    yield "comparison", lambda: route.comparison(other, one), (("help", ("f1",)),)
    yield "form of a project", lambda: route.form(project_id=project), (("help", ("f1",)),)
    yield "form of a benchmark", lambda: route.form(benchmark=one), ()
    yield "form of a model", lambda: route.form(path=model), ()
    yield "new project", lambda: route.new_project(model), (("help", ("f1",)),)
    yield "system", route.system, (("help", ("f1",)),)
    yield "trash", route.trash, (("emptying", ("E",)),)


async def visit_all(
    app: Dashboard,
    pilot: Pilot[int],
    project: str,
    ids: tuple[str, ...],
    model: str,
    visit: Visit,
    *,
    everywhere: bool = False,
) -> None:
    """Open each screen and dialog from home and return; call `visit` with the name of the open one.

    Dialogs shared by all screens are opened only at home, unless `everywhere` is true.
    """
    await visit("home")
    at_home: tuple[Dialog, ...] = (*_DIALOGS, ("copy", ("D",)), ("filter", ("slash", "r")))
    for dialog, pressed in at_home:
        await _open_and_close(app, pilot, f"home, {dialog}", pressed, visit)
    for name, way, extra in ways(project, ids, model):
        app.go(way())
        await settle(pilot)
        await visit(name)
        for dialog, pressed in extra:
            if (dialog, pressed) in _DIALOGS and not everywhere:
                continue
            await _open_and_close(app, pilot, f"{name}, {dialog}", pressed, visit)
        await go_home(app, pilot)


async def _open_and_close(app: Dashboard, pilot: Pilot[int], name: str, keys: tuple[str, ...], visit: Visit) -> None:
    depth = len(app.screen_stack)
    await press(pilot, *keys)
    await visit(name)
    for _ in range(3):
        # The last escape clears a filter; omit it on a screen that it would close.
        if len(app.screen_stack) > depth or app.focused is not None:
            await press(pilot, "escape")
        if len(app.screen_stack) <= depth:
            break


async def go_home(app: Dashboard, pilot: Pilot[int]) -> None:
    """Return to the first screen from any other."""
    while len(app.screen_stack) > 1:
        app.pop_screen()
        await settle(pilot)

"""Cost of thousands of layers: CPU time to open them and bytes to move through them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from tests.present.profile.sample_data import make_costs, make_loss, make_performance
from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.frame import frame
from tests.tui.pilot import open_app, settle, until_seen
from tests.tui.sample_data import add
from tests.tui.screens.profile_stage import ProfileAnswers, profile_run, profiled
from tuibench.core.profile import LOSS, PERFORMANCE, Profile
from tuibench.present.profile.costs import CostRow, CostView
from tuibench.present.profile.page import view_of
from tuibench.services.api import Services
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.screens.profile import screen as profile
from tuibench.tui.screens.profile import screen as profile_theory
from tuibench.tui.screens.profile.page import View
from tuibench.tui.screens.profile.screen import stored_view
from tuibench.tui.widgets.record_table import line_of

MANY, KEY, PAGE = 5_000, 1_500, 6_000
OPEN = 8.0
"""Times a loop of a million additions; the slowest takes five."""
EMPTY = 25
"""So many times what an app without anything takes to begin may opening thousands of layers take; it takes eight."""


def many(kind: str) -> Profile:
    costs = make_costs(MANY)
    if kind == LOSS:
        return Profile(LOSS, costs, loss=make_loss(MANY))
    return Profile(PERFORMANCE, costs, performance=make_performance(MANY))


def look_at(view: View) -> int:
    """Build the first frames of all tabs; return the number of layers."""
    kind, display = view.kinds[0], view.displays[0]
    list(view.facts()), view.said(kind), view.summarize(kind, display), view.depth(kind, display)
    keys = view.keys(view.sorts[0], False, "")
    for one in keys[:30]:
        line_of(view.columns, one, view.row(one))
    return len(keys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PERFORMANCE, FLOPS, LOSS])
def test_five_thousand_layers_open_in_a_few_loops_of_cpu(kind: str) -> None:
    """Measure from the record's bytes to the first frames."""
    services = Services()
    one = add(services, profile_run(1, 60, many(kind)), name="many")

    def read() -> View | None:
        stored = Services().library.get(one)
        profile = stored.result.profile
        return view_of(profile.costs) if kind == FLOPS and profile is not None else stored_view(stored)

    shares = []
    for _ in range(5):
        began = time.process_time()
        assert sum(number + number for number in range(1_000_000)) > 0
        middle = time.process_time()
        view = read()
        assert view is not None and look_at(view) > MANY // 3
        shares.append((time.process_time() - middle) / (middle - began))
    print(f"{MANY} layers of {kind} open in {min(shares):.1f} loops, budget {OPEN}")
    assert min(shares) <= OPEN, shares


async def test_opening_thousands_of_layers_costs_few_empty_apps() -> None:
    """Measure reading the record, computing its data and painting the page."""
    one = add(Services(), profile_run(1, 60, many(PERFORMANCE)), name="many")
    empty = opened = float("inf")
    for _ in range(3):
        began = time.process_time()
        async with open_app() as (app, pilot):
            empty = min(empty, time.process_time() - began)
            began = time.process_time()
            app.go(route.profile(one, "layers"))
            await until_seen(pilot, lambda: "rows" in frame(app))
            opened = min(opened, time.process_time() - began)
    assert opened <= EMPTY * empty, (opened, empty)


async def test_profile_data_is_computed_while_keys_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    for module in (profile, profile_theory):
        monkeypatch.setattr(module, "view_of", _told(view_of, made))
    async with profiled() as seen:
        for page in (
            route.profile(seen.ids[0]), route.profile(seen.ids[2]),
            route.theory(seen.project, FLOPS), route.theory(seen.project, APPROXIMATED),
        ):  # fmt: skip
            await seen.go(page)
            # Another load makes no new view.
            seen.app.page.load()
            await settle(seen.pilot)
    assert made == [False] * 4


def _told(real: Callable[..., View], made: list[bool]) -> Callable[..., View]:
    def make(*args: object) -> View:
        made.append(threading.current_thread() is threading.main_thread())
        return real(*args)

    return make


async def test_moving_through_thousands_of_layers_sends_little() -> None:
    async with profiled((80, 24), profile_run(1, 60, many(PERFORMANCE)), driver=CountingDriver) as seen:
        await seen.go(route.profile(seen.ids[0], "layers"))
        keys = [await bytes_of(seen.pilot, partial(seen.press, one)) for one in ("down", "down", "up")]
        assert 0 < max(keys) <= KEY, keys
        pages = [await bytes_of(seen.pilot, partial(seen.press, one)) for one in ("pagedown", "G", "pageup", "s", "w")]
        assert 0 < max(pages) <= PAGE, pages
        await seen.press("w", "3")
        keys = [await bytes_of(seen.pilot, partial(seen.press, one)) for one in ("down", "down", "up")]
        assert 0 < max(keys) <= KEY, keys
        pages = [await bytes_of(seen.pilot, partial(seen.press, one)) for one in ("pagedown", "G", "m", "t", "1", "2")]
        assert 0 < max(pages) <= PAGE, pages


async def test_only_visible_lines_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = CostView.row

    def row(view: CostView, key: str) -> CostRow:
        made.append(key)
        return real(view, key)

    monkeypatch.setattr(CostView, "row", row)
    async with profiled(answers=ProfileAnswers(MANY)) as seen:
        await seen.go(route.theory(seen.project, FLOPS, "layers"))
        assert 0 < len(made) < 100, len(made)


async def test_unchanged_poll_sends_nothing() -> None:
    async with profiled((80, 24), profile_run(1, 60), driver=CountingDriver) as seen:
        await seen.go(route.profile(seen.ids[0]))
        await bytes_of(seen.pilot, seen.app.poll)
        assert await bytes_of(seen.pilot, seen.app.poll) == 0
        assert await bytes_of(seen.pilot, seen.app.page.load) == 0

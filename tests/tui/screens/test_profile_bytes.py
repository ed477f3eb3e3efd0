"""What thousands of layers cost: processor time to open them, bytes to move through them."""

from __future__ import annotations

import time
from functools import partial

import pytest

from tests.insight.stock import make_costs, make_loss, make_performance
from tests.tui.counting import CountingDriver, bytes_of
from tests.tui.screens.profile_stage import ProfileAnswers, profile_run, profiled
from tuibench.core.profile import PERFORMANCE, Profile
from tuibench.tui import route
from tuibench.tui.desk_profile import FLOPS
from tuibench.tui.glyph import UNICODE, Glyphs
from tuibench.tui.screens.profile_book import Book
from tuibench.tui.screens.profile_book_costs import CostBook
from tuibench.tui.screens.profile_book_loss import LossBook
from tuibench.tui.screens.profile_book_performance import PerformanceBook
from tuibench.tui.widgets.record_table import Line

MANY, KEY, PAGE = 5_000, 1_500, 6_000
OPEN_S = 0.5


def books() -> dict[str, Book]:
    costs = make_costs(MANY)
    performance = Profile(PERFORMANCE, costs, performance=make_performance(MANY))
    return {"performance": PerformanceBook(performance), "flops": CostBook(costs), "loss": LossBook(make_loss(MANY))}


@pytest.mark.parametrize("name", ["performance", "flops", "loss"])
def test_five_thousand_layers_open_in_half_a_second_of_the_processor(name: str) -> None:
    book = books()[name]
    spent = []
    for _ in range(3):
        began = time.process_time()
        book.facts(UNICODE), book.said(book.kinds[0]), book.summed(book.kinds[0], book.displays[0])
        keys = book.keys(book.sorts[0], False, "")
        for one in keys[:30]:
            book.line(one, UNICODE)
        book.depth(book.kinds[0], book.displays[0])
        spent.append(time.process_time() - began)
    assert len(keys) > MANY // 3 and min(spent) <= OPEN_S, spent


async def test_moving_through_thousands_of_layers_sends_little() -> None:
    profile = Profile(PERFORMANCE, make_costs(MANY), performance=make_performance(MANY))
    async with profiled((80, 24), profile_run(1, 60, profile), driver=CountingDriver) as seen:
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


async def test_only_lines_in_sight_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = CostBook.line

    def line(book: CostBook, key: str, glyphs: Glyphs) -> Line:
        made.append(key)
        return real(book, key, glyphs)

    monkeypatch.setattr(CostBook, "line", line)
    async with profiled(answers=ProfileAnswers(MANY)) as seen:
        await seen.go(route.theory(seen.project, FLOPS, "layers"))
        assert 0 < len(made) < 100, len(made)


async def test_a_look_at_what_others_do_sends_nothing() -> None:
    async with profiled((80, 24), profile_run(1, 60), driver=CountingDriver) as seen:
        await seen.go(route.profile(seen.ids[0]))
        await bytes_of(seen.pilot, seen.app.look)
        assert await bytes_of(seen.pilot, seen.app.look) == 0
        assert await bytes_of(seen.pilot, seen.app.page.load) == 0

from __future__ import annotations

from dataclasses import replace

from tests.insight.stock import make_loss, make_performance, make_profile
from tests.tui.screens.profile_stage import profile_run, profiled
from tuibench.core.profile import LOSS, Profile
from tuibench.tui import route
from tuibench.tui.widgets.record_table import RecordTable


def slow() -> Profile:
    base = make_profile()
    return replace(base, performance=replace(make_performance(slower=1.5), cores=1))


async def test_layers_are_paired_and_the_greatest_difference_stands_first() -> None:
    async with profiled((80, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "one batch 4.76 ms → 7.14 ms, ratio 1.50" in seen.text
        assert "differs: cores 2 / 1" in seen.text
        line = next(row for row in seen.rows if row.startswith(">"))
        assert line.split()[1:3] == ["1", "Conv"] and "1.31" in line and "+0.655" in line and "1.50" in line


async def test_f_makes_the_other_one_the_base() -> None:
    async with profiled((80, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("f")
        assert "one batch 7.14 ms → 4.76 ms, ratio 0.667" in seen.text and "-0.655" in seen.text


async def test_enter_shows_a_pair_and_a_filter_narrows_them() -> None:
    async with profiled((80, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("slash")
        await seen.type("matmul")
        await seen.press("enter")
        assert sum("MatMul" in row for row in seen.rows) == 1 and "LayerNorm" not in seen.text
        await seen.press("enter")
        assert "One pair" in seen.text and "out7" in seen.text
        await seen.press("escape", "escape")
        assert "LayerNorm" in seen.text


async def test_losses_are_compared_level_by_level() -> None:
    one, other = make_profile(kind=LOSS), make_profile(kind=LOSS)
    assert one.loss is not None
    worse = replace(other, loss=replace(make_loss(), samples=8))
    async with profiled((80, 24), profile_run(1, 3600, worse), profile_run(2, 7200, one)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "noise / signal in %" in seen.text and "samples 2 / 8" in seen.text
        assert "not measured on the same data, so no differences are told" in " ".join(seen.text.split())
        assert len(seen.app.screen.query_one(RecordTable).keys) == 7, "both are listed all the same"


async def test_two_kinds_cannot_be_compared_and_it_says_so() -> None:
    async with profiled() as seen:
        await seen.go(route.profile_comparison(seen.ids[2], seen.ids[0]))
        assert "cannot be compared" in seen.text


async def test_y_copies_the_command() -> None:
    async with profiled() as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("y")
        assert seen.app.clipboard.startswith("tuibench compare ")


async def test_profiles_of_two_models_say_so() -> None:
    other = profile_run(1, 3600, models=(replace(profile_run(1, 1).models[0], sha256="f" * 64),))
    async with profiled((80, 24), other, profile_run(2, 7200), profile_run(3, 8000)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "differs: the models are not the same" in seen.text
        await seen.go(route.profile_comparison(seen.ids[2], seen.ids[1]))
        assert "the models are not the same" not in seen.text

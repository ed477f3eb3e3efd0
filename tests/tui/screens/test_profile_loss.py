"""The page of one layer in a loss profile."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.stock import make_loss
from tests.tui.screens.profile_stage import profiled
from tuibench.present.profile.kind import view_of
from tuibench.services.profile_values import APPROXIMATED
from tuibench.tui import route


def test_unmeasured_layer_shows_no_invented_reason() -> None:
    loss = make_loss()
    left = replace(loss, complete=False, layers=(replace(loss.layers[0], points=()), *loss.layers[1:]))
    view = view_of(left)
    told = view.brief(view.row(left.layers[0].id))
    assert str(told[2][0]).endswith("· not known")


async def test_layer_page_shows_weight_curve() -> None:
    async with profiled() as seen:
        await seen.go(route.theory(seen.project, APPROXIMATED))
        await seen.press("3", "enter")
        assert "|w| / greatest" in seen.text and "90 % 0.9" in seen.text
        assert "zeroes about 50 % up to 0.5" in " ".join(seen.text.split())

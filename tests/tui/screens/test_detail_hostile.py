"""Foreign names from models, engines, notes and machines are plain text on every tab."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present import build
from tests.tui.counting import CountingDriver, sent_by
from tests.tui.sample_data import make_id
from tests.tui.screens.detail_stage import detail
from tests.tui.widgets.stage import HOSTILE
from tuibench.core.cell import Check, Grade
from tuibench.core.reason import Failure, error_text, legacy_text
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.tui.terminal import Display

_SINGLE = [build.HOSTILE, *(name for name in HOSTILE if name)]
NAMES = ["".join(_SINGLE[start::3]) for start in range(3)]
"""Each begins with another control sequence, as narrow columns show only the beginning."""


def hostile(number: int, name: str) -> RunResult:
    """Return a sweep that has the given name in every foreign text."""
    cells = [
        build.ok_cell(8.0 / n * m, 100.0 * n / m, {"cores": n, "batch": m, "engine": engine, "dims": {name: m}},
                      grade=Grade("C", legacy_text(name), None, None, None), stopped_by=name,
                      check=Check("differs", 0.5, 1e-3, legacy_text(name)))
        for n in (1, 2) for m in (1, 8) for engine in ("onnxruntime", name)
    ]  # fmt: skip
    failed = build.failed_cell(
        {"cores": 4, "dims": {name: 1}}, failure=Failure("exception", "load", error_text(name), None, name)
    )
    versus = build.comparison(cells[0].key, cells[1].key, "p50", 0.9, 0.8, 1.0, 5, True, "faster", None, name)
    base = build.hostile_run()
    return replace(
        base, id=make_id(number, 60), cells=(*cells, failed), comparisons=(versus,),
        warnings=(legacy_text(name),), environment={name: {name: [name, {name: name}]}},
        versions={name: name}, host=name, foreign=name, started_utc=name, anchor={"drift": name},
        spec=build.spec(models=(ModelSource(name, name),), engines=("onnxruntime", name)),
    )  # fmt: skip


@pytest.mark.parametrize("number", range(len(NAMES)))
async def test_hostile_names_on_every_tab_are_plain_text(number: int) -> None:
    name = NAMES[number]
    async with detail(hostile(100 + number, name), name=name, note=name, driver=CountingDriver) as seen:

        async def tour() -> None:
            for key in "h2mtfw34h1567":
                await seen.press(key, "down", "G", "up")

        sent = await sent_by(seen.pilot, tour)
        for bad in ("\x07", "\x9b", "\u202e", "\x1b]", "\x1b[99", "\udcff", "\u200b"):
            assert bad not in sent
        assert all(row.isprintable() for row in seen.rows)
        assert len(seen.app.screen_stack) == 2


async def test_hostile_names_in_ascii_on_small_terminal() -> None:
    async with detail(
        hostile(150, build.HOSTILE), size=(40, 12), display=Display(ascii_only=True), name=build.HOSTILE
    ) as seen:
        for key in "h2mtfw34h1567":
            await seen.press(key, "down")
            assert all(len(row) <= 40 for row in seen.rows)

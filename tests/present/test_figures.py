from __future__ import annotations

from dataclasses import replace

from tests.present import build
from tests.present.plots import data
from tuibench.core.text import width_of
from tuibench.present.summary import drawings


def test_each_axis_with_several_values_has_a_figure() -> None:
    cores, batch = drawings(data.cores_run(), 80)
    assert (cores.title, batch.title) == ("Core scaling, batch 1", "Batch scaling, 16 cores")
    assert "p50 items/s by cores (log2)" in cores.text and "Knee: 8 cores  efficiency 87 %" in cores.sentences
    (shape,) = drawings(data.shapes_run(), 80)
    assert shape.title == "Shape scaling, 4 cores, batch 1" and "p50 ms/item by seq" in shape.text


def test_single_cell_has_a_spread_figure() -> None:
    (spread,) = drawings(build.run(data.spread_cell()), 80)
    assert spread.title == "Calls of sync, 2 cores, batch 1" and "▲p50" in spread.text and spread.sentences == ()
    (of_the_first,) = drawings(build.default_run(), 80)
    assert of_the_first.title == "Calls of async, 2 cores, batch 1, 2 streams"


def test_missing_measurements_are_not_drawn() -> None:
    assert drawings(build.run(), 80) == drawings(build.run(build.failed_cell()), 80) == ()
    failed = [build.failed_cell({"cores": n}) for n in (1, 2)]
    assert drawings(build.run(*failed), 80) == ()


def test_figures_have_the_requested_width_within_bounds() -> None:
    for asked, wide in ((60, 60), (80, 80), (5, 20), (500, 120)):
        (drawing,) = drawings(data.batches_run(), asked)
        assert max(width_of(line) for line in drawing.text.splitlines()) == wide


def test_operands_beyond_the_line_limit_are_counted() -> None:
    cells = [data.timed_cell(1.0 * n, cores=n, engine=e) for n in (1, 2) for e in ("a", "b", "c", "d")]
    (drawing,) = drawings(build.run(*cells), 80)
    assert drawing.sentences[-1] == "Not drawn: 1 more of 4 sides"


def test_foreign_names_cannot_drive_the_terminal() -> None:
    run = build.hostile_run()
    run = replace(run, cells=tuple(replace(c, asked=replace(c.asked, engine=build.HOSTILE)) for c in run.cells))
    for drawing in drawings(run, 80):
        assert not set("\x1b\u202e\udcff") & set(drawing.title + drawing.text + "".join(drawing.sentences))

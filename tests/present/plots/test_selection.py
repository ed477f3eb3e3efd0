from __future__ import annotations

import json

from tests.present import build
from tests.present.plots import data
from tuibench.core.record import from_plain, to_plain
from tuibench.present.plots.scaling import scaling
from tuibench.present.plots.selection import METRICS, Selection


def test_keys_cycle_through_every_choice() -> None:
    shown = scaling(data.cores_run())
    now = shown.selection
    seen = []
    for _ in METRICS:
        seen.append(now.metric)
        now = now.next_metric()
    assert set(seen) == set(METRICS) and now.metric == seen[0] and now.next_metric(-1).metric == seen[-1]
    assert [s.statistic for s in (now, now.next_statistic(shown.choices))] == ["p50", "mean"]
    assert now.next_fixed(shown.choices, "batch").fixed == {"batch": 32}
    assert now.next_fixed(shown.choices, "batch", -1).fixed == {"batch": 32}
    assert now.next_fixed(shown.choices, "nothing") == now


def test_series_choice_cycles_from_all_to_each_and_back() -> None:
    shown = scaling(data.two_engines())
    one, two = (side.key for side in shown.choices.sides)
    now, seen = shown.selection, []
    for _ in range(3):
        seen.append(now.sides)
        now = now.next_sides(shown.choices)
    assert seen == [(one, two), (one,), (two,)] and now.sides == (one, two)
    alone = scaling(data.cores_run())
    assert alone.selection.next_sides(alone.choices).sides == alone.selection.sides


def test_selection_cycles_through_the_dims() -> None:
    cells = [data.timed_cell(1.0 * h * w, dims={"h": h, "w": w}) for h in (1, 2) for w in (1, 2, 3)]
    run = build.run(*cells)
    shown = scaling(run, Selection("shape"))
    assert (shown.axis_name, shown.selection.fixed["dim w"]) == ("h", 1)
    other = scaling(run, shown.selection.next_dim(shown.choices))
    assert other.axis_name == "w" and [point.value for point in other.lines[0].points] == [1, 2, 3]
    assert shown.selection.over("cores").axis == "cores"


def test_selection_survives_a_json_round_trip() -> None:
    chosen = Selection("shape", ("abc",), {"batch": 8, "dim seq": 64}, "latency", "floor", "seq")
    assert from_plain(Selection, json.loads(json.dumps(to_plain(chosen)))) == chosen

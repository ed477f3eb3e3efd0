from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.present.plots import golden
from tuibench.core.text import show, width_of
from tuibench.present.plots.drawing import STYLES, Row, text_of
from tuibench.present.plots.figure import Figure, Point, Series, draw

CORES = (1, 2, 4, 8, 16)
TICKS = tuple((float(n), str(n)) for n in CORES)


def line(name: str, rates: tuple[float, ...], half: float = 0.02) -> Series:
    return Series(name, tuple(Point(n, y, y * (1 - half), y * (1 + half)) for n, y in zip(CORES, rates, strict=False)))


ONE = line("onnxruntime", (67.6, 132.9, 256, 471, 588), 0.05)
TWO = line("openvino", (73.7, 144.9, 279, 513.4), 0.01)
SCALING = Figure((ONE,), TICKS, "cores", "items/s", log2_x=True, ideal=tuple(Point(n, 67.6 * n) for n in CORES))

anything = st.floats(allow_nan=True, allow_infinity=True)
maybe = st.none() | anything
points = st.lists(st.builds(Point, anything, anything, maybe, maybe), max_size=200).map(tuple)
names = st.text(max_size=30).map(show)
several = st.lists(
    st.builds(Series, names, points, st.just((3,)), st.lists(anything, max_size=3).map(tuple)), max_size=5
)
ticks = st.none() | st.lists(st.tuples(anything, names), max_size=6).map(tuple)
figures = st.builds(
    Figure, several.map(tuple), ticks, names, names, st.booleans(), points, st.booleans(), names, names, names, names
)


def check_rows(rows: tuple[Row, ...], width: int, height: int) -> None:
    assert len(rows) == height
    assert {sum(width_of(text) for text, _ in row) for row in rows} <= {width}
    assert {style for row in rows for _, style in row} <= set(STYLES)


@given(
    figures, st.integers(1, 130), st.integers(1, 50), st.booleans(), st.none() | st.tuples(st.integers(), st.integers())
)
def test_figure_of_any_data_has_the_requested_size(
    figure: Figure, width: int, height: int, ascii_only: bool, cursor: tuple[int, int] | None
) -> None:
    check_rows(draw(figure, width, height, ascii_only=ascii_only, cursor=cursor), width, height)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
def test_scaling_matches_kept_figure(ascii_only: bool) -> None:
    figure = replace(SCALING, series=(ONE, replace(TWO, missing=(16.0,))))
    rows = draw(figure, 80, 18, ascii_only=ascii_only, cursor=(0, 4))
    check_rows(rows, 80, 18)
    text = text_of(rows)
    assert text.isascii() or not ascii_only
    golden.check(f"scaling-80x18{'-ascii' if ascii_only else ''}", text)


def test_x_ticks_stand_below_their_points() -> None:
    text = text_of(draw(SCALING, 80, 18)).splitlines()
    marked = [i for i, char in enumerate(text[-3]) if char == "┴"]
    assert len(marked) == 5
    for column, name in zip(marked, ("1", "2", "4", "8", "16"), strict=True):
        assert text[-2][column : column + len(name)] == name
        assert any(row[column : column + 1] == "●" for row in text)


def test_y_axis_starts_at_zero_unless_disabled() -> None:
    far = Figure((Series("a", (Point(0, 100.0), Point(1, 101.0))),), None, "x", "y")
    assert [row.split("┤")[0].strip() for row in text_of(draw(far, 40, 12)).splitlines() if "┤" in row][-1] == "0"
    near = text_of(draw(replace(far, from_zero=False), 40, 12)).splitlines()
    assert [row.split("┤")[0].strip() for row in near if "┤" in row][-1].startswith("100")


def test_interval_bars_have_caps_and_a_far_one_is_cut() -> None:
    rows = text_of(draw(replace(SCALING, series=(line("a", (100, 200, 300, 400, 500), 0.4),)), 80, 24)).splitlines()
    assert sum("┬" in row for row in rows[:-3]) == sum("┴" in row for row in rows[:-3]) == 5
    assert rows[-1].endswith("┬ 95 % interval")
    wild = Series("a", (Point(1, 100, 90, 1e6), Point(2, 200, 1, 210)))
    rows = text_of(draw(Figure((wild,), None, "x", "y"), 60, 20)).splitlines()
    assert rows[0].split("┤")[0].strip() == "300" and "↑" in rows[0]
    low = Series("a", (Point(1, 100, -1e6, 101), Point(2, 101, 99, 102)))
    rows = text_of(draw(Figure((low,), None, "x", "y", from_zero=False), 60, 20)).splitlines()
    assert "↓" in rows[-4] and "↓" not in "".join(rows[:-4])


def test_bars_hidden_by_markers_are_not_in_the_legend() -> None:
    sure = replace(SCALING, series=(line("a", (100, 200, 300, 400, 500), 0.0001),))
    assert "95 %" not in text_of(draw(sure, 80, 18))


def test_points_at_one_place_are_drawn_side_by_side() -> None:
    same = Figure((line("a", (10, 20, 30, 40, 50)), line("b", (10, 20, 30, 40, 50))), TICKS, "cores", "y", log2_x=True)
    text = text_of(draw(same, 80, 18))
    assert text.count("●○") == 5


def test_third_point_at_one_place_hides_no_other() -> None:
    same = tuple(line(name, (10, 20, 30, 40, 50)) for name in "abc")
    text = text_of(draw(Figure(same, TICKS, "cores", "y", log2_x=True), 80, 18))
    assert text.count("◆●○") == 5 and [text.count(sign) for sign in "●○◆"] == [6, 6, 6]


def test_cursor_marks_its_point_and_its_tick() -> None:
    rows = draw(SCALING, 80, 18, cursor=(0, 2))
    marked = [text for row in rows for text, style in row if style == "mark"]
    assert marked == ["◉", "4"]
    changed = [n for n, (a, b) in enumerate(zip(rows, draw(SCALING, 80, 18, cursor=(0, 3)), strict=True)) if a != b]
    assert len(changed) == 3, "its old row, its new one and the ticks"
    for nowhere in ((0, 9), (3, 0), (-1, 0), (0, -1)):
        assert draw(SCALING, 80, 18, cursor=nowhere) == draw(SCALING, 80, 18)


def test_dense_series_is_a_band_with_a_line() -> None:
    many = Series("p50", tuple(Point(i, 10 + i % 3, 8, 14) for i in range(200)), breaks=(100,))
    text = text_of(draw(Figure((many,), None, "s", "ms", from_zero=False, bar_name="least to most"), 60, 14))
    spiked = replace(many, points=tuple(replace(p, high=99.0 if p.x == 50 else 11.0) for p in many.points))
    spike = text_of(draw(Figure((spiked,), None, "s", "ms", from_zero=False), 60, 14)).splitlines()[0]
    assert spike.count("↑") == 1, "no peak is lost among its neighbours"
    assert "░ least to most" in text and "░" in text.splitlines()[2] and "●" not in text.rpartition("\n")[0]


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
def test_band_beyond_the_figure_ends_in_arrows_named_in_the_legend(ascii_only: bool) -> None:
    calm = Series("p50", tuple(Point(i, 10 + i % 11 / 100, 9.99, 10.11) for i in range(200)))
    wild = replace(calm, points=tuple(replace(p, high=10.3, low=1.0 if p.x == 50 else p.low) for p in calm.points))
    up, down, band = ("^", "v", ":") if ascii_only else ("↑", "↓", "░")

    def shown(series: Series) -> tuple[str, str, str]:
        figure = Figure((series,), None, "s", "ms", from_zero=False, bar_name="range")
        rows = text_of(draw(figure, 70, 14, ascii_only=ascii_only)).splitlines()
        return rows[0], rows[-4], rows[-1]

    first, last, legend = shown(wild)
    assert first.count(up) > 50 and band not in first, "every highest lies above"
    assert last.count(down) == 1 and legend.endswith(f"{band} range  {up}{down} cut")
    first, last, legend = shown(calm)
    assert up not in first and down not in last and legend.endswith(f"{band} range")


def test_break_in_a_series_is_not_bridged() -> None:
    series = Series("a", (Point(0, 0.0), Point(1, 0.0), Point(9, 0.0), Point(10, 0.0)), breaks=(2,))
    figure = Figure((series,), (), "", "")
    whole, broken = (
        next(row for row in text_of(draw(each, 60, 9)).splitlines() if "●" in row)
        for each in (replace(figure, series=(replace(series, breaks=()),)), figure)
    )
    assert " " * 20 in broken and " " * 20 not in whole


def test_single_equal_and_missing_values_are_drawn() -> None:
    one = text_of(draw(Figure((Series("a", (Point(4, 7.0),)),), ((4, "4"),), "cores", "y"), 40, 10))
    assert one.count("●") == 2, "the point and the legend"
    equal = text_of(draw(Figure((Series("a", tuple(Point(x, 5.0) for x in range(4))),), None, "x", "y"), 40, 10))
    assert next(row.count("●") for row in equal.splitlines() if "●" in row) == 4
    assert text_of(draw(Figure((), None, "x", "y"), 40, 3)).strip() == "nothing measured"
    assert text_of(draw(Figure((), None, "x", "y"), 9, 1, ascii_only=True)) == "nothing~"
    assert draw(SCALING, 0, 5) == draw(SCALING, 5, 0) == ()


def test_ideal_line_is_whole_when_near_and_cut_when_far() -> None:
    flat = replace(SCALING, ideal=(Point(1, 780.0), Point(16, 780.0)))
    assert "·" * 30 in text_of(draw(flat, 80, 18))
    assert text_of(draw(SCALING, 80, 18)).splitlines()[0].split("┤")[0].strip() == "750"


@pytest.mark.parametrize(("extra", "words"), [(0, ""), (1, "1 more line not drawn"), (2, "2 more lines not drawn")])
def test_undrawn_lines_are_counted_in_the_legend(extra: int, words: str) -> None:
    legend = text_of(draw(replace(SCALING, series=(ONE, ONE, ONE, *(TWO,) * extra)), 120, 18)).splitlines()[-1]
    assert words in legend and ("not drawn" in legend) == bool(extra)


def ratios(*values: float, half: float = 0.02) -> Figure:
    equal = (Point(CORES[0], 1.0), Point(CORES[len(values) - 1], 1.0))
    return Figure((line("a", values, half),), TICKS, "cores", "ratio", ideal=equal, from_zero=False, ideal_name="equal")


@pytest.mark.parametrize("values", [(1.10, 1.105, 1.11), (0.91, 0.905, 0.9)])
def test_ratios_are_drawn_with_the_line_of_equality(values: tuple[float, ...]) -> None:
    *rows, legend = text_of(draw(ratios(*values), 70, 14)).splitlines()
    assert sum("·" * 30 in row for row in rows) == 1 and "· equal" in legend
    assert sum(row.count("┬") for row in rows) == 3 and not {"↑", "↓"} & set("".join(rows)), "no bar is cut"


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
def test_single_ratio_is_drawn_with_the_line_of_equality(ascii_only: bool) -> None:
    dot, cap = (".", "+") if ascii_only else ("·", "┬")
    *rows, legend = text_of(draw(ratios(1.04, half=0.07), 70, 14, ascii_only=ascii_only)).splitlines()
    level = next(number for number, row in enumerate(rows) if dot * 20 in row)
    assert rows[level].count(dot) > 55 and f"{dot} equal" in legend
    assert sum(dot * 20 in row for row in rows) == 1 and min(n for n, row in enumerate(rows) if cap in row) < level
    far = text_of(draw(ratios(3.0), 70, 14, ascii_only=ascii_only))
    assert "equal" not in far and dot * 3 not in far


def test_ideal_line_too_far_to_draw_is_not_in_the_legend() -> None:
    assert "·" not in text_of(draw(ratios(3.0, 3.1, 3.2), 70, 14))
    unsure = text_of(draw(ratios(3.0, 3.1, 3.2, half=0.7), 70, 14)).splitlines()
    assert sum("·" * 12 in row for row in unsure) == 1 and "· equal" in unsure[-1], "a bar holds it"


@pytest.mark.parametrize(("half", "from_zero"), [(0.0, False), (1e-10, False), (0.0, True)])
def test_values_that_differ_by_noise_have_distinct_tick_labels(half: float, from_zero: bool) -> None:
    for figure in (ratios(1.1, 1.1 + 1e-10, half=half), ratios(3.1, 3.1 + 1e-10, half=half), ratios(1.0, half=half)):
        rows = text_of(draw(replace(figure, from_zero=from_zero), 70, 14)).splitlines()
        names = [row.split("┤")[0] for row in rows if "┤" in row]
        assert len(set(names)) == len(names) and max(map(len, names)) < 6


def test_legend_drops_whole_entries_without_room() -> None:
    legends = [text_of(draw(SCALING, width, 12)).splitlines()[-1] for width in (50, 46, 35, 25)]
    assert legends == [
        "items/s by cores (log2)  ● onnxruntime  · ideal",
        "items/s by cores  ● onnxruntime  · ideal",
        "items/s by cores  ● onnxruntime",
        "items/s by cores (log2)",
    ]


@pytest.mark.parametrize("ascii_only", [False, True], ids=["braille", "ascii"])
def test_two_dense_lines_differ_without_colour(ascii_only: bool) -> None:
    def dense(name: str, y: float) -> Series:
        return Series(name, tuple(Point(x, y) for x in range(1, 301)))

    markers = "ox" if ascii_only else "●○"
    rows = text_of(
        draw(Figure((dense("a", 1.0), dense("b", 2.0)), None, "n", "ms"), 60, 12, ascii_only=ascii_only)
    ).splitlines()
    figure = [row[8:] for row in rows[:-2]]
    found = {marker: {n for n, row in enumerate(figure) if row.count(marker) > 2} for marker in markers}
    assert [len(found[marker]) for marker in markers] == [1, 1] and found[markers[0]] != found[markers[1]]
    alone = text_of(draw(Figure((dense("a", 1.0),), None, "n", "ms"), 60, 12, ascii_only=ascii_only))
    assert alone.count(markers[0]) == 1  # in the legend

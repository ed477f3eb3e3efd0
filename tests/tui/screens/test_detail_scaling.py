from __future__ import annotations

from tests.present import build
from tests.tui.pilot import settle
from tests.tui.sample_data import make, sweep, sweep_cell
from tests.tui.screens.detail_stage import Detail, detail
from tuibench.core.cell import CellResult
from tuibench.core.result import RunResult
from tuibench.present.cells import failure_text
from tuibench.present.plots.scaling import scaling
from tuibench.present.plots.selection import Selection
from tuibench.present.plots.sentences import point_words
from tuibench.tui import route
from tuibench.tui.screens.detail.scaling import ScalingPane

ONE = sweep(1)
BOTH = sweep(2, engines=("onnxruntime", "openvino"))


def shape_run() -> RunResult:
    """Return cells of several sequence lengths at two batches, on one and on four cores."""
    cells = [
        build.ok_cell(0.05 * seq * batch / cores, 1000 / (0.05 * seq) * cores,
                      {"cores": cores, "batch": batch, "dims": {"seq": seq}}, items=batch)
        for cores in (1, 4) for batch in (1, 8) for seq in (32, 64, 128)
    ]  # fmt: skip
    return make(7, 60, *cells)


def panel(seen: Detail) -> list[str]:
    """Return the text right of the figure, without surrounding blanks."""
    return [line[42:].strip() for line in seen.rows[4:19]]


def point(seen: Detail) -> str:
    """Return the full text of the point under the cursor."""
    return " ".join(line.strip() for line in seen.rows[19:21]).strip()


def shown_point(seen: Detail) -> str:
    """Return the words of the selected point."""
    pane = seen.app.page.query_one(f"#{seen.tab}", ScalingPane)
    assert pane.point is not None
    return point_words(pane.point, "throughput")


async def test_scaling_tab_cursor_metric_and_statistic() -> None:
    async with detail(ONE, tab="cores") as seen:
        # figure table and conclusions share screen
        assert seen.chosen == {"batch": "1", "metric": "items/s", "stat": "p50"}
        said = panel(seen)
        assert said[0].split() == ["cores", "items/s", "±", "eff", "G"]
        assert said[1].split() == [">", "1", "61.73", "0.7%", "100%", "A"]
        assert said[5].split() == ["16", "536.8", "1.5%", "54%", "A"]
        conclusions = scaling(ONE, Selection(fixed={"batch": 1})).sentences
        assert [line.split()[0] for line in said[7:12]] == [one.kind for one in conclusions]
        assert all(one.text.partition(":")[0] in line for one, line in zip(conclusions, said[7:], strict=False))
        assert point(seen) == f"◉ {shown_point(seen)}"
        # The legend is below the data, and the log axis has its label.
        assert seen.rows[18].startswith("p50 items/s") and "log2" in seen.rows[18]
        # cursor visits points and enter opens cell
        await seen.press("down", "j", "up")
        assert point(seen) == f"◉ {shown_point(seen)}" and "117" in point(seen)
        assert next(line for line in panel(seen) if line.startswith(">")).split()[1] == "2"
        await seen.press("G")
        assert point(seen).startswith("◉ 16 cores")
        assert seen.text.count("◉") == 2 and "●◉" not in seen.text
        await seen.press("right", "enter")
        assert seen.tab == "baseline" and seen.cell == [14, 15, 16, 8]
        await seen.press("2", "home", "enter")
        assert seen.cell[2:] == [1, 8]
        # metric and statistic each have one key
        await seen.press("escape")
        seen_metrics = []
        for _ in range(4):
            await seen.press("m")
            seen_metrics.append(seen.chosen["metric"])
        assert seen_metrics == ["ms/batch", "eff %", "ms/item", "items/s"]
        await seen.press("t")
        assert seen.chosen["stat"] == "mean" and seen.rows[18].startswith("mean ")
        await seen.press("t")
        assert seen.chosen["stat"] == "floor"


async def test_escape_returns_from_cell_to_point_then_leaves_page() -> None:
    async with detail(ONE, tab="cores") as seen:
        await seen.press("right", "down", "down", "enter", "right", "escape")
        assert seen.tab == "cores" and ">" in panel(seen)[3] and seen.chosen["batch"] == "8"
        await seen.press("enter", "]", "escape")
        assert type(seen.app.page).__name__ == "HomeScreen", "who went on by the tabs leaves"
    async with detail(ONE.id, tab="batches") as seen:
        await seen.press("enter", "escape", "escape")
        assert type(seen.app.page).__name__ == "HomeScreen"


async def test_left_and_right_change_fixed_value() -> None:
    async with detail(ONE, tab="cores") as seen:
        await seen.press("right")
        assert seen.chosen["batch"] == "8" and panel(seen)[1].split()[:3] == [">", "1", "65.76"]
        await seen.press("right", "right")
        assert seen.chosen["batch"] == "1"
        await seen.press("left")
        assert seen.chosen["batch"] == "32"


async def test_two_engines_are_drawn_together_alone_or_as_table() -> None:
    async with detail(BOTH, tab="cores") as seen:
        # engines are drawn together or alone
        assert seen.chosen["show"] == "all"
        said = panel(seen)
        assert said[0].split() == ["cores", "onnxrunt…", "openvino"]
        assert said[1].split() == [">", "1", "61.73", "67.10"]
        assert any(line.startswith("ratio") for line in said)
        assert seen.rows[19].startswith(" ● onnxruntime") and "61.7" in seen.rows[19]
        assert seen.rows[20].startswith(" ○ openvino") and "67.1" in seen.rows[20]
        await seen.press("f")
        assert seen.chosen["show"] == "onnxruntime" and "○" not in seen.text
        await seen.press("f")
        assert seen.chosen["show"] == "openvino" and panel(seen)[1].split()[:3] == [">", "1", "67.10"]
        await seen.press("f")
        assert seen.chosen["show"] == "all"
        # wide mode replaces figure with numbers and conclusions
        await seen.press("m")
        assert "⠤" in seen.text and "[+47, +55]" not in seen.text
        await seen.press("w")
        assert "⠤" not in seen.text and "[+47, +55]" in seen.text
        line = next(row for row in seen.rows if row.startswith(">"))
        assert line.split() == [">", "1", "16.20", "0.7%", "100%", "A", "14.90", "0.7%", "100%", "A"]
        await seen.press("w")
        assert "⠤" in seen.text


async def test_selections_persist_while_result_is_open() -> None:
    async with detail(BOTH, tab="cores") as seen:
        usual = seen.choices
        await seen.press("right", "m", "t", "f", "f")
        assert seen.chosen == {"batch": "8", "metric": "ms/batch", "stat": "mean", "show": "openvino"}
        await seen.press("3", "right")
        assert (seen.chosen["metric"], seen.chosen["show"]) == ("ms/batch", "openvino")
        await seen.press("f", "2")
        # A tab opened earlier adopts the selection made on another tab.
        assert (seen.chosen["show"], seen.chosen["batch"]) == ("all", "8")
        seen.app.go_back()
        seen.app.go(route.detail(BOTH.id, "cores"))
        await settle(seen.pilot)
        assert seen.choices == usual


async def test_shapes_have_two_fixed_axes_and_h_names_changed_axis() -> None:
    async with detail(shape_run(), tab="shapes") as seen:
        assert (seen.chosen["cores"], seen.chosen["batch"]) == ("4", "1")
        assert "seq^1.00" in seen.text
        await seen.press("left", "h", "right")
        assert (seen.chosen["cores"], seen.chosen["batch"]) == ("1", "8")
        await seen.press("down", "down", "enter")
        assert seen.cell[2:] == [1, 8, 128]


async def test_streams_have_separate_statistic() -> None:
    cells = [sweep_cell(c, 1, scenario="async") for c in (1, 4, 16)]
    async with detail(make(8, 60, *cells), tab="cores") as seen:
        assert seen.chosen["stat"] == "mean" and seen.rows[18].startswith("mean ")
        await seen.press("t")
        assert seen.chosen["stat"] == "mean"
        await seen.press("m")
        assert (seen.chosen["metric"], seen.chosen["stat"]) == ("ms/batch", "p50")


def _sweep_with(*cells: CellResult) -> RunResult:
    return make(9, 60, *(sweep_cell(c, 1) for c in (1, 2)), *cells)


async def test_cells_without_value_keep_position_and_reason() -> None:
    failed = build.failed_cell({"cores": 4, "batch": 1})
    async with detail(_sweep_with(failed, build.skipped_cell(cores=8)), tab="cores") as seen:
        assert "4 ✗ died" in seen.text and "8 ✗ skipped" in seen.text
        await seen.press("down", "down")
        assert point(seen) == f"◉ {shown_point(seen)}" and failure_text(failed) in point(seen)
        await seen.press("enter")
        assert seen.tab == "baseline" and "kernel" in seen.text


async def test_two_hundred_cells_scroll_below_fixed_conclusions() -> None:
    cells = [sweep_cell(c, b) for c in range(1, 51) for b in (1, 2, 4, 8)]
    async with detail(make(11, 60, *cells), tab="cores") as seen:
        assert seen.chosen["batch"] == "1"
        assert panel(seen)[7] == "1-6 of 50"
        await seen.press(*["down"] * 20)
        assert point(seen).startswith("◉ 21 cores") and "16-21 of 50" in seen.text
        assert any(line.startswith("best    50 cores") for line in panel(seen))
        await seen.press("G")
        assert "45-50 of 50" in seen.text
        await seen.press("enter")
        assert seen.cell[:2] == [197, 200]
        await seen.press("right", "right", "right", "right")
        assert seen.cell[:2] == [1, 200]

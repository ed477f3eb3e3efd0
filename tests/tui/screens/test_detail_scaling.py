from __future__ import annotations

from tests.present import build
from tests.tui.pilot import settle
from tests.tui.screens.detail_stage import Detail, detail
from tests.tui.stock import make, sweep, sweep_cell
from tuibench.core.cell import CellResult
from tuibench.core.result import RunResult
from tuibench.tui import route

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


async def test_scaling_tab_cursor_metric_and_statistic() -> None:
    async with detail(ONE, tab="cores") as seen:
        # figure table and conclusions share screen
        assert seen.choices == " batch ‹ [1] 8 32 › ←→   metric [items/s] m   stat [p50] t"
        said = panel(seen)
        assert said[0].split() == ["cores", "items/s", "±", "eff", "G"]
        assert said[1].split() == [">", "1", "61.73", "0.7%", "100%", "A"]
        assert said[5].split() == ["16", "536.8", "1.5%", "54%", "A"]
        assert said[7:] == [
            "best    16 cores  537 items/s ±1.5 %",
            "worst   1 core  61.7 items/s ±0.7 %",
            "knee    8 cores  efficiency 72 %",
            "Amdahl  5.6 % serial part [5.2, 6.0]",
            "step    8 → 16 cores: items/s +51 %",
            "", "", "",
        ]  # fmt: skip
        assert point(seen) == ("◉ 1 core: 61.7 items/s ±0.7 %, 16.2 ms/batch ±0.7 %, efficiency 100 %, grade A")
        # The legend is below the data, and the log axis has its label.
        assert seen.rows[18].startswith("p50 items/s by cores (log2)")
        # cursor visits points and enter opens cell
        await seen.press("down", "j", "up")
        assert point(seen).startswith("◉ 2 cores: 117 items/s")
        assert next(line for line in panel(seen) if line.startswith(">")).split()[1] == "2"
        await seen.press("G")
        assert point(seen).startswith("◉ 16 cores")
        assert seen.text.count("◉") == 2 and "●◉" not in seen.text
        await seen.press("right", "enter")
        assert seen.tab == "baseline" and "cell 14 of 15 [sync, 16 cores, batch 8]" in seen.choices
        await seen.press("2", "home", "enter")
        assert "[sync, 1 core, batch 8]" in seen.choices
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
        assert "ratio   16 cores: openvino" in said
        assert seen.rows[19] == " ● onnxruntime  1 core: 61.7 items/s ±0.7%, 16.2 ms/batch ±0.7%, eff 100%, A"
        assert seen.rows[20] == " ○ openvino  1 core: 67.1 items/s ±0.7%, 14.9 ms/batch ±0.7%, eff 100%, A"
        await seen.press("f")
        assert seen.chosen["show"] == "onnxruntime" and "○" not in seen.text
        await seen.press("f")
        assert seen.chosen["show"] == "openvino" and panel(seen)[1].split()[:3] == [">", "1", "67.10"]
        await seen.press("f")
        assert seen.chosen["show"] == "all"
        # wide mode replaces figure with numbers and conclusions
        await seen.press("m")
        assert "w shows all" in seen.text
        await seen.press("w")
        assert "w shows all" not in seen.text and "⠤" not in seen.text
        assert "step    8 → 16 cores: items/s +51 % [+48, +54]" in seen.text
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
        assert "growth  time grows as seq^1.00, 32" in seen.text
        await seen.press("left", "h", "right")
        assert (seen.chosen["cores"], seen.chosen["batch"]) == ("1", "8")
        assert "3 of 12" not in seen.text
        await seen.press("down", "down", "enter")
        assert "[sync, 1 core, batch 8, seq=128]" in seen.choices


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
        assert "4 ✗ died by SIGSEGV in load" in seen.text and "8 ✗ skipped" in seen.text
        await seen.press("down", "down")
        assert point(seen) == "◉ 4 cores: died by SIGSEGV in load: the worker died"
        await seen.press("enter")
        assert seen.tab == "baseline" and "last line  fatal: bad kernel" in seen.text


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
        assert "cell 197 of 200" in seen.choices
        await seen.press("right", "right", "right", "right")
        assert "cell 1 of 200" in seen.choices

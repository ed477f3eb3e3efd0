from __future__ import annotations

import pytest

from tests.present import build
from tests.tui.frame import check_frame
from tests.tui.pilot import replace_methods
from tests.tui.sample_data import make, sweep, sweep_cell
from tests.tui.screens.detail_stage import detail
from tuibench.core.ids import short_id
from tuibench.core.result import RunResult
from tuibench.present.verdict import verdict_sentence

OLD, NEW = sweep(2, 7200), sweep(1, 3600, faster=1.06)


def versus() -> RunResult:
    """Return two interleaved engines."""
    pair = [sweep_cell(8, 1, engine) for engine in ("onnxruntime", "openvino")]
    found = build.comparison(
        pair[0].key, pair[1].key, "p50", 0.85, 0.84, 0.86, 8, True, "faster", None,
        "openvino is faster than onnxruntime: 15 % less time; ratio 0.850 [0.840, 0.860]",
    )  # fmt: skip
    return make(3, 1800, *pair, comparisons=(found,))


async def test_interleaved_operands_have_verdict() -> None:
    async with detail(versus(), tab="comparison") as seen:
        (found,) = versus().comparisons
        assert "interleaved" in seen.rows[2] and verdict_sentence(found.verdict)[:40] in seen.text
        assert "0.850 [0.840, 0.860] faster" in seen.text
        await seen.press("f")
        assert "[openvino]" in seen.choices and "1.176 [1.163, 1.190] slower" in seen.text


def versus_shapes(*engines: str) -> RunResult:
    """Return interleaved engines over shapes, with streams and long ratios; the first is the base."""
    cells = {
        (engine, seq): build.ok_cell(
            seq / 8, 640.0,
            {"engine": engine, "dims": {"seq": seq}, "scenario": "async", "streams": 2},
            items_per_sec=build.estimate(640.0, 0.54),
        )
        for engine in engines for seq in (32, 128)
    }  # fmt: skip
    found = tuple(
        build.comparison(cells[engines[0], seq].key, cells[engine, seq].key, "items/s", 20.996, 14.36, 30.69, 8, True,
                   "slower", None, f"{engine} is slower")
        for engine in engines[1:] for seq in (32, 128)
    )  # fmt: skip
    return make(4, 1800, *cells.values(), comparisons=found)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_pairs_of_shapes_stay_distinct_with_ratio_and_verdict(size: tuple[int, int]) -> None:
    async with detail(versus_shapes("onnxruntime", "openvino"), tab="comparison", size=size) as seen:
        for seq in (32, 128):
            (line,) = [row for row in seen.rows if f" async 2c b1 s2 seq={seq} " in row]
            assert "640 /s ±60 %" in line and line.split()[-4:-1] == ["[14.4,", "30.7]", "slower"], line


async def test_rerun_shows_original_read_once_without_verdict() -> None:
    async with detail(NEW, OLD, rerun_of=OLD.id) as seen:
        compared = []
        real = seen.app.services.exchange.side_by_side

        def count(old: str, new: str) -> object:
            compared.append((old, new))
            return real(old, new)

        replace_methods(seen.app.services, exchange__side_by_side=count)
        await seen.press("5")
        assert seen.tab == "comparison"
        name = short_id(OLD.id)
        assert name in seen.rows[2] and "0.943 [0.937, 0.950]" in seen.text
        assert "faster" not in seen.text and "slower" not in seen.text
        await seen.press("h", "m", "down")
        chosen = seen.choices
        assert "batch]" in chosen and "[ms/batch]" in chosen
        await seen.press("1", "5")
        assert seen.choices == chosen
        # the original is read once
        await seen.press("[", "]")
        assert compared == [(OLD.id, NEW.id)]


async def test_missing_original_says_so_and_keeps_tab() -> None:
    async with detail(NEW, rerun_of=OLD.id, tab="cores") as seen:
        await seen.press("5")
        assert (seen.tab == "cores" and short_id(OLD.id) in seen.said) or OLD.id in seen.said
        await seen.press("m")
        assert "[ms/batch]" in seen.choices


async def test_rerun_without_matching_batches_shows_reason_and_hint() -> None:
    other = make(5, 900, *(sweep_cell(cores, 16) for cores in (1, 2)))
    async with detail(other, OLD, tab="comparison", rerun_of=OLD.id) as seen:
        check_frame(seen.app, "detail-unpaired-80x24")
        await seen.press("f", "m", "h")
        assert "[-]" not in seen.text

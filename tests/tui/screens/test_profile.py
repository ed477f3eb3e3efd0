from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present.profile.sample_data import make_profile
from tests.tui.pilot import look, until_seen
from tests.tui.screens.profile_stage import Profiled, profile_run, profiled
from tests.tui.screens.stage import offered
from tests.tui.stub_page import opened_page, stub_routes
from tuibench.core.ids import short_id
from tuibench.core.profile import LOSS
from tuibench.present.profile.page import ProfileHeading, profile_lines, view_of
from tuibench.present.profile.summary import label_of
from tuibench.services.form_values import APPROXIMATED, FLOPS
from tuibench.tui import route
from tuibench.tui.screens.profile.layers import LayersPane
from tuibench.tui.widgets.status_line import Notice


def layers_of(seen: Profiled) -> LayersPane:
    return seen.app.screen.query_one(LayersPane)


async def test_profile_choices_bars_filter_and_sort() -> None:
    async with profiled() as seen:
        # bars change by m and arrows and values by t
        await seen.go(route.profile(seen.ids[0]))
        assert seen.chosen["type"] == ["baseline", "ms"]
        await seen.press("m")
        assert seen.chosen["type"] == ["potential", "ms"] and "≤" in seen.text
        await seen.press("right")
        assert seen.chosen["type"] == ["potential", "%"]
        await seen.press("left", "left")
        assert seen.chosen["type"] == ["baseline", "ms"]
        await seen.press("t", "t")
        assert seen.chosen["as"][-1] == "total" and "79 %  5" in seen.text
        # selection applies to all tabs of profile
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("left", "left", "3")
        assert "[bytes]" in seen.text
        await seen.press("1")
        assert seen.chosen["type"] == ["bytes"]
        await seen.press("q")
        await seen.go(route.profile(seen.ids[1]))
        assert seen.chosen["type"] != ["bytes"]
        # enter on bar filters layers and escape clears
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("enter")
        assert "[2 Layers]" in seen.rows[1] and "Conv: 5" in seen.rows[1] and "Conv:" in seen.news
        view = layers_of(seen).view
        assert {view.row(one).op for one in layers_of(seen).table.keys} == {"Conv"}
        await seen.press("escape")
        assert "16 rows" in seen.rows[1] and len(layers_of(seen).table.keys) == 16
        # table sorts by any column and filters
        await seen.go(route.profile(seen.ids[0], "layers"))
        first = list(layers_of(seen).table.keys)
        assert first[:3] == ["out0", "out2", "out3"] and "*1 Conv" in seen.rows[3]
        await seen.press("s")
        assert "by #" in seen.rows[1] and list(layers_of(seen).table.keys)[:3] == ["out0", "out1", "out2"]
        await seen.press("S")
        assert layers_of(seen).table.keys[0] == "folded"
        await seen.press("slash")
        await seen.type("matmul")
        assert list(layers_of(seen).table.keys) == ["out7"]
        await seen.press("enter", "escape")
        assert len(layers_of(seen).table.keys) == 16


async def test_bar_filter_matches_operator_exactly() -> None:
    base = make_profile()
    assert base.performance is not None
    conv, *others = base.performance.layers
    near = replace(conv, op="ConvTranspose", key="near", nodes=("near",), weight="Conv")
    long = replace(conv, op="L" * 60, key="long", nodes=("long",), kernels=("Conv",))
    profile = replace(base, performance=replace(base.performance, layers=(conv, near, long, *others)))
    async with profiled((80, 24), profile_run(1, 60, profile)) as seen:
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("enter")
        view, keys = layers_of(seen).view, layers_of(seen).table.keys
        assert [view.row(one).op for one in keys] == ["Conv"] * 5
        # A row's statement about the rows above it covers only visible rows.
        assert view.row(keys[0]).cumulative == view.row(keys[0]).share
        await seen.press("slash")
        await seen.type("out2")
        await seen.press("enter")
        assert "Conv: 1" in seen.rows[1] and "'out2'" in seen.rows[1]
        await seen.press("escape")
        assert "rows" in seen.rows[1] and "long" in layers_of(seen).table.keys
        layers_of(seen).show_bar(label_of("L" * 60))
        assert list(layers_of(seen).table.keys) == ["long"]


async def test_layers_table_widens_opens_layers_and_depth_follows() -> None:
    async with profiled() as seen:
        # table at 80 columns and in wide mode
        await seen.go(route.profile(seen.ids[0], "layers"))
        assert seen.rows[2].split()[:6] == ["#", "op", "weight", "ms", "%", "cum"]
        assert "% roof" in seen.rows[2] and "kernel" not in seen.rows[2]
        assert "stage0.b…v.weight" in seen.rows[3]
        await seen.press("w")
        assert "stage0.block0.conv.weight" in seen.rows[3]
        # wide table scrolls numbers beside fixed names
        await seen.go(route.profile(seen.ids[0], "layers"))
        assert "scroll" not in seen.text
        await seen.press("w")
        assert "scroll" in seen.text
        assert seen.rows[2].split()[:7] == ["#", "op", "weight", "ms", "%", "cum", "%"] and "1.31" in seen.rows[3]
        await seen.press(*["right"] * 12)
        assert seen.rows[2].split()[:2] == ["#", "op"] and "kernel" in seen.rows[2] and "weight" not in seen.rows[2]
        assert seen.rows[3].split()[:3] == [">", "*1", "Conv"] and "FusedConv" in seen.rows[3]
        await seen.press("w")
        assert "scroll" not in seen.text and seen.rows[2].split()[:3] == ["#", "op", "weight"]
        # enter shows all fields of layer
        await seen.go(route.profile(seen.ids[0], "layers"))
        await seen.press("enter")
        assert "118 M" in seen.text
        heading = next(row for row in seen.rows if row.endswith("esc back"))
        assert heading.startswith(" /stage0/block0/Conv"), heading
        await seen.press("escape")
        assert "[2 Layers]" in seen.rows[1]
        # depth cursor describes its layer
        await seen.go(route.profile(seen.ids[0], "depth"))
        assert " 1 of 12 " in seen.text and "1.31 ms" in seen.text
        await seen.press("down", "down")
        assert " 3 of 12 " in seen.text and "1.05 ms" in seen.text and "/stage0/block2/Conv" in seen.text
        await seen.press("G")
        assert " 12 of 12 " in seen.text and "20.0 µs" in seen.text
        await seen.press("g", "enter")
        assert isinstance(seen.app.screen, Notice) and "118 M" in seen.text
        # environment and log come from record
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("4")
        assert "packages" in seen.text
        await seen.press("L")
        assert "[5 Log]" in seen.rows[1] and "tuibench" in seen.text
        await seen.press("]")
        assert "[1 Summary]" in seen.rows[1]


async def test_benchmark_keys_act_on_open_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile_form", "profile_comparison")
    old = profile_run(8, 9000)
    async with profiled((80, 24), replace(profile_run(7, 60)), old) as seen:
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("R")
        assert opened_page(seen.app) == ("profile_form", ("", "performance", seen.ids[0]), {})
        await seen.press("q", "c")
        assert short_id(seen.ids[0]) in seen.news and seen.status.kind == "warn"
        await seen.press("y")
        assert seen.app.clipboard and seen.status.said.endswith(seen.app.clipboard)
        await seen.press("x")
        assert f"Export {short_id(seen.ids[0])}" in seen.text


async def test_profile_edit_removal_and_loss_labels() -> None:
    async with profiled() as seen:
        # edited name appears at once and removal can be undone
        await seen.go(route.profile(seen.ids[0]))
        await seen.press("e", "end", "2", "enter", "enter")
        await look(seen.app, seen.pilot)
        assert '"baseline2"' in seen.rows[0]
        await seen.press("d", "y")
        assert seen.ids[0] not in {row.id for row in seen.services.library.list()}
        await seen.press("u")
        assert seen.services.library.get(seen.ids[0]).metadata.name == "baseline2"
        # removed profile names undo and refuses export
        seen.services.library.remove([seen.ids[0]])
        await seen.go(route.profile(seen.ids[0]))
        assert short_id(seen.ids[0]) in seen.rows[2] and "u" in offered(seen.app) and "d" not in offered(seen.app)
        await seen.press("x")
        assert "Export" not in seen.text and seen.status.kind == "warn"
        await seen.press("u")
        await look(seen.app, seen.pilot)
        await until_seen(seen.pilot, lambda: "4.76 ms/batch" in seen.text)
        # loss profile shows level instead of type
        await seen.go(route.profile(seen.ids[2]))
        assert seen.chosen["level"] == ["int8"] and "MatMul" in seen.text and "summed" not in seen.text
        await seen.press("t", "t")
        assert seen.chosen["as"][-1] == "total" and "summed" in seen.text
        await seen.press("t", "right")
        assert seen.chosen["level"] == ["params"] and "256 k" in seen.text
        await seen.press("2")
        assert seen.rows[2].split()[:8] == ["#", "op", "weight", "params", "0.5", "0.8", "0.9", "0.95"]
        await seen.press("enter")
        assert "outputs" in seen.text and "(proxy)" in seen.text
        # proxy value is labelled on every tab
        await seen.go(route.theory(seen.project, APPROXIMATED))
        for number in "123":
            await seen.press(number)
            assert "proxy" in seen.text, number


async def test_damaged_profile_shows_cause() -> None:
    async with profiled() as seen:
        path = next(p for p in seen.services.settings.places.data.rglob("*") if p.is_file() and seen.ids[0] in p.name)
        path.write_bytes(path.read_bytes()[:200])
        await seen.go(route.profile(seen.ids[0]))
        assert " ! " in seen.rows[2] and "d" in offered(seen.app)


async def test_loss_profile_opens_at_shell_default_level() -> None:
    profile = make_profile(kind=LOSS)
    assert profile.loss is not None
    loss = replace(profile.loss, levels=("pruned 0.9", "pruned 0.8"))
    printed = profile_lines(view_of(loss), ProfileHeading("m.onnx"))
    in_shell = next(line for line in printed if line.startswith("Sensitivity by operator"))
    async with profiled((80, 24), profile_run(1, 60, replace(profile, loss=loss))) as seen:
        await seen.go(route.profile(seen.ids[0]))
        usual = view_of(loss).usual.split()
        assert seen.chosen["level"] == usual and in_shell.removesuffix(":") in seen.text
        # The selected level persists while the profile is open.
        await seen.press("right")
        assert seen.chosen["level"] != usual
        await seen.press("escape")
        await seen.go(route.profile(seen.ids[0]))
        assert seen.chosen["level"] == usual


async def test_theory_is_labelled_on_every_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_routes(monkeypatch, "profile_form")
    async with profiled() as seen:
        await seen.go(route.theory(seen.project, FLOPS))
        for number in "123":
            await seen.press(number)
            assert "theoretical" in seen.rows[0]
        assert "4 Env" not in seen.rows[1]
        await seen.press("4")
        assert "[3 Depth]" in seen.rows[1]
        await seen.press("y")
        assert seen.app.clipboard == seen.app.services.theory.command(seen.project, FLOPS)
        await seen.press("n")
        assert opened_page(seen.app)[:2] == ("profile_form", (seen.project, "performance"))

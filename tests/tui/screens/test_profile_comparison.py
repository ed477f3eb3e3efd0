from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from tests.present.build import model
from tests.present.profile.sample_data import make_costs, make_loss, make_performance, make_profile
from tests.tui.pilot import until_seen
from tests.tui.screens.profile_stage import profile_run, profiled
from tuibench.core.ids import short_id
from tuibench.core.profile import LOSS, PERFORMANCE, Profile
from tuibench.present.profile.pairs import pairs_of
from tuibench.tui import route
from tuibench.tui.screens.profile import comparison as profile_comparison
from tuibench.tui.widgets.record_table import Line, RecordTable, line_of
from tuibench.tui.widgets.status_line import Notice


def slow() -> Profile:
    base = make_profile()
    return replace(base, performance=replace(make_performance(slower=1.5), cores=1))


async def test_profile_pairs_are_ordered_swapped_and_filtered() -> None:
    async with profiled((80, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        # layers are paired and largest difference is first
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "→ 7.14 ms" in seen.text and "cores 2 / 1" in seen.text
        line = next(row for row in seen.rows if row.startswith(">"))
        assert line.split()[1:3] == ["1", "Conv"] and "1.31" in line and "+0.655" in line and "1.50" in line
        # key f swaps base
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("f")
        assert "0.667" in seen.text and "-0.655" in seen.text
        # enter shows pair and filter narrows pairs
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("slash")
        await seen.type("matmul")
        await seen.press("enter")
        assert sum("MatMul" in row for row in seen.rows) == 1 and "LayerNorm" not in seen.text
        await seen.press("enter")
        assert isinstance(seen.app.screen, Notice) and "out7" in seen.text
        await seen.press("escape", "escape")
        assert "LayerNorm" in seen.text


async def test_differing_models_and_environment_are_named() -> None:
    cpus = [{"cpu": {"brand": name}} for name in ("A CPU", "Another CPU")]
    same, old = (profile_run(number, 3600 * number, environment=cpus[0]) for number in (3, 2))
    new = profile_run(1, 3600, environment=cpus[1], models=(model(sha256="c" * 64),))
    async with profiled((80, 24), new, old, same) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "models" in seen.text and 0 < seen.text.index("A CPU") < seen.text.index("Another CPU")
        await seen.press("f")
        assert seen.text.index("Another CPU") < seen.text.index("A CPU")
        await seen.go(route.profile_comparison(seen.ids[2], seen.ids[1]))
        assert "models" not in seen.text and "CPU" not in seen.text


async def test_environment_differences_without_room_are_counted() -> None:
    versions = [{f"package{n}": f"{side}.{n}" for n in range(9)} for side in (1, 2)]
    old, new = (
        profile_run(n, 3600 * n, versions=one, environment={"cpu": {}}) for n, one in zip((2, 1), versions, strict=True)
    )
    async with profiled((80, 24), new, old) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "5 lines" in seen.text
        assert sum("differs: package" in row for row in seen.rows) == 4
        await seen.pilot.resize_terminal(120, 36)
        await until_seen(seen.pilot, lambda: sum("differs: package" in row for row in seen.rows) == 9)


async def test_layers_are_compared_while_keys_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check each computation, also a swap of the base: no key waits for thousands of layers."""
    real, threads = pairs_of, list[bool]()

    def compare(*sides: object) -> object:
        threads.append(threading.current_thread() is threading.main_thread())
        return real(*sides)  # type: ignore[arg-type]

    monkeypatch.setattr(profile_comparison, "pairs_of", compare)
    async with profiled((80, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("f", "f")
        assert threads == [False] * 3 and "ratio 1.50" in seen.text
        # Two keys in one packet swap the base back.
        await seen.type("ff")
        assert "ratio 1.50" in seen.text


async def test_only_visible_pairs_are_formatted(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(columns: Any, key: str, row: Any) -> Line:
        made.append(key)
        return line_of(columns, key, row)

    monkeypatch.setattr(profile_comparison, "line_of", counted)
    many = Profile(PERFORMANCE, make_costs(2000), performance=make_performance(2000))
    async with profiled((80, 24), profile_run(1, 3600, many), profile_run(2, 7200, many)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert 0 < len(made) < 100, len(made)


async def test_wide_pairs_scroll_beside_number_and_operator() -> None:
    async with profiled((60, 24), profile_run(1, 3600, slow()), profile_run(2, 7200)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        await seen.press("w")
        assert "←→ scroll" in seen.text
        await seen.press(*["right"] * 9)
        line = next(row for row in seen.rows if row.startswith(">"))
        assert line.split()[1:3] == ["1", "Conv"] and line.rstrip().endswith("1.50 yes")


async def test_loss_profiles_compare_level_by_level() -> None:
    one, other = make_profile(kind=LOSS), make_profile(kind=LOSS)
    assert one.loss is not None
    worse = replace(other, loss=replace(make_loss(), samples=8))
    async with profiled((80, 24), profile_run(1, 3600, worse), profile_run(2, 7200, one)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        assert "samples 2 / 8" in seen.text
        assert len(seen.app.screen.query_one(RecordTable).keys) == 7, "both are listed all the same"


async def test_profiles_of_different_kinds_show_reason() -> None:
    async with profiled() as seen:
        await seen.go(route.profile_comparison(seen.ids[2], seen.ids[0]))
        assert not seen.app.page.query_one(RecordTable).keys and all(kind in seen.text for kind in (LOSS, PERFORMANCE))


@pytest.mark.parametrize("empty", [(True, False), (True, True)])
async def test_profile_without_layers_differs_from_other_kind(empty: tuple[bool, ...]) -> None:
    made = [profile_run(n, 3600 * n) for n in (1, 2)]
    made = [replace(one, profile=None, status="cancelled") if no else one for one, no in zip(made, empty, strict=True)]
    async with profiled((80, 24), *made) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        names = " and ".join(short_id(seen.ids[n]) for n in (1, 0) if empty[n])
        assert f" {names} {'are' if all(empty) else 'is'} empty" in seen.text


async def test_two_loss_profiles_show_weights_and_levels_at_80_columns() -> None:
    one = make_profile(kind=LOSS)
    async with profiled((80, 24), profile_run(1, 3600, one), profile_run(2, 7200, one)) as seen:
        await seen.go(route.profile_comparison(seen.ids[1], seen.ids[0]))
        table = seen.app.page.query_one(RecordTable)
        head = next(row for row in seen.rows if " weight " in row)
        assert head.split() == ["#", "op", "weight", "0.5", "0.8", "0.9", "0.95", "int8"] and not table.dropped
        lines = seen.rows[seen.rows.index(head) + 1 :]
        weights = [row.split()[-11] for row in lines if "Conv" in row]
        assert len(weights) > 3 and len(set(weights)) == len(weights), weights
        await seen.pilot.resize_terminal(60, 20)
        await until_seen(seen.pilot, lambda: f"w shows more columns: {', '.join(table.dropped) or '-'}" in seen.text)

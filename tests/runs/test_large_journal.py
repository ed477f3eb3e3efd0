"""The journal of a profile with very many nodes: small, and read back complete."""

from __future__ import annotations

from pathlib import Path

from tests.runs.large_profile import make_large_costs, make_large_run
from tests.runs.profile_script import MODEL, Bench, Scripted, make_profile_spec, plain
from tuibench.core.profile import COSTS, LAYERS
from tuibench.core.record import to_plain
from tuibench.runs.journal import NAME, read_events
from tuibench.runs.replay import replay

NODES = 1000
COUNTED = make_large_costs(NODES)


def script() -> Scripted:
    runs = iter(range(1, 10))
    return Scripted({"cost": plain(COUNTED), "layers": lambda *_: to_plain(make_large_run(COUNTED, next(runs)))})


def test_packed_parts_yield_the_same_profile(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    replayed = bench.run(make_profile_spec(MODEL), script())
    assert (tmp_path / "run" / NAME).stat().st_size < 4 * 40 * NODES + 20_000
    assert replayed.parts.costs == COUNTED
    assert replayed.parts.runs == {n: make_large_run(COUNTED, n) for n in (1, 2, 3)}


def test_existing_parts_are_resumed_and_not_made_again(tmp_path: Path) -> None:
    bench, call = Bench(tmp_path / "run"), script()
    bench.run(make_profile_spec(MODEL), call)
    bench.cut_after(4)
    again = script()
    replayed = bench.run(make_profile_spec(MODEL), again)
    assert [task for task, _ in again.asked].count("layers") == 2 and "cost" not in [task for task, _ in again.asked]
    assert replayed.parts.costs == COUNTED and replayed.parts.runs[1] == make_large_run(COUNTED, 1)


def test_unpacked_journals_are_still_read(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    replayed = bench.run(make_profile_spec(MODEL), script())
    events = list(read_events(tmp_path / "run"))
    for event in events:
        if event["ev"] == "profile_part" and event["part"] == COSTS:
            event["result"] = to_plain(COUNTED)
        elif event["ev"] == "profile_part" and event["part"] == LAYERS:
            event["result"] = to_plain(make_large_run(COUNTED, event["n"]))

    assert replay(events).result().profile == replayed.result().profile

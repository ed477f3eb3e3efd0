"""Profile plans, their cached data, and the view of a run that makes a profile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.refusal import refused
from tests.runs.profile_script import COSTS, LOSSES, USUAL, make_profile_result, make_profile_spec, make_run
from tests.services.script import HERE, ScriptedRun
from tests.store.data import make_small
from tuibench.core.activity import AHEAD, DONE, LOST, NOW
from tuibench.core.errors import EngineError, ModelError, PhaseTimeout
from tuibench.core.model import ModelSummary
from tuibench.core.profile import LOSS, PERFORMANCE, ProfileSpec
from tuibench.core.reason import because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.spec import Limits
from tuibench.core.stored import Metadata
from tuibench.present.reason import read_words
from tuibench.runs.host_queue import HostQueue, find_holder
from tuibench.runs.observer import StateContext
from tuibench.runs.replay import Replay
from tuibench.runs.task import StopSwitch
from tuibench.services import theory
from tuibench.services.active_run import ActiveRun
from tuibench.services.api import Services
from tuibench.services.profiles import theory_spec
from tuibench.services.run_view import RunWatch

MODEL = Path("/models/m.onnx")
Ask = Callable[..., Any]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Record the tasks of children, which answer as scripted; the model is never opened."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def ask(task: str, request: dict[str, Any], **_: Any) -> Any:
        assert Path(request["run_dir"], "inputs").is_dir()
        calls.append((task, request))
        return USUAL[task](request, lambda line: None)

    model = from_plain(ModelSummary, USUAL["inspect"]({"path": "m"}, lambda _: None))
    monkeypatch.setattr(theory, "ask_child", ask)
    monkeypatch.setattr(theory, "inspect", lambda *_: model)
    return calls


def test_profile_with_a_missing_engine_is_refused_before_its_run() -> None:
    services = Services()
    with refused(EngineError, "engine_apart_missing", engine="deepsparse"):
        services.profiles.check_engine("deepsparse")
    services.profiles.check_engine("onnxruntime")


def test_costs_are_counted_once_per_batch_and_dims(home: Path, asked: list[Any]) -> None:
    services = Services()
    assert services.profiles.costs(str(MODEL)) == COSTS
    assert Services().profiles.costs(str(MODEL)) == COSTS
    assert len(asked) == 1
    services.profiles.costs(str(MODEL), 8)
    services.profiles.costs(str(MODEL), 8, {"seq": 3})
    assert [request["spec"]["batches"] for _, request in asked] == [(), (8,), (8,)] or len(asked) == 3
    assert not Path(asked[0][1]["run_dir"]).exists()


def test_weights_are_inspected_once(home: Path, asked: list[Any]) -> None:
    found = Services().profiles.weights(str(MODEL))
    assert (found.kind, found.layers) == ("approximated", LOSSES)
    assert Services().profiles.weights(str(MODEL)) == found
    assert [task for task, _ in asked] == ["weights"]


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"name": "x"}', b"{" * 1000])
def test_damaged_cache_entry_is_requested_again(home: Path, asked: list[Any], damage: bytes) -> None:
    Services().profiles.costs(str(MODEL))
    (kept,) = (Services().settings.places.cache / "theory").iterdir()
    kept.write_bytes(damage)
    assert Services().profiles.costs(str(MODEL)) == COSTS
    assert len(asked) == 2


def test_model_that_cannot_run_is_read_instead(home: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(task: str, request: dict[str, Any], **_: Any) -> Any:
        asked.append((task, request))
        if not request.get("static"):
            raise ModelError("child_died", why=because("died", signal="SIGSEGV"))
        return to_plain(COSTS)

    monkeypatch.setattr(theory, "ask_child", ask)
    assert Services().profiles.costs(str(MODEL)) == COSTS
    assert [bool(request.get("static")) for _, request in asked] == [False, True]
    assert asked[1][1]["static"] == to_plain(
        because("unoptimized_failed", why=because("child_died", why=because("died", signal="SIGSEGV")))
    )
    # The poorer answer is not cached for the next session, in which the run may succeed.
    assert list((Services().settings.places.cache / "theory").glob("*")) == []
    services = Services()
    for _ in range(2):
        services.profiles.costs(str(MODEL))
    assert len(asked) == 4


def test_model_that_never_ends_is_soon_read_instead(
    home: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[list[float | None]] = []

    def ask(task: str, request: dict[str, Any], **options: Any) -> Any:
        hear = options["hear"]
        limits.append([options["timeout_s"], hear({"running": True}), hear({"running": False}), hear({})])
        if not request.get("static"):
            raise PhaseTimeout("child_died", why=because("no_answer", s=30))
        asked.append(request["static"])
        return to_plain(COSTS)

    monkeypatch.setattr(theory, "ask_child", ask)
    assert Services().profiles.costs(str(MODEL)) == COSTS
    # Reading may take long, one run may not: others wait for the machine meanwhile.
    assert limits[0] == [120.0, 30.0, 120.0, None]
    assert asked[0] == to_plain(
        because("unoptimized_failed", why=because("child_died", why=because("no_answer", s=30)))
    )


def test_no_model_runs_for_its_costs_during_a_measurement(
    home: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    services = Services()
    name, answer, held = services.settings.host_lock, vars(theory)["ask_child"], []

    def ask(task: str, request: dict[str, Any], **options: Any) -> Any:
        found = find_holder(name)
        held.append(found is not None and found.brief)
        return answer(task, request, **options)

    monkeypatch.setattr(theory, "ask_child", ask)
    run = HostQueue(name, "0" * 26, lambda: {"run": "0" * 26, "eta_s": None}, StopSwitch())
    run.enter(None, lambda _: None)
    try:
        services.profiles.costs(str(MODEL))
        assert services.runs.holder()
    finally:
        run.leave()
    assert read_words(asked[0][1]["static"]).startswith("the model was not run, as this machine is measuring")
    assert list((services.settings.places.cache / "theory").glob("*")) == []
    # Once nobody measures, the model runs alone on the machine, and the result is cached.
    services.profiles.costs(str(MODEL))
    services.profiles.costs(str(MODEL))
    assert "static" not in asked[1][1] and len(asked) == 2
    assert [request["gentle"] for _, request in asked] == [True, False]
    assert held == [False, True]


def test_plan_uses_earlier_measurements_or_else_costs(home: Path) -> None:
    services = Services()
    spec = make_profile_spec(MODEL)
    assert services.profiles.plan(spec).seconds is None
    guessed = services.profiles.plan(spec, costs=COSTS)
    assert guessed.seconds is not None and "guessed" in guessed.basis
    measured = make_small(1)
    (cell,) = measured.cells
    slow = replace(cell.latency_ms["p50"], value=2000.0)
    asked = replace(cell.asked, scenario="sync", cores=1)
    cell = replace(cell, asked=asked, latency_ms={**cell.latency_ms, "p50": slow})
    services.store.benchmarks.add(replace(measured, cells=(cell,)), Metadata())
    sha256 = measured.models[0].sha256
    known = services.profiles.plan(spec, sha256)
    assert known.seconds is not None and known.seconds > guessed.seconds + 3 * 12 * 2
    assert known.basis == "one inference of 2000 ms, as measured before (0001)"


def test_plan_uses_only_a_profile_of_the_same_settings(home: Path) -> None:
    services = Services()
    stored = make_profile_result(1, us=50_000.0)
    spec = stored.spec
    sha256 = stored.models[0].sha256
    services.store.benchmarks.add(stored, Metadata())
    assert services.profiles.plan(spec, sha256).basis == "one inference of 50.1 ms, as measured before (0001)"
    for other in (replace(spec, cores=(2,)), replace(spec, batches=(8,)), replace(spec, dims=(("seq", (3,)),))):
        assert services.profiles.plan(other, sha256).seconds is None


def test_plan_counts_the_shares_of_zeros_that_an_engine_pretends(home: Path) -> None:
    spec, costs = make_profile_spec(MODEL), replace(COSTS, parameters=10_000_000)
    plain = Services().profiles.plan(spec, costs=costs)
    found = Services().profiles.plan(replace(spec, engines=("deepsparse",)), costs=costs)
    assert plain.seconds is not None and found.seconds is not None
    assert found.seconds >= plain.seconds + 7 * 5 and "the model with 7 shares of zeros" in found.words


def test_plan_ends_where_the_command_does(home: Path) -> None:
    spec = make_profile_spec(MODEL, limits=Limits(max_time_s=2.0))
    plan = Services().profiles.plan(spec, costs=COSTS)
    assert plan.seconds == 2.0 and "--max-time ends it" in plan.basis


def test_plan_of_a_run_uses_its_counted_costs(home: Path) -> None:
    known, profiles = Replay(), Services().profiles
    run = cast(ActiveRun, SimpleNamespace(replay=known))
    known.take({"ev": "run_start", "seq": 0, "t_ns": 0, "spec": to_plain(make_profile_spec(MODEL))})
    assert profiles.plan_run(run).seconds is None
    known.take({"ev": "profile_part", "seq": 1, "t_ns": 1, "part": "costs", "n": 0, "result": to_plain(COSTS)})
    assert "guessed by its 2.20 M FLOPs" in profiles.plan_run(run).basis


def test_plan_grows_with_the_request(home: Path) -> None:
    plan = Services().profiles.plan

    def seconds(profile: ProfileSpec) -> float:
        found = plan(make_profile_spec(MODEL, profile=profile), costs=replace(COSTS, element_flops=10**11))
        assert found.seconds is not None
        return found.seconds

    usual = seconds(ProfileSpec(PERFORMANCE))
    assert usual < seconds(ProfileSpec(PERFORMANCE, processes=6)) < seconds(ProfileSpec(PERFORMANCE, processes=20))
    # Two of the three nodes have products.
    assert seconds(ProfileSpec(PERFORMANCE, what_if=("int8",))) == pytest.approx(usual + 2 * 0.7)
    assert seconds(ProfileSpec(LOSS, samples=1)) < seconds(ProfileSpec(LOSS, samples=8))
    assert seconds(ProfileSpec(LOSS, levels=("int8",))) < seconds(ProfileSpec(LOSS))


def test_plan_of_a_loss_profile_counts_the_changeable_layers(home: Path) -> None:
    conv, *_, gemm = COSTS.nodes
    tied, lstm = replace(gemm, id="again"), replace(gemm, id="run", op="LSTM", weight="kernel")
    spec = make_profile_spec(MODEL, profile=ProfileSpec(LOSS))
    plan = Services().profiles.plan
    assert plan(spec, costs=replace(COSTS, nodes=(conv, gemm, tied, lstm))).words[0].startswith("2 layers, ")
    # Its costs list no such layer, but a folded layer costs nothing and can still be changed.
    folded = replace(COSTS, nodes=(lstm,))
    assert plan(spec, costs=folded).seconds is None and "no layer" not in plan(spec, costs=folded).words[0]
    assert plan(spec, costs=folded, layers=1).words[0].startswith("1 layer, ")
    none = plan(spec, costs=folded, layers=0)
    assert none.words == ("no layer with weights that could be changed",)
    assert none.seconds is not None and none.seconds < 10
    # Static counting may find no products in a layer that has them.
    uncounted = replace(COSTS, nodes=(replace(gemm, macs=None), lstm))
    assert plan(spec, costs=uncounted).words[0].startswith("1 layer, ")
    bare = replace(spec, limits=Limits(max_time_s=1))
    no_flops = replace(COSTS, nodes=(), macs=0, element_flops=0)
    for costs in (folded, no_flops):
        assert plan(spec, costs=costs, layers=0).basis == "having no layer to change"
    assert (
        plan(bare, costs=no_flops, layers=0).basis == "having no layer to change; --max-time ends it before all is made"
    )


def test_plan_counts_the_layers_that_the_run_will_change(
    home: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    constant = replace(COSTS.nodes[0], op="MatMul", weight="", macs=0, times=0)
    folded = replace(COSTS, nodes=(constant,), macs=0, element_flops=0)
    monkeypatch.setitem(USUAL, "cost", lambda *_: to_plain(folded))
    spec, profiles = make_profile_spec(MODEL, profile=ProfileSpec(LOSS)), Services().profiles
    planned = profiles.plan_anew(spec)
    assert planned.words[0].startswith(f"{len(LOSSES)} layers, ") and planned.seconds is not None
    known = Replay()
    run = cast(ActiveRun, SimpleNamespace(replay=known))
    known.take({"ev": "run_start", "seq": 0, "t_ns": 0, "spec": to_plain(spec)})
    known.take({"ev": "profile_part", "seq": 1, "t_ns": 1, "part": "costs", "n": 0, "result": to_plain(folded)})
    assert profiles.plan_run(run).seconds is None, "the weights are looked at next"
    known.take({"ev": "profile_part", "seq": 2, "t_ns": 2, "part": "weights", "n": 0, "result": to_plain(LOSSES)})
    assert profiles.plan_run(run) == planned


def test_engine_without_layer_times_starts_nothing(home: Path) -> None:
    from tuibench.services.runs import RunOptions

    spec = replace(make_profile_spec(MODEL), engines=("openvino",))
    for start in (Services().profiles.start, Services().profiles.launch):
        with refused(EngineError, "engine_without_layer_times", engine="openvino"):
            start(spec, RunOptions())
    assert not (home / "tuibench").exists()


def test_profiles_and_benchmarks_have_separate_lists(home: Path) -> None:
    services = Services()
    services.store.benchmarks.add(make_small(1), Metadata())
    services.store.benchmarks.add(make_profile_result(2), Metadata())
    services.store.benchmarks.add(make_profile_result(3, ProfileSpec(LOSS)), Metadata())
    assert [row.kind for row in services.library.list()] == [""]
    assert [row.kind for row in services.profiles.rows()] == ["loss", "performance"]
    assert [row.kind for row in services.profiles.rows(kind=LOSS)] == ["loss"]
    assert [row.kind for row in services.library.list_unassigned(profiles=True)] == ["loss", "performance"]
    assert [row.kind for row in services.library.list_unassigned()] == [""]
    assert services.library.find("last").kind == "loss"


def test_profile_run_is_watched_part_by_part(tmp_path: Path) -> None:
    run = ScriptedRun(tmp_path, spec=make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=2)))
    run.hold()
    try:
        context = StateContext(HERE, "b" * 36, is_saved=lambda _: False)
        watch = RunWatch(run.directory, lambda: context, "", time.gmtime)
        run.begin()
        journal = run.journal
        assert journal is not None
        points: list[Any] = []
        USUAL["prepare"]({}, lambda line: points.append(line["point"]))
        model = USUAL["inspect"]({"path": "m"}, lambda _: None)
        journal.append("plan", cells=[], models=[model], points=points, seed=0, inputs_sha256=None)
        journal.append("profile_part", part="costs", n=0, result=to_plain(COSTS))
        failure = {"kind": "signal", "phase": "start", "message": "died by SIGSEGV"}
        journal.append("profile_part", part="roofline", n=0, failure=failure)
        journal.append("profile_part", part="layers", n=1, result=to_plain(make_run()))
        stage = because("making_part", part="layers", done=1, of=2, stage="profiling")
        journal.append("progress", cell=None, activity=to_plain(stage), stage="layers", done=1, of=2, eta_s=3.0)
        view = watch.look()
        assert view.cells == () and view.eta_s == 3.0 and view.making is not None
        assert dict(view.making.parts) == {
            "costs": DONE, "roofline": LOST, "zeros": AHEAD, "layers 1": DONE, "layers 2": NOW,
        }  # fmt: skip
        assert (view.making.activity, view.making.done, view.making.of) == (stage, 1, 2)
        assert (view.info.kind, view.info.cells, view.info.cells_done, view.info.executions) == ("performance", 5, 3, 1)
        assert any("process 1: 1.00 ms/batch" in line for line in view.log)
        assert watch.look() is view
        journal.append("run_end", status="finished", saved=True, cells=5, cells_done=3, executions=1)
    finally:
        run.let_go()
    view = watch.look()
    assert view.status == "finished" and view.result is not None and view.result.profile is not None
    assert view.making is not None and view.making.activity is None


def test_theory_spec_requests_no_measurement() -> None:
    spec = theory_spec("m.onnx", LOSS, 4, {"seq": 8})
    assert spec.profile == ProfileSpec(LOSS, approximate=True)
    assert (spec.batches, spec.dims) == ((4,), (("seq", (8,)),))


def test_plan_of_very_many_nodes_uses_their_number(home: Path) -> None:
    node = replace(COSTS.nodes[0], macs=4, parameters=4)
    many = replace(COSTS, nodes=(node,) * 60_000)
    plan = Services().profiles.plan
    one, three = (
        plan(make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=n)), costs=many) for n in (1, 3)
    )
    assert one.seconds is not None and three.seconds is not None
    assert 40 < one.seconds < 90, "a chain of so many took 60 s"
    assert three.seconds > one.seconds + 20 and one.basis.endswith("FLOPs and 60000 nodes")
    few = plan(make_profile_spec(MODEL), costs=COSTS)
    assert few.basis.endswith("FLOPs") and few.seconds is not None and few.seconds < 15

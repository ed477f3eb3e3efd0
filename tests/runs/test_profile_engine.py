"""The engine that makes each part of a profile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runs.profile_script import LOSSY, MODEL, WHAT_IF, ZEROS, Bench, Say, Scripted, make_profile_spec
from tuibench.core.cell import Estimate
from tuibench.core.errors import ExitCode
from tuibench.core.profile import IMPOSED, PrunedPoint
from tuibench.core.reason import Failure, because
from tuibench.core.record import to_plain
from tuibench.present.reason import reason_words


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own and a cache."""
    return Bench(tmp_path / "run", str(tmp_path / "cache"))


def test_engine_without_layer_times_is_reported(bench: Bench) -> None:
    call = Scripted()
    replayed = bench.run(replace(make_profile_spec(MODEL), engines=("openvino",)), call)
    assert replayed.end["error"]["exit_code"] == ExitCode.ENGINE
    assert "reports no layer times" in reason_words(replayed.end["reason"])
    assert call.tasks == []


def test_loss_profile_uses_the_engine_that_changes_layers(bench: Bench) -> None:
    replayed = bench.run(replace(make_profile_spec(MODEL, profile=LOSSY), engines=("fake",)), Scripted())
    assert (
        replayed.end["error"]["exit_code"] == ExitCode.ENGINE
        and reason_words(replayed.end["reason"]) == "layers are not changed with fake"
    )


def test_other_engine_gets_only_the_layer_tasks_it_supports(
    bench: Bench,
) -> None:
    call = Scripted()
    replayed = bench.run(replace(make_profile_spec(MODEL, profile=WHAT_IF), engines=("fake",)), call)
    assert call.tasks == ["inspect", "prepare", "cost", "layers", "layers", "layers"]
    assert [request["engine"] for task, request in call.asked if task == "layers"] == ["fake"] * 3
    assert {name: failure.message for name, failure in replayed.parts.failures.items()} == dict.fromkeys(
        ("roofline", "zeros", "what_if"), because("not_measured_with", engine="fake")
    )
    assert list(replayed.parts.lacking(WHAT_IF)) == ["what_if"], "roofs and zeros are an addition"
    profile = replayed.result().profile
    assert profile is not None and profile.performance is not None
    assert profile.performance.engine == "fake" and profile.performance.roofline is None


def test_zeros_in_one_operator_and_in_one_layer_are_measured_on_request(bench: Bench) -> None:
    asked: list[list[dict[str, Any]]] = []

    def say_pruned(request: dict[str, Any], say: Say) -> Any:
        if "parts" not in request:
            return to_plain(ZEROS)
        asked.append(request["parts"])
        for number, one in enumerate(request["parts"]):
            if number == 5 and len(asked) == 1:
                return Failure("timeout", "pruned", because("phase_too_long", limit_s=1.0))
            point = PrunedPoint(one["zeros"], Estimate(2.0), operator=one["operator"], layer=one["layer"], part_ms=1.0)
            say({"pruned": to_plain(point)})
        return None

    asking = replace(WHAT_IF, what_if=("pruned",))
    spec = replace(make_profile_spec(MODEL, profile=asking), engines=("deepsparse",))
    profile = bench.run(spec, Scripted({"pruned": say_pruned})).result().profile
    assert profile is not None and profile.performance is not None
    kinds = [(bool(one["operator"]), bool(one["layer"])) for one in asked[0]]
    operators, layers = kinds.count((True, False)), kinds.count((False, True))
    assert operators % len(IMPOSED) == 0 and layers % len(IMPOSED) == 0 and operators + layers == len(kinds)
    assert operators and layers and all(one["nodes"] for one in asked[0])
    assert len(profile.performance.pruned) == 5 and all(point.is_part for point in profile.performance.pruned)


def test_engine_that_pretends_zeros_measures_this_model_with_them(bench: Bench) -> None:
    points = [PrunedPoint(zeros, Estimate(4.0 - 3 * zeros), {"Conv": 1.0}, 9.0) for zeros in IMPOSED]

    def say_pruned(request: dict[str, Any], say: Say) -> Any:
        assert request["zeros"] == list(IMPOSED) and "cpus" not in request and request["for_cpus"]
        for point in points:
            say({"at": {"zeros": point.zeros}})
            say({"pruned": to_plain(point)})
        return to_plain(ZEROS)

    call = Scripted({"pruned": say_pruned})
    replayed = bench.run(replace(make_profile_spec(MODEL), engines=("deepsparse",)), call)
    assert call.tasks == ["inspect", "prepare", "cost", "pruned", "layers", "layers", "layers"]
    profile = replayed.result().profile
    assert profile is not None and profile.performance is not None
    assert profile.performance.pruned == tuple(points) and profile.performance.zero_effect == ZEROS
    assert list(replayed.parts.failures) == ["roofline"]

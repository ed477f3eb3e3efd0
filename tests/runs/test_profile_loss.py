"""Whole loss profiles by scripted children: every layer at every level once, with any child failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runs.profile_script import (
    LOSSES,
    LOSSY,
    MODEL,
    Bench,
    Say,
    Scripted,
    dies,
    make_profile_spec,
    plain,
    say_losses,
)
from tuibench.core.errors import ExitCode
from tuibench.core.profile import ALREADY_INT8, LOSS, LossPoint, ProfileSpec
from tuibench.core.reason import Failure, Reason, error_text, legacy_text
from tuibench.core.record import to_plain
from tuibench.present.reason import reason_words
from tuibench.runs.control import ControlRequests
from tuibench.runs.journal import read_events
from tuibench.runs.profile.parts import Parts
from tuibench.runs.task import Cancelled, ChildDeath


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own and a cache."""
    return Bench(tmp_path / "run", str(tmp_path / "cache"))


def test_loss_profile_is_weights_then_every_layer_at_every_level(bench: Bench) -> None:
    call = Scripted()
    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), call)
    assert call.tasks == ["inspect", "prepare", "cost", "weights", "loss"]
    assert replayed.end["status"] == "finished"
    assert list(replayed.parts.points) == [(one, level) for one in ("conv_out", "fc_out") for level in LOSSY.levels]
    assert replayed.parts.answer["classes"] is True
    assert replayed.counts == {"cells": 4, "cells_done": 4, "executions": 4}


@pytest.mark.parametrize("place", range(8))
def test_loss_profile_resumes_after_its_last_layer(bench: Bench, place: int) -> None:
    spec = make_profile_spec(MODEL, profile=LOSSY)
    whole = bench.run(spec, Scripted())
    bench.cut_after(place)
    call = Scripted()
    replayed = bench.run(spec, call)
    assert replayed.parts.points == whole.parts.points
    skipped = [request["skip"] for task, request in call.asked if task == "loss"]
    # After costs, weights and the child's preamble, each place is one point; after the last one nothing is left.
    assert [len(skip) for skip in skipped] == ([max(0, place - 3)] if place < 8 else [])


def test_budget_refines_only_the_worst_layers(bench: Bench) -> None:
    call = Scripted()
    replayed = bench.run(make_profile_spec(MODEL, profile=replace(LOSSY, budget=True)), call)
    first, second = [request for task, request in call.asked if task == "loss"]
    assert (first["levels"], first["layers"]) == (["int8"], None)
    assert (second["levels"], second["layers"]) == (["pruned 0.5"], ["fc_out", "conv_out"])
    assert len(replayed.parts.points) == 4


def test_budget_forecasts_its_second_round_during_the_first(bench: Bench) -> None:
    bench.run(make_profile_spec(MODEL, profile=replace(LOSSY, budget=True)), Scripted())
    events = list(read_events(bench.run_dir))
    told = [event["begin"]["points"] for event in events if event.get("begin") is not None]
    assert told == [4, 4], "two layers at one level, and both at the other"
    done = [(event["done"], event["of"]) for event in events if event.get("stage") == "loss" and event["of"]]
    assert done[-1] == (4, 4) and all(of == 4 for _, of in done)


def test_budget_ranks_int8_layers_by_the_next_level(bench: Bench) -> None:
    def held(request: dict[str, Any], say: Say) -> Any:
        def hear(line: dict[str, Any]) -> Any:
            told = line.get("loss", {})
            if told.get("id") == "conv_out" and told["point"]["level"] == "int8":
                told["point"] |= {"sqnr_db": None, "cosine": None, "reason": to_plain(ALREADY_INT8)}
            return say(line)

        return say_losses(request, hear)

    levels = ("pruned 0.5", "int8", "pruned 0.9")
    call = Scripted({"loss": held})
    replayed = bench.run(make_profile_spec(MODEL, profile=replace(LOSSY, budget=True, levels=levels)), call)
    asked = [(request["levels"], request["layers"]) for task, request in call.asked if task == "loss"]
    both = ["pruned 0.5", "pruned 0.9"]
    assert asked == [(["int8"], None), (["pruned 0.5"], ["conv_out"]), (both, ["fc_out", "conv_out"])]
    assert len(replayed.parts.points) == 6
    profile = replayed.result().profile
    assert profile is not None and profile.loss is not None and profile.loss.complete


def test_finish_ends_a_loss_profile_after_the_current_layer(bench: Bench) -> None:
    def wished(request: dict[str, Any], say: Say) -> Any:
        def hear(line: dict[str, Any]) -> Any:
            if "loss" in line:
                ControlRequests(bench.run_dir).ask_to_finish()
            return say(line)

        return say_losses(request, hear)

    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), Scripted({"loss": wished}))
    assert (replayed.end["status"], replayed.end["reason"]) == ("finished", Reason("finished_on_request"))
    assert len(replayed.parts.points) == 1


def test_layer_that_kills_its_child_is_reported_and_the_next_follow(bench: Bench) -> None:
    def conv_kills(request: dict[str, Any], say: Say) -> Any:
        if ["conv_out", "int8"] in request["skip"]:
            return say_losses(request, say)
        # It makes one of these and dies at the next.
        say_losses(request | {"levels": ["pruned 0.5"], "layers": ["conv_out"]}, say)
        say({"at": {"id": "conv_out", "level": "int8"}})
        return dies(request, say)

    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), Scripted({"loss": conv_kills}))
    killed = replayed.parts.points["conv_out", "int8"]
    assert killed.harm and killed.reason is not None and killed.reason.code == "change_ended_child"
    assert "SIGSEGV" in reason_words(killed.reason)
    assert len(replayed.parts.points) == 4


def test_layer_with_unknown_weights_is_blamed_for_its_own_death(
    bench: Bench,
) -> None:
    strange = replace(LOSSES[0], reason=Reason("weights_not_finite"))

    def first_kills(request: dict[str, Any], say: Say) -> Any:
        if ["conv_out", "int8"] in request["skip"]:
            return say_losses(request, say)
        say({"begin": {"points": 4, "ms_each": 5.0, "classes": True, "float32_db": 120.0, "samples": 2}})
        say({"at": {"id": "conv_out", "level": "int8"}})
        return dies(request, say)

    answers = {"weights": plain([strange, LOSSES[1]]), "loss": first_kills}
    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), Scripted(answers))
    assert "SIGSEGV" in reason_words(replayed.parts.points["conv_out", "int8"].reason)
    assert [replayed.parts.points["fc_out", level].sqnr_db for level in LOSSY.levels] == [20.0, 20.0]


def test_child_death_outside_the_layers_blames_no_layer(bench: Bench) -> None:
    def between(request: dict[str, Any], say: Say) -> Any:
        say_losses(request | {"layers": ["conv_out"]}, say)
        return dies(request, say)

    call = Scripted({"loss": between})
    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), call)
    assert {one for one, _ in replayed.parts.points} == {"conv_out"} and "loss" in replayed.parts.failures
    assert call.tasks.count("loss") == 1 and not any(point.reason for point in replayed.parts.points.values())


@pytest.mark.parametrize(
    ("kind", "harm"), [("memory", False), ("timeout", False), ("exception", False), ("signal", True)]
)
def test_death_by_memory_or_time_says_nothing_about_the_outputs(bench: Bench, kind: str, harm: bool) -> None:
    def once(request: dict[str, Any], say: Say) -> Any:
        if request["skip"]:
            return say_losses(request, say)
        say({"at": {"id": "conv_out", "level": "int8"}})
        raise ChildDeath(kind, error_text("it is gone"), None, "")

    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), Scripted({"loss": once}))
    assert replayed.parts.points["conv_out", "int8"].harm is harm


def test_weights_alone_make_an_approximated_profile(bench: Bench) -> None:
    call = Scripted()
    replayed = bench.run(make_profile_spec(MODEL, profile=ProfileSpec(LOSS, approximate=True)), call)
    assert call.tasks == ["inspect", "prepare", "cost", "weights"]
    assert replayed.end["status"] == "finished"
    assert replayed.has_something


def test_loss_profile_names_its_data_and_completeness(bench: Bench) -> None:
    def half(request: dict[str, Any], say: Say) -> Any:
        say_losses(request | {"layers": ["conv_out"]}, say, "2 samples instead of 8")
        raise Cancelled(Reason("cancelled_on_request"))

    spec = make_profile_spec(MODEL, profile=LOSSY)
    cut = bench.run(spec, Scripted({"loss": half})).result().profile
    assert cut is not None and cut.loss is not None
    assert not cut.loss.complete
    assert legacy_text("2 samples instead of 8") in cut.loss.notes, "what limits it is said of half of it, too"
    assert [len(layer.points) for layer in cut.loss.layers] == [2, 0]
    whole = bench.run(spec, Scripted()).result().profile
    assert whole is not None and whole.loss is not None
    assert whole.loss.complete
    assert "synthetic data (seed 0)" in whole.loss.data
    assert (whole.loss.classes, whole.loss.float32_db) == (True, 120.0)


def test_model_without_weights_has_nothing_to_lose(bench: Bench) -> None:
    silent = {"weights": lambda request, say: [], "loss": lambda request, say: {"notes": []}}
    replayed = bench.run(make_profile_spec(MODEL, profile=LOSSY), Scripted(silent))
    assert (replayed.end["status"], replayed.end["error"]["exit_code"]) == ("failed", ExitCode.MODEL)
    assert "no layer with weights" in reason_words(replayed.end["reason"])


def test_active_loss_profile_counts_changes_and_not_parts() -> None:
    counting, parts = Parts(counts_only=True), Parts()
    spec, result = LOSSY, to_plain(LossPoint("int8", 30.0, 0.9))
    events: list[dict[str, Any]] = [
        {"part": "costs", "failure": to_plain(Failure("exception", "load", error_text("no")))}
    ]
    events += [{"part": "loss", "begin": {"points": 110, "ms_each": 5.0}}]
    events += [{"part": "loss", "id": f"n{n}", "level": "int8", "result": result} for n in range(18)]
    told = []
    for event in events:
        counting.take(event)
        parts.take(event)
        told.append(counting.counts(spec))
        assert told[-1] == parts.counts(spec)
    assert told[0] == {"cells": 3, "cells_done": 1, "executions": 0}
    assert told[-1] == {"cells": 110, "cells_done": 18, "executions": 18}
    for end in (counting, parts):
        end.take({"part": "loss", "result": {"notes": []}})
    assert counting.changes == parts.changes == 18, "a budget may need fewer than were foreseen"

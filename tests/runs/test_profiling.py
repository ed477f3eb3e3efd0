"""Whole profiles by scripted children: the order of parts, each kind of end, and the result from the journal."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.runs.profile_script import (
    LOSSY,
    MODEL,
    NODES,
    WHAT_IF,
    Bench,
    Say,
    Scripted,
    dies,
    make_profile_spec,
    make_run,
)
from tuibench.core.errors import EngineError, ExitCode, ModelError, TuibenchError
from tuibench.core.profile import LOSS, PERFORMANCE, ProfileSpec
from tuibench.core.reason import Reason, because
from tuibench.core.record import from_plain, to_plain
from tuibench.core.result import RunResult
from tuibench.core.spec import Limits
from tuibench.present.error.words import hint_words
from tuibench.present.headline import result_headline
from tuibench.present.reason import all_words, reason_words
from tuibench.runs.control import ControlRequests
from tuibench.runs.journal import Journal, read_error, read_events
from tuibench.runs.profile.parts import Pace, Parts, list_parts
from tuibench.runs.replay import Replay, replay
from tuibench.runs.task import Cancelled, ChildDeath


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own and a cache."""
    return Bench(tmp_path / "run", str(tmp_path / "cache"))


def test_parts_are_made_in_order_with_one_child_per_process(bench: Bench) -> None:
    call = Scripted()
    replayed = bench.run(make_profile_spec(MODEL, profile=WHAT_IF), call)
    made = ["inspect", "prepare", "cost", "roofline", "layers", "layers", "layers", "what_if"]
    assert call.tasks == made
    assert replayed.end["status"] == "finished"
    assert replayed.parts.done == set(list_parts(WHAT_IF))
    assert replayed.parts.costs is not None
    assert replayed.parts.costs.nodes == NODES
    assert sorted(replayed.parts.runs) == [1, 2, 3]
    assert list(replayed.parts.what_if) == [("conv_out", "int8"), ("fc_out", "int8")], (
        "heaviest first, of what multiplies"
    )
    rows = next(request["rows"] for task, request in call.asked if task == "what_if")
    assert rows == {"conv_out": ["conv_out", "relu_out"], "fc_out": ["fc_out"]}, "all that one kernel does"
    assert replayed.counts == {"cells": 7, "cells_done": 7, "executions": 5}
    assert bench.saved == [{"status": "finished"}]


def test_each_part_is_on_disk_before_the_next_child_starts(bench: Bench) -> None:
    seen: list[int] = []

    def count_parts(request: dict[str, Any], say: Say) -> Any:
        seen.append(len(replay(read_events(bench.run_dir)).parts.runs))
        return to_plain(make_run())

    bench.run(make_profile_spec(MODEL), Scripted({"layers": count_parts}))
    assert seen == [0, 1, 2]


def test_files_of_killed_children_and_earlier_sessions_are_removed(bench: Bench) -> None:
    spec, work = make_profile_spec(MODEL), bench.run_dir / "work"

    def leave(request: dict[str, Any], say: Say) -> Any:
        (Path(request["run_dir"]) / "copy.onnx").write_bytes(b"copy")
        return dies(request, say)

    bench.run(spec, Scripted({"layers": leave}))
    assert os.listdir(work) == []
    bench.cut_after(2)
    (work / "probe").mkdir()
    (work / "probe" / "copy.onnx").write_bytes(b"of a killed runner")
    bench.run(spec, Scripted())
    assert os.listdir(work) == []


def test_acknowledged_part_is_not_in_a_buffer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fdatasync

    def sync(fd: int) -> None:
        synced.append(os.fstat(fd).st_size)
        real(fd)

    monkeypatch.setattr("tuibench.runs.journal.os.fdatasync", sync)
    bench.run(make_profile_spec(MODEL, profile=WHAT_IF), Scripted())
    ends = []
    size = 0
    for line in (bench.run_dir / "journal.jsonl").read_bytes().splitlines(keepends=True):
        size += len(line)
        ends += [size] if b'"ev":"profile_part"' in line else []
    assert len(ends) == 9
    assert set(ends) <= set(synced)


def test_children_are_told_cpus_and_amounts(bench: Bench) -> None:
    call = Scripted()
    asked = ProfileSpec(PERFORMANCE, runs=7, processes=1)
    bench.run(make_profile_spec(MODEL, profile=asked, limits=Limits(memory_bytes=1 << 30)), call)
    request = next(request for task, request in call.asked if task == "layers")
    assert request["runs"] == 7
    assert request["threads"] == 1
    assert len(request["cpus"]) == 1
    assert request["memory_bytes"] == 1 << 30
    assert request["path"] == str(MODEL)
    assert request["point"]["bundle"] == "inputs.npz"


@pytest.mark.parametrize("place", range(8))
def test_run_resumes_after_its_last_part(bench: Bench, place: int) -> None:
    spec = make_profile_spec(MODEL, profile=WHAT_IF)
    whole = bench.run(spec, Scripted())
    bench.cut_after(place)
    call = Scripted()
    replayed = bench.run(spec, call)
    order = ["cost", "roofline", "zeros", "layers", "layers", "layers", "what_if", "what_if"]
    # The cache has the machine's data in every case.
    left = [task for task in order[place:] if task not in ("roofline", "zeros")]
    assert call.tasks == ["inspect", "prepare", *(left[:-1] if left[-2:] == ["what_if"] * 2 else left)]
    assert replayed.parts == whole.parts
    if place == 7:
        rows = next(request["rows"] for task, request in call.asked if task == "what_if")
        assert rows == {"fc_out": ["fc_out"]}


def test_changed_model_ends_the_session_and_keeps_its_parts(bench: Bench) -> None:
    spec = make_profile_spec(MODEL)
    bench.run(spec, Scripted())
    bench.cut_after(4)

    def other(request: dict[str, Any], say: Say) -> Any:
        from tests.runs.profile_script import USUAL

        return USUAL["inspect"](request, say) | {"sha256": "b" * 64}

    replayed = bench.run(spec, Scripted({"inspect": other}))
    assert replayed.end["status"] == "interrupted"
    assert "changed since this run began" in reason_words(replayed.end["reason"])
    assert replayed.end["error"]["exit_code"] == ExitCode.MODEL
    assert list(replayed.parts.runs) == [1]


def test_slower_machine_is_not_mixed_into_the_same_profile(bench: Bench) -> None:
    spec = make_profile_spec(MODEL)
    bench.run(spec, Scripted())
    bench.cut_after(5)
    slow = Scripted({"layers": lambda request, say: to_plain(make_run(2000.0))})
    replayed = bench.run(spec, slow)
    assert replayed.end["status"] == "interrupted"
    assert replayed.end["exit_code"] == ExitCode.NOT_COMPARABLE
    assert sorted(replayed.parts.runs) == [1, 2]
    replayed = bench.run(spec, slow, mixed=True)
    assert replayed.end["status"] == "finished"
    assert any(warning.code == "mixed" for warning in replayed.warnings)


def test_dead_child_is_a_failed_part_and_the_others_continue(bench: Bench) -> None:
    calls: list[int] = []

    def second_dies(request: dict[str, Any], say: Say) -> Any:
        calls.append(1)
        say({"stage": "profiling", "done": 0, "of": 10})
        return dies(request, say) if len(calls) == 2 else to_plain(make_run())

    call = Scripted({"cost": dies, "roofline": dies, "layers": second_dies})
    replayed = bench.run(make_profile_spec(MODEL), call)
    assert replayed.end["status"] == "finished"
    assert sorted(replayed.parts.runs) == [1, 3]
    assert set(replayed.parts.failures) == {"costs", "roofline", "layers 2"}
    assert replayed.parts.failures["layers 2"].log_tail == "its last words"
    assert any("layers 2: died by SIGSEGV in timing" in words for words in all_words(replayed.warnings))
    assert set(replayed.parts.lacking(ProfileSpec(PERFORMANCE))) == {"costs", "layers 2"}


@pytest.mark.parametrize(
    ("error", "stage", "code"),
    [
        (ChildDeath("signal", because("died", signal="SIGSEGV"), "SIGSEGV", None), "profiling", ExitCode.SOME_FAILED),
        (ChildDeath("signal", because("died", signal="SIGSEGV"), "SIGSEGV", None), "loading", ExitCode.MODEL),
        (ChildDeath("timeout", because("no_answer", s=60), None, None), "timing", ExitCode.TIMEOUT),
        (ModelError("model_empty"), "loading", ExitCode.MODEL),
        (EngineError("engine_unknown"), "loading", ExitCode.ENGINE),
    ],
)
def test_profile_without_layers_fails_with_the_code_of_its_reason(
    bench: Bench, error: ChildDeath | TuibenchError, stage: str, code: ExitCode
) -> None:
    def fail(request: dict[str, Any], say: Say) -> Any:
        say({"stage": stage, "done": 0, "of": 1})
        raise error

    replayed = bench.run(make_profile_spec(MODEL), Scripted({"layers": fail}))
    assert replayed.end["status"] == "failed"
    assert replayed.end["error"]["exit_code"] == code
    reason = replayed.end["reason"]
    assert reason.code == "no_layer_measured" and reason.fields["part"].startswith("layers ")
    repeated = isinstance(error, ChildDeath) and error.kind == "signal"
    assert reason.fields["why"].fields["why"] == (None if repeated else error.reason)
    assert bench.saved == []
    assert replayed.result().profile is None


def test_model_that_fails_to_load_is_not_loaded_three_times(bench: Bench) -> None:
    def refuse(request: dict[str, Any], say: Say) -> Any:
        raise ModelError("it cannot be loaded")

    call = Scripted({"layers": refuse})
    bench.run(make_profile_spec(MODEL), call)
    assert call.tasks.count("layers") == 1


def test_failed_inputs_end_the_run_with_their_reason(bench: Bench) -> None:
    def prepare(request: dict[str, Any], say: Say) -> Any:
        from tests.runs.profile_script import USUAL

        def spoil(line: dict[str, Any]) -> Any:
            return say({"point": line["point"] | {"failure": ["inputs", "inputs", "no shape fits"]}})

        return USUAL["prepare"](request, spoil)

    replayed = bench.run(make_profile_spec(MODEL), Scripted({"prepare": prepare}))
    assert (replayed.end["status"], replayed.end["error"]["exit_code"]) == ("failed", ExitCode.MODEL)
    assert "no shape fits" in reason_words(replayed.end["reason"])


@pytest.mark.parametrize(("after", "saved"), [(0, 1), (1, 1), (2, 1)])
def test_cancelled_profile_keeps_its_finished_parts(bench: Bench, after: int, saved: int) -> None:
    calls: list[int] = []

    def cancelled(request: dict[str, Any], say: Say) -> Any:
        calls.append(1)
        if len(calls) > after:
            raise Cancelled(Reason("cancelled_on_request"))
        return to_plain(make_run())

    replayed = bench.run(make_profile_spec(MODEL), Scripted({"layers": cancelled}))
    assert replayed.end["status"] == "cancelled"
    assert len(replayed.parts.runs) == after
    assert replayed.has_something is bool(after)
    assert len(bench.saved) == saved


def test_finish_ends_a_profile_after_the_current_process(bench: Bench) -> None:
    def wished(request: dict[str, Any], say: Say) -> Any:
        ControlRequests(bench.run_dir).ask_to_finish()
        return to_plain(make_run())

    replayed = bench.run(make_profile_spec(MODEL), Scripted({"layers": wished}))
    assert (replayed.end["status"], replayed.end["reason"]) == ("finished", Reason("finished_on_request"))
    assert list(replayed.parts.runs) == [1]


def test_timeout_keeps_the_finished_parts(bench: Bench) -> None:
    def hangs(request: dict[str, Any], say: Say) -> Any:
        if len(replay(read_events(bench.run_dir)).parts.runs) == 1:
            raise ChildDeath("timeout", because("no_answer", s=0), None, None)
        return to_plain(make_run())

    # The deadline is a thousand years away, and the child itself reports that it was reached.
    spec = make_profile_spec(MODEL, limits=Limits(max_time_s=0.0))
    replayed = bench.run(spec, Scripted({"layers": hangs}))
    assert replayed.end["status"] == "failed"
    assert replayed.end["error"]["exit_code"] == ExitCode.TIMEOUT


def test_hint_of_a_refusing_child_is_kept(bench: Bench) -> None:
    def refuses(request: dict[str, Any], say: Say) -> Any:
        raise ModelError("model_out_of_memory")

    end = bench.run(make_profile_spec(MODEL), Scripted({"layers": refuses})).end
    assert hint_words(read_error(end["error"])) == hint_words(ModelError("model_out_of_memory"))


def test_failed_what_if_is_a_failed_part_and_retried(bench: Bench) -> None:
    def refuses(request: dict[str, Any], say: Say) -> Any:
        raise ModelError("no session of this model any more")

    replayed = bench.run(make_profile_spec(MODEL, profile=WHAT_IF), Scripted({"what_if": refuses}))
    assert (
        "no session" in reason_words(replayed.parts.failures["what_if"].message)
        and "what_if" not in replayed.parts.done
    )


def test_layer_that_kills_its_child_is_reported_and_the_next_follow(bench: Bench) -> None:
    def first_kills(request: dict[str, Any], say: Say) -> Any:
        from tests.runs.profile_script import say_what_if

        if next(iter(request["rows"])) != "conv_out":
            return say_what_if(request, say)
        say({"at": {"id": "conv_out"}})
        return dies(request, say)

    replayed = bench.run(make_profile_spec(MODEL, profile=WHAT_IF), Scripted({"what_if": first_kills}))
    killed = replayed.parts.what_if["conv_out", "int8"]
    assert killed.ratio.value is None and killed.reason == killed.ratio.reason
    assert killed.reason is not None and killed.reason.code == "alone_failed"
    assert "SIGSEGV" in reason_words(killed.reason)
    assert replayed.parts.what_if["fc_out", "int8"].ratio.value == 0.5


@pytest.mark.parametrize("said", [0, 1])
def test_death_outside_the_layers_blames_no_layer(bench: Bench, said: int) -> None:
    def dies_between(request: dict[str, Any], say: Say) -> Any:
        from tests.runs.profile_script import say_what_if

        say_what_if(request | {"rows": list(request["rows"])[:said]}, say)
        return dies(request, say)

    call = Scripted({"what_if": dies_between})
    replayed = bench.run(make_profile_spec(MODEL, profile=WHAT_IF), call)
    assert len(replayed.parts.what_if) == said and call.tasks.count("what_if") == 1
    assert all(found.ratio.value == 0.5 for found in replayed.parts.what_if.values())
    assert replayed.parts.failures["what_if"].kind == "signal"


def test_progress_has_stage_position_and_remaining_time(bench: Bench) -> None:
    def talks(request: dict[str, Any], say: Say) -> Any:
        say({"stage": "loading", "done": 0, "of": 1})
        return to_plain(make_run())

    bench.run(make_profile_spec(MODEL), Scripted({"layers": talks}))
    told = [event for event in read_events(bench.run_dir) if event["ev"] == "progress"]
    layers = [event for event in told if event.get("stage") == "layers"]
    first = {"part": "layers", "done": 0, "of": 3}
    activities = [event["activity"] for event in layers[:2]]
    assert activities == [{"code": "making_part", "fields": first | more} for more in ({}, {"stage": "loading"})]
    assert [(event["done"], event["of"]) for event in layers[::2]] == [(0, 3), (1, 3), (2, 3)]
    assert layers[0]["eta_s"] == pytest.approx(12.0, abs=2)
    assert layers[-1]["eta_s"] < 1


def test_remaining_time_of_pieces_follows_their_pace(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 0.0, 0.0, 0.0, 100.0, 200.0))
    monkeypatch.setattr("tuibench.runs.profile.parts.time", SimpleNamespace(monotonic=lambda: next(clock)))
    told: list[float] = []
    journal = SimpleNamespace(append=lambda _, **fields: told.append(fields["eta_s"]))
    spec = replace(WHAT_IF, what_if=("pruned",))
    parts = Parts(done={*list_parts(spec)} - {"what_if"})
    pace = Pace(cast(Journal, journal), spec, parts)
    pace.begin("what_if")
    pace.piece(10, 50)
    pace.piece(20, 50)
    pace.piece(30, 50)
    assert told[2:] == [pytest.approx(300.0), pytest.approx(200.0)]


def test_result_is_built_from_the_journal_alone(bench: Bench) -> None:
    spec = make_profile_spec(MODEL, profile=WHAT_IF)
    bench.run(spec, Scripted())
    journal = (bench.run_dir / "journal.jsonl").read_bytes()
    before = replay(read_events(bench.run_dir)).result()
    for path in bench.run_dir.rglob("*"):
        if path.is_file():
            path.unlink()
    (bench.run_dir / "journal.jsonl").write_bytes(journal)
    result = replay(read_events(bench.run_dir)).result()
    assert result == before
    profile = result.profile
    assert profile is not None and profile.performance is not None
    assert result.cells == ()
    assert profile.costs.nodes == NODES
    assert profile.performance.ms.value == pytest.approx(1.0)
    assert profile.performance.processes == 3
    assert profile.performance.roofline is not None and profile.performance.zero_effect is not None
    named = {node: layer for layer in profile.performance.layers for node in layer.nodes}
    assert set(named) == {node.id for node in NODES}
    assert [form.ratio.value for form in named["fc_out"].what_if] == [0.5]
    assert from_plain(RunResult, json.loads(json.dumps(to_plain(result)))) == result


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (ProfileSpec(PERFORMANCE), ["1.00 ms/batch", "89 % Conv", "grade A"]),
        (LOSSY, ["most sensitive: fc.weight, 20.0 dB SQNR at"]),
        (ProfileSpec(LOSS, approximate=True), ["largest change of weights: conv.weight, 40.0 dB at int8", "a proxy"]),
    ],
)
def test_headline_summarizes_the_profile(bench: Bench, profile: ProfileSpec, words: list[str]) -> None:
    result = bench.run(make_profile_spec(MODEL, profile=profile), Scripted()).result()
    assert all(word in result_headline(result) for word in words)


def test_uncountable_costs_are_reported_and_layers_are_timed(bench: Bench) -> None:
    profile = bench.run(make_profile_spec(MODEL), Scripted({"cost": dies})).result().profile
    assert profile is not None and profile.performance is not None
    assert profile.costs.nodes == ()
    assert profile.costs.notes == (because("died", signal="SIGSEGV"),)
    assert "the costs of the layers are unknown; died by SIGSEGV" in all_words(profile.performance.notes)


def test_list_counts_the_parts_without_building_them(bench: Bench) -> None:
    spec = make_profile_spec(MODEL, profile=WHAT_IF)
    bench.run(spec, Scripted())
    counting = Replay(counts_only=True)
    for event in read_events(bench.run_dir):
        counting.take(event)
        known = replay(list(read_events(bench.run_dir))[: int(event["seq"]) + 1])
        assert counting.counts == known.counts
    assert counting.parts.runs == {}

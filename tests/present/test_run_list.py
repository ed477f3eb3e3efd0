from __future__ import annotations

import json
from typing import Any

import pytest

from tests.present.build import HOSTILE
from tests.present.test_listing import NOW
from tuibench.core.activity import Holder, RunInfo
from tuibench.core.reason import Reason, because, legacy_text
from tuibench.core.text import show, width_of
from tuibench.present.run_list import event_values, queue_words, run_list, runs_json, why_words


def info(**changes: Any) -> RunInfo:
    base: dict[str, Any] = {
        "id": "01J0000000000000000000K3F9", "state": "running", "detail": None, "started_utc": "2026-01-02T03:00:05Z",
        "models": ("resnet50.onnx",), "name": "", "directory": "/d", "pid": 41, "cells": 4, "cells_done": 1,
        "executions": 7, "eta_s": 62.4,
    }  # fmt: skip
    return RunInfo(**{**base, **changes})


def test_active_run_is_a_line_with_its_remaining_time() -> None:
    waiting = info(id="01J000000000000000000077ZZ", state="waiting", cells=0, cells_done=0, executions=0, eta_s=None,
                   place=2, holder=Holder(41, "jo", "01J0000000000000000000K3F9", 62.0))  # fmt: skip
    assert run_list([info(), waiting], NOW, width=None).splitlines() == [
        "id    state    age  name           done  executions  left  pid  why",
        "k3f9  running   4m  resnet50.onnx   1/4           7  62 s   41",
        "77zz  queued    4m  resnet50.onnx     -           0         41  position 2, behind run k3f9 of jo, 62 s left",
    ]
    narrow = run_list([info(), waiting], NOW).splitlines()
    assert max(map(width_of, narrow)) <= 80 and "behind run k3f9" in narrow[2]


def test_ended_run_has_no_pid_and_no_remaining_time() -> None:
    over = run_list([info(state="finished")], NOW).splitlines()
    assert over[0].split() == ["id", "state", "age", "name", "done", "executions", "left", "why"]
    assert over[1].split() == ["k3f9", "finished", "4m", "resnet50.onnx", "1/4", "7"]


def test_available_commands_are_listed_once() -> None:
    runs = [
        info(state="interrupted", detail=because("runner_killed", signal="SIGKILL"), resumable=True),
        info(id="01J000000000000000000077ZZ", state="rebooted", resumable=True),
        info(
            id="01J000000000000000000077AA",
            state="unsaved",
            detail=because("not_saved", why="no space left"),
            resumable=True,
        ),
        info(id="01J000000000000000000077BB", state="interrupted", detail=Reason("journal_unreadable")),
    ]
    text = run_list(runs, NOW).splitlines()
    assert "the runner died by SIGKILL" in text[1]
    assert text[-3:] == [
        "tuibench resume ID measures the rest: k3f9, 77zz",
        "tuibench resume ID saves the measurements: 77aa",
        "tuibench remove ID deletes a run that cannot be resumed: 77bb",
    ]
    assert run_list([info()], NOW).count("resume") == 0
    assert run_list([], NOW) == ""


def test_ending_signal_is_named_in_words_and_in_json_by_its_name() -> None:
    ended = info(state="cancelled", detail=because("signal", signal="SIGTERM"))
    assert why_words(ended) == "ended by its user"
    assert json.loads(runs_json([ended]))["runs"][0]["detail"] == "SIGTERM"
    assert json.loads(runs_json([info()]))["runs"][0]["detail"] == ""


def test_waiting_event_has_words_for_scripts() -> None:
    holder = {"pid": 9, "user": "ada", "run": "", "eta_s": None, "stopped": False, "brief": False}
    event = {"ev": "waiting", "place": 1, "holder": holder}
    assert event_values(event) == event | {"words": "pid 9 of ada"}
    assert event_values(event | {"holder": None})["words"] == "another benchmark"
    assert event_values(event | {"words": "as an older version wrote"})["words"] == "as an older version wrote"


@pytest.mark.parametrize(
    ("holder", "words"),
    [
        (Holder(41, "jo", "01J0000000000000000000K3F9", 62.0), "behind run k3f9 of jo, 62 s left"),
        (Holder(41, "jo", "", None), "behind pid 41 of jo"),
        (Holder(41, "jo", "", -3.0, True), "behind pid 41 of jo, 0.0 s left, suspended, may never end"),
    ],
)
def test_host_lock_owner_is_named(holder: Holder, words: str) -> None:
    assert queue_words(holder) == words


def test_silence_is_reported_only_for_a_live_run() -> None:
    assert why_words(info(heartbeat_age_s=61.0)) == "silent for 61 s"
    assert why_words(info(heartbeat_age_s=59.0)) == ""
    assert why_words(info(state="finished", heartbeat_age_s=9e9)) == ""


def test_hostile_names_are_safe_and_json_is_complete() -> None:
    hostile = HOSTILE + "\x9b" + "x" * 1000
    strange = info(state=hostile, detail=legacy_text(hostile), models=(hostile,), started_utc=hostile,
                   holder=Holder(1, hostile, hostile, None), id=hostile)  # fmt: skip
    waiting = info(state="waiting", holder=Holder(1, hostile, hostile, None), name=hostile)
    for line in run_list([strange, waiting], NOW).splitlines():
        assert show(line, 10_000) == line
    assert run_list([strange], NOW, ascii_only=True).isascii()
    loaded = json.loads(runs_json([waiting]))
    assert loaded["runs"][0]["name"] == hostile and loaded["runs"][0]["short"] == "k3f9"
    assert runs_json([strange]).isascii()

from __future__ import annotations

from tuibench.worker.execution import with_streams

OWN = {"base": 50, "load": 9, "first": 7, "bind": 1, "warm": 12, "timed": 33, "peak": 33}


def test_worker_with_stream_processes_does_not_count_gathered_data() -> None:
    assert with_streams(OWN, 20) == {
        "base": 50, "load": 9, "first": 7, "bind": 1, "timed": 20, "streams": 20, "peak": 20,
    }  # fmt: skip
    assert with_streams(OWN, 4)["peak"] == 9


def test_worker_without_stream_processes_keeps_its_phases() -> None:
    assert with_streams(OWN, None) == OWN

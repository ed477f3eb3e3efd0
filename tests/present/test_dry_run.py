from __future__ import annotations

import json
from dataclasses import replace

from tests.present import build
from tuibench.core.cell import Cell
from tuibench.core.reason import Failure, error_text
from tuibench.core.spec import EFFORTS
from tuibench.core.text import show
from tuibench.present.preamble import DryRun, dry_run_json, dry_run_text


def plan() -> DryRun:
    asked = build.asked(scenario="async", streams=2, batch=8), build.asked(dims={"seq": 32}, batch=None)
    cells = tuple(Cell(a.key, a, 0, "p0") for a in asked)
    return DryRun(build.spec(), cells, 24.0, 61.0, {cells[0].key: 150_000_000}, ("a note",))


def test_dry_run_shows_cells_order_seconds_and_memory() -> None:
    lines = dry_run_text(plan()).splitlines()
    assert lines[0].split() == ["model", "engine", "scenario", "cores", "batch", "dims", "memory"]
    assert lines[1].split() == ["1", "model.onnx", "onnxruntime", "async", "x2", "2", "8", "-", "150", "MB"]
    assert lines[2].split() == ["2", "model.onnx", "onnxruntime", "sync", "2", "-", "seq=32", "-"]
    text = "\n".join(lines)
    assert "2 cells, each 5 to 15 executions of 1 s after a warm-up of at most 2 s, until ±2 % or 30 s per cell" in text
    assert "about 24 s, at most 61 s" in text
    assert "memory: at most about 150 MB in one worker" in text
    assert lines[-1] == "a note"
    assert all(len(line) <= 100 for line in lines)


def test_fixed_time_has_no_target() -> None:
    effort = replace(EFFORTS["default"], min_executions=1, max_executions=1, timed_s=10.0, target=None)
    text = dry_run_text(replace(plan(), spec=build.spec(effort=effort), memory_bytes={}))
    assert "each 1 execution of 10 s" in text and "±" not in text and "memory: " not in text


def test_names_cannot_drive_the_terminal() -> None:
    asked = build.asked(dims={build.HOSTILE: 1}, engine="\x1b[31m")
    text = dry_run_text(DryRun(build.hostile_run().spec, (Cell(asked.key, asked, 0, "p"),), 1, 1))
    assert all(show(line, 10_000) == line for line in text.splitlines())
    assert dry_run_text(plan(), ascii_only=True).isascii()


def failing() -> DryRun:
    asked = build.asked(batch=4, dims={"seq": 512})
    failure = Failure("inputs", "inputs", error_text("the model takes batch 1 only\x1b[2J"))
    return replace(plan(), failed=((Cell(asked.key, asked, 0, "p1"), failure),))


def test_impossible_cell_is_in_the_table_with_its_reason() -> None:
    lines = dry_run_text(failing()).splitlines()
    assert lines[3].split()[:7] == ["-", "model.onnx", "onnxruntime", "sync", "2", "4", "seq=512"]
    assert lines[3].endswith("failed in making inputs: the model takes batch 1 only\\e[2J")
    assert lines[1].index("150 MB") + 6 == lines[0].index("memory") + 6
    assert "1 cell will fail" in lines and any(line.startswith("2 cells, each") for line in lines)


def test_json_plan_is_complete_with_a_schema_number() -> None:
    text = dry_run_json(failing())
    loaded = json.loads(text)
    assert text.isascii()
    one, two, dead = loaded["cells"]
    assert loaded["schema"] == 1
    assert loaded["order"] == [one["key"], two["key"]]
    assert (loaded["expected_s"], loaded["limit_s"], loaded["memory_bytes"]) == (24.0, 61.0, 150_000_000)
    assert (one["model"], one["memory_bytes"], one["failure"]) == ("dir/model.onnx", 150_000_000, None)
    assert two["memory_bytes"] is None and two["asked"]["dims"] == {"seq": 32}
    assert dead["failure"]["phase"] == "inputs" and loaded["notes"] == ["a note"]

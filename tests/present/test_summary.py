from __future__ import annotations

import pytest

from tests.present import build
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.core.text import show
from tuibench.present.command import command_of
from tuibench.present.summary import summary

RUNS = [
    build.default_run(), build.sweep_run(), build.hostile_run(), build.run(build.lone_cell()),
    build.run(build.failed_cell()), build.run(), build.run(build.skipped_cell(), status="cancelled"),
]  # fmt: skip


def lines(run: RunResult) -> list[str]:
    return summary(run).splitlines()


def test_default_pair_prints_async_first_and_sync_second() -> None:
    text = lines(build.default_run())
    assert text[2] == "Scenario: multistream"
    assert sum(line.startswith("Scenario:") for line in text) == 1
    assert "Sync Latency p50 (ms/batch): 1.9234 ±0.7 % [1.9099, 1.9369] over 5 executions" in text
    assert text[-2:] == [
        f"Again: {command_of(build.default_run())}",
        build.HEADLINE,
    ]


def test_sweep_prints_a_table_then_its_sentences() -> None:
    text = lines(build.sweep_run())
    assert text[0].split() == ["engine", "cores", "batch", "p50", "±%", "items/s", "±%", "grade", "outputs"]
    assert any(line.startswith("openvino is 1.04× faster") for line in text)
    assert any(line.startswith("Least latency: ") for line in text)
    assert text[-2].startswith("Again: ")


def test_settings_not_used_as_asked_are_reported_once_with_count() -> None:
    used = build.used(cpus=(0,), threads=1, io="call")
    run = build.run(*(build.ok_cell(asks={"batch": n, "cores": 1}, used=used) for n in (1, 1, 2)))
    text = lines(run)
    assert "Not as Requested: batch requested 2, used 1 (1 of 3 cells)" in text
    assert "Not as Requested: I/O call (3 of 3 cells)" in text


@pytest.mark.parametrize("run", RUNS)
def test_foreign_text_reaches_the_terminal_escaped(run: RunResult) -> None:
    for line in lines(run):
        assert show(line, 100_000) == line
    assert "\x1b" not in summary(run) and "\u202e" not in summary(run)


def test_terminal_breaks_lines_between_words_and_never_the_command() -> None:
    run = build.sweep_run()
    wrapped = summary(run, width=60).splitlines()
    command = f"Again: {command_of(run)}"
    assert len(command) > 60 and command in wrapped
    assert all(len(line) <= 60 for line in wrapped if line != command)
    assert summary(run, width=60).split() == summary(run).split()


@pytest.mark.parametrize("run", RUNS)
def test_ascii_summary_is_ascii(run: RunResult) -> None:
    assert summary(run, ascii_only=True).isascii()


def test_cancelled_run_reports_its_kept_data() -> None:
    text = lines(build.run(build.ok_cell(), build.skipped_cell(cores=1), status="cancelled"))
    assert "Run cancelled: 1 of 2 cells measured" in text
    assert not any(line.startswith("Run ") for line in lines(build.default_run()))


def test_command_line_is_never_cut() -> None:
    run = build.run(build.ok_cell(), spec=build.spec(dims=(("x" * 5000, (1,)),)))
    command = command_of(run)
    assert "x" * 5000 in command and f"Again: {command}" in lines(run)


def test_models_of_one_name_keep_their_directories_in_the_table() -> None:
    cells = build.ok_cell(), build.ok_cell(asks={"model_sha256": build.OTHER_SHA})
    models = build.model(), build.model(sha256=build.OTHER_SHA)
    spec = build.spec(models=(ModelSource("a/m.onnx", "/a/m.onnx"), ModelSource("b/m.onnx", "/b/m.onnx")))
    text = lines(build.run(*cells, models=models, spec=spec))
    assert text[1].startswith("a/m.onnx") and text[2].startswith("b/m.onnx")

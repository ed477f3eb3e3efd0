from __future__ import annotations

from typing import Any

from tests.present import build
from tests.present.plots import data
from tests.present.test_listing import NOW, row
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult, RunSession
from tuibench.core.stored import Metadata, StoredBenchmark
from tuibench.core.text import show
from tuibench.present.summary import stored_page, summary


def page(result: RunResult, metadata: Metadata | None = None, **options: Any) -> str:
    return stored_page(StoredBenchmark(row(), metadata or Metadata(), result), NOW, **options)


def test_page_is_a_head_and_the_result_as_printed() -> None:
    run = build.default_run()
    head, _, body = page(run).partition("\n\n")
    assert body == summary(run)
    assert head.splitlines() == [
        "Benchmark: k3f9 (01J0000000000000000000K3F9)",
        "Measured: 2026-01-02 03:04:05 UTC (just now), in 12 s",
    ]


def test_head_contains_all_known_facts() -> None:
    sittings = (RunSession("2026-01-02T02:04:05Z", "a", 3), RunSession("", "b", 1, (legacy_text("kernel: 1 → 2"),)))
    run = build.run(build.ok_cell(), host="ab12", status="cancelled", sittings=sittings, waited_s=90.0)
    metadata = Metadata("mine", "a note", "01J000000000000000000077PP", "01J000000000000000000077QQ")
    head = page(run, metadata, own_host="ab12").partition("\n\n")[0].splitlines()
    assert head[1:] == [
        "Name: mine",
        "Note: a note",
        "Project: 77pp",
        "Measured: 2026-01-02 03:04:05 UTC (just now), in 12 s, after 90 s of waiting for another benchmark",
        "Host: ab12 (this machine)",
        "Status: cancelled",
        "Re-run of: 77qq",
        "Session 1: 3 executions, 2026-01-02 02:04:05 UTC (1h ago)",
        "Session 2: 1 execution, changed before it: kernel: 1 → 2",
    ]
    assert "Project: vision" in page(run, metadata, project="vision")
    assert "Host: ab12\n" in page(run, own_host="cd")


def test_foreign_result_claims_no_time() -> None:
    run = build.run(build.ok_cell(grade=None), foreign="deepsparse.benchmark 1.8.0", started_utc="", seconds=10.0)
    assert "Measured: at an unknown time, for 10 s\n" in page(run)
    assert "Imported from deepsparse.benchmark 1.8.0: no grade, no interval" in page(run)


def test_foreign_text_is_escaped() -> None:
    hostile = build.HOSTILE + "\x9b" + "x" * 5000
    run = build.run(id=hostile, host=hostile, status=hostile, started_utc=hostile, foreign=hostile,
                    sittings=(RunSession(hostile, "", 1, (legacy_text(hostile),)),) * 2)  # fmt: skip
    text = page(run, Metadata(hostile, hostile, hostile, hostile), project=hostile)
    for line in text.splitlines():
        assert show(line, 100_000) == line
    assert page(run, Metadata(hostile), ascii_only=True).isascii()


def test_figures_are_between_head_and_result() -> None:
    run = data.cores_run()
    head, cores, batch, choices, body = page(run, figures=70).split("\n\n", 4)
    assert head == page(run).split("\n\n")[0] and body == summary(run)
    assert choices.startswith("Best Trade-offs")
    assert cores.startswith("Core scaling, batch 1\n") and cores.count("●") == 6 and "\nBest: 16 cores" in cores
    assert batch.startswith("Batch scaling, 16 cores\n") and max(map(len, batch.splitlines())) <= 70
    assert "●" not in page(run)
    ascii_page = page(run, figures=70, ascii_only=True)
    assert ascii_page.isascii() and "o onnxruntime" in ascii_page and "+- 1.0" not in ascii_page

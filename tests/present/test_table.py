from __future__ import annotations

from tests.present import build
from tuibench.core.cell import Warmup
from tuibench.core.reason import Failure, error_text
from tuibench.core.spec import ModelSource
from tuibench.core.text import width_of
from tuibench.present.cells import cell_table as table


def rows(text: list[str]) -> list[str]:
    return text[: text.index("")] if "" in text else text


def test_every_row_fits_80_columns_with_any_names() -> None:
    dims = {"日本語" * 20: 4}, {"x" * 90: 8}
    cells = [build.ok_cell(asks={"dims": d, "cores": c, "model_sha256": s}) for d in dims for c in (1, 2)
             for s in (build.SHA, build.OTHER_SHA)]  # fmt: skip
    cells.append(build.failed_cell({"dims": dims[0], "batch": 7}))
    run = build.run(
        *cells,
        models=(build.model(), build.model(sha256=build.OTHER_SHA)),
        spec=build.spec(models=(ModelSource("m" * 70, ""), ModelSource("n" * 70, "")), scenarios=("sync",)),
    )
    text = rows(table(run))
    assert len(text) == 10
    assert all(width_of(line) <= 80 for line in text)
    assert any("=4" in line for line in text) and any("=8" in line for line in text)


def test_each_outcome_is_shown_in_its_row() -> None:
    text = rows(table(build.sweep_run()))[1:]
    words = [line.split() for line in text]
    assert words[0] == ["onnxruntime", "1", "1", "16.2", "ms", "0.7", "61.7", "1.4", "A", "agree"]
    assert " ".join(words[3][3:]) == "died by SIGSEGV in load: the worker died"
    assert " ".join(words[4][3:]) == "skipped: --max-time reached"
    assert text[5].endswith("agree, partial")
    assert words[6][-2:] == ["A", "-"]
    assert words[7][-1] == "DIFFER"
    assert words[8][-2] == "D"
    assert words[9][5] == words[9][7] == "-"


def test_full_reasons_are_below_the_table() -> None:
    long = "x" * 200
    failed = build.failed_cell({"batch": 2}, failure=Failure("exception", "load", error_text(long)))
    text = table(build.run(build.ok_cell(), failed))
    assert text[2].endswith("…")
    assert text[-1] == f"sync, 2 cores, batch 2: failed in load: {long}"


def test_missing_interval_and_unsettled_warm_up_are_noted_once() -> None:
    restless = build.execution(warmup=Warmup(2.0, 10, False))
    cells = build.lone_cell(batch=2), build.lone_cell(batch=4), build.ok_cell(executions=(restless, restless))
    text = table(build.run(*cells))
    assert "No interval: 1 of at least 3 executions (2 of 3 cells)" in text
    assert "Warm-up: not settled in 2 of 4 executions" in text


def test_equal_cells_make_a_table() -> None:
    text = table(build.run(build.ok_cell(), build.ok_cell()))
    assert text[0].split()[0] == "scenario" and len(text) == 3

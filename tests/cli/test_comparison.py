"""`tuibench compare` over stored benchmarks; no test here measures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.present import build
from tests.present.build import asked, failed_cell
from tests.store.data import make_id, make_small
from tuibench.core.cell import CellResult, Check, Estimate
from tuibench.core.reason import legacy_text
from tuibench.core.result import RunResult
from tuibench.core.stored import Metadata
from tuibench.services.api import Services

VERDICT = build.comparison("a", "b", "p50 latency", 0.9, 0.88, 0.92, 5, True, "faster", None, "b is 10 % faster than a")


@pytest.fixture
def two(home: Path) -> None:
    """Store 0001, the slower newer 0002, and 0003 with another request."""
    for number, factor in ((1, 1.0), (2, 1.25)):
        keep(scaled(make_small(number), factor))
    other = make_small(3)
    elsewhere = replace(other.cells[0], asked=asked(batch=64, scenario="async", cores=7))
    keep(replace(other, cells=(elsewhere,)))


def keep(result: RunResult) -> None:
    Services().store.benchmarks.add(result, Metadata())


def scaled(result: RunResult, factor: float) -> RunResult:
    def slow(cell: CellResult) -> CellResult:
        executions = tuple(replace(one, p50_ns=one.p50_ns * factor) for one in cell.executions)
        p50 = Estimate(1.92 * factor, reason=legacy_text("few"))
        return replace(cell, executions=executions, latency_ms={**cell.latency_ms, "p50": p50})

    return replace(result, cells=tuple(map(slow, result.cells)))


@pytest.mark.usefixtures("two")
def test_ratio_is_new_over_base(shell: Shell) -> None:
    there, back = shell.run("compare", "0001", "0002"), shell.run("compare", "last~1", "0001")
    assert (there.code, back.code) == (0, 0), there.err + back.err
    assert "old 0001" in there.lines[0] and "new 0002" in there.lines[0] and "  1.250" in there.out
    assert "  0.800" in back.out
    assert "faster" not in there.out.replace("below 1 is faster", "")


@pytest.mark.usefixtures("two")
def test_json_output_holds_the_comparison(shell: Shell) -> None:
    done = shell.run("compare", "0001", "0002", "--json")
    document = json.loads(done.out)
    assert (done.code, done.err) == (0, "") and document["schema"] == 1
    assert (document["old_id"], document["new_id"]) == (make_id(1), make_id(2))
    compared = document["pairs"][0]["comparison"]
    assert compared["ratio"] == pytest.approx(1.25) and compared["verdict"] is None


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_comparison_without_ratios_prints_page_and_exits_14(shell: Shell, flags: tuple[str, ...]) -> None:
    done = shell.run("compare", "0001", "0003", *flags)
    assert done.code == 14 and done.err == ""
    if flags:
        assert json.loads(done.out)["pairs"] == []
    else:
        assert "0003" in done.out


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_comparison_with_wrong_outputs_prints_page_and_exits_13(shell: Shell, flags: tuple[str, ...]) -> None:
    wrong = make_small(4)
    keep(replace(wrong, cells=tuple(replace(cell, check=Check("differs", 0.2, 1e-3)) for cell in wrong.cells)))
    for sides in (("0001", "0004"), ("0004", "0002")):
        done = shell.run("compare", *sides, *flags)
        assert (done.code, done.err) == (13, "") and "differ" in done.out
    assert shell.run("compare", "0003", "0004").code == 14


def test_failed_operand_has_a_reason_instead_of_a_ratio(shell: Shell, home: Path) -> None:
    keep(make_small(1))
    keep(replace(make_small(2), cells=(failed_cell(),)))
    done = shell.run("compare", "0001", "0002")
    assert done.code == 14 and "SIGSEGV" in done.out


@pytest.mark.usefixtures("two")
def test_benchmark_compared_with_itself_is_refused(shell: Shell) -> None:
    done = shell.run("compare", "last", "0003")
    assert (done.code, done.out) == (2, "") and "0003" in done.err


def test_verdict_of_interleaved_models_is_in_their_own_result(shell: Shell, home: Path) -> None:
    keep(replace(make_small(1), comparisons=(VERDICT,)))
    assert "0001" in shell.run("compare", "0001", "last").err
    assert VERDICT.verdict.told in shell.run("show", "0001").out


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("new.onnx", "tuibench benchmark BASE NEW"),
        ("sample:tiny", "is a model"),
        ("hf:org/repo", "is a model"),
        ("{folder}", "is a model"),
        ("{folder}/out.json", "tuibench import"),
        ("0002@openvino", "0002@openvino"),
        ("zzzz", "no benchmark"),
        ("\x1b[2J.onnx", "\\e[2J.onnx is a model"),
    ],
)
def test_argument_that_is_no_benchmark_gets_a_hint(shell: Shell, folder: Path, new: str, words: str) -> None:
    (folder / "out.json").write_text("{}")
    done = shell.run("compare", "0001", new.format(folder=folder))
    assert (done.code, done.out) == (2, "") and words in done.err

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs.execution_data import asked, execution
from tuibench.core.cell import CellResult
from tuibench.core.reason import Failure, error_text
from tuibench.runs.result import code_of, exit_code

SCHEMA = json.loads(
    Path(__file__).resolve().parents[2].joinpath("tuibench/data/benchmark.schema.json").read_text(encoding="utf-8")
)["$defs"]["Failure"]
CODES = [
    ("engine", "start", 4),
    ("setting", "load", 4),
    ("setting", "first", 4),
    ("refused", "load", 3),
    ("inputs", "inputs", 3),
    ("model", "inspect", 3),
    ("timeout", "load", 5),
    ("timeout", "timed", 5),
    ("signal", "first", 1),
    ("exception", "check", 1),
    ("memory", "warmup", 1),
    ("exit", "start", 1),
]


def failed(kind: str, phase: str, cores: int = 1) -> CellResult:
    request = asked(cores=cores)
    return CellResult(request.key, request, "failed", failure=Failure(kind, phase, error_text("why")))


@pytest.mark.parametrize(("kind", "phase", "code"), CODES)
def test_each_kind_of_failure_has_its_exit_code(kind: str, phase: str, code: int) -> None:
    assert code_of(Failure(kind, phase, error_text("why"))) == code
    assert exit_code([failed(kind, phase), failed(kind, phase, 2)]) == code


def test_code_above_one_needs_no_data_and_equal_failures() -> None:
    measured = CellResult("k", asked(), "ok", executions=(execution(),))
    assert exit_code([measured]) == 0
    assert exit_code([measured, failed("setting", "load")]) == 1
    assert exit_code([failed("setting", "load"), failed("refused", "load")]) == 1


def test_schema_knows_every_kind_and_phase() -> None:
    properties = SCHEMA["properties"]
    assert set(properties["kind"]["enum"]) == {kind for kind, _, _ in CODES}
    assert set(properties["phase"]["enum"]) == {phase for _, phase, _ in CODES}

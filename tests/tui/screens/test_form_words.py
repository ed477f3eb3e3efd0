from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.screens.form_services import ENGINES, VALUES, running
from tuibench.core import activity
from tuibench.core.activity import Holder, RunRow, Snapshot
from tuibench.core.machine import Machine
from tuibench.core.text import show
from tuibench.services.form_values import FormCheck, FormStart, FormValues
from tuibench.tui.screens.form.summary import (
    MAX_CHARS,
    amount_words,
    busy_words,
    command_lines,
    origin_words,
    warning_lines,
)

MACHINE = Machine(16, 16, 32, ("avx2", "avx512f", "avx512_vnni", "amx_int8"), ENGINES)
START = FormStart(VALUES, "the settings of m9q", None)


def test_cells_of_several_scenarios_are_split_by_scenario() -> None:
    check = FormCheck(cells=30, expected_s=360.0, limit_s=900.0, memory_bytes=3_100_000_000)
    said = "15 cells x 2 scenarios = 30 | ~6m00, at most 15m00 | memory ~3.10 GB"
    assert amount_words(check, VALUES, "x", "|") == said


def test_cells_of_one_scenario_are_one_total() -> None:
    one = FormValues(scenarios="sync")
    said = amount_words(FormCheck(cells=1, expected_s=9.0, limit_s=30.0), one, "x", "|")
    assert re.findall(r"[\d.]+", said) == ["1", "9.0", "30"] and " x " not in said
    assert amount_words(None, one, "x", "|") == "checking"


def test_changed_model_and_warnings_list_worst_first() -> None:
    check = FormCheck(warnings=("needs 9 GB of 8 GB",))
    assert warning_lines(START, check) == [*check.warnings]
    changed = FormStart(VALUES, "", None, changed=True)
    assert warning_lines(changed, check)[0].startswith("the model changed")


def test_foreign_run_is_described_as_check_found_it() -> None:
    check = FormCheck(busy="a benchmark of user 'ann', pid 12")
    assert origin_words(START, None, check, None, "|").startswith(
        "a benchmark of user 'ann', pid 12: this run will be queued"
    )


def test_own_runs_show_remaining_time_and_queue() -> None:
    going, waiting = running(190.0), _waiting(None)
    alone, both = busy_words(Snapshot("", (going,))), busy_words(Snapshot("", (going, waiting)))
    assert {_name(going), "~3m10"} <= {*alone.split()}
    assert "1" in both.split() and "1" not in alone.split()


def test_interrupted_run_is_not_shown_as_busy() -> None:
    assert busy_words(Snapshot("", (_in_state(activity.INTERRUPTED, None),))) == ""
    assert busy_words(None) == ""


def test_command_wraps_where_shell_allows() -> None:
    lines = command_lines("tuibench benchmark model.onnx -ncores 1,2,4,8,16 -b 1,8,32 --dim=seq=128", 60, 4)
    assert lines[0].startswith("same as  tuibench") and lines[0].endswith(" \\")
    assert all(len(line) <= 60 for line in lines)
    whole = "\n".join(lines).removeprefix("same as ").replace("\\\n", "")
    assert shlex.split(whole) == shlex.split("tuibench benchmark model.onnx -ncores 1,2,4,8,16 -b 1,8,32 --dim=seq=128")


def test_quoted_word_never_wraps() -> None:
    lines = command_lines(
        "tuibench benchmark m.onnx --note 'a b c d e f g h i j k l m n o p q r s t u v w x y z'", 30, 9
    )
    assert any("'a b c d e f g h i j k l m n o p q r s t u v w x y z'" in line for line in lines)


def test_command_last_line_holds_remainder() -> None:
    assert len(command_lines("tuibench " + "x " * 400, 80, 2)) == 2


@given(st.text(), st.integers(0, 200), st.integers(1, 5))
def test_any_command_wraps_within_line_limit(command: str, width: int, most: int) -> None:
    lines = command_lines(command, width, most)
    assert 1 <= len(lines) <= most
    assert all(show(line, MAX_CHARS + 80) == line for line in lines)


@pytest.mark.parametrize("cells", [0, 7, 15])
def test_cells_without_even_split_show_one_total(cells: int) -> None:
    said = amount_words(FormCheck(cells=cells), VALUES, "x", "|")
    assert said == f"{cells} cells"


def _name(row: RunRow) -> str:
    return row.info.id[-4:].lower()


def _waiting(holder: Holder | None) -> RunRow:
    return _in_state(activity.WAITING, holder)


def _in_state(state: str, holder: Holder | None) -> RunRow:
    row = running(0.0)
    return replace(row, info=replace(row.info, state=state, holder=holder))

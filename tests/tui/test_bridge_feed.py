"""What is remembered of a file of data: answers, and no failures to get one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.build import make_spec
from tuibench.core.errors import ModelError, PhaseTimeout, TuibenchError, UsageError
from tuibench.core.profile_spec import ProfileSpec
from tuibench.core.spec import BenchmarkSpec, InputSettings
from tuibench.tui.bridge_feed import FeedGlance


class Check:
    """Raises what it is given, one after the other, and counts."""

    def __init__(self, *errors: TuibenchError | None) -> None:
        self.errors = list(errors)

    def __call__(self, spec: BenchmarkSpec) -> None:
        error = self.errors.pop(0)
        if error is not None:
            raise error


def asking(tmp_path: Path) -> BenchmarkSpec:
    (tmp_path / "data.npz").touch()
    return replace(make_spec(tmp_path / "m.onnx"), inputs=InputSettings(file=str(tmp_path / "data.npz")))


@pytest.mark.parametrize("error", [None, UsageError("x", "y"), ModelError("no model")])
def test_an_answer_is_asked_for_once(tmp_path: Path, error: TuibenchError | None) -> None:
    check = Check(error)
    glance, spec = FeedGlance(check), asking(tmp_path)
    said = "x; y" if isinstance(error, UsageError) else ""
    assert [glance.problem(spec), glance.problem(spec)] == [said, said]


def test_a_check_that_had_no_time_is_made_again_later(tmp_path: Path) -> None:
    check, now = Check(PhaseTimeout("no answer within 60 s"), UsageError("has no array", "its inputs")), [0.0]
    glance, spec = FeedGlance(check, lambda: now[0]), asking(tmp_path)
    assert [glance.problem(spec), glance.problem(spec)] == ["", ""] and len(check.errors) == 1
    now[0] = 61.0
    assert glance.problem(spec) == "has no array; its inputs"


def test_another_profile_of_the_same_data_is_another_question(tmp_path: Path) -> None:
    glance, spec = FeedGlance(Check(UsageError("a"), UsageError("b"), UsageError("c"))), asking(tmp_path)
    asked = [
        replace(spec, profile=ProfileSpec(kind, samples=n))
        for kind, n in (("performance", 2), ("loss", 2), ("loss", 9))
    ]
    assert [glance.problem(one) for one in asked] == ["a", "b", "c"]


def test_a_file_that_has_changed_is_looked_at_again(tmp_path: Path) -> None:
    check = Check(UsageError("has no array"), None)
    glance, spec = FeedGlance(check), asking(tmp_path)
    assert glance.problem(spec) == "has no array"
    (tmp_path / "data.npz").write_bytes(b"other")
    assert glance.problem(spec) == ""


def test_without_a_file_nothing_is_asked(tmp_path: Path) -> None:
    assert FeedGlance(Check()).problem(make_spec(tmp_path / "m.onnx")) == ""

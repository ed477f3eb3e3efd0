"""Models with an endless inference: the first inference has the benchmark's limit and becomes the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runs.profile_script import COSTS, LOSSY, MODEL, Bench, Say, Scripted, make_profile_spec
from tuibench.core.errors import ExitCode
from tuibench.core.profile import LOSS, ProfileSpec
from tuibench.core.reason import because, error_text
from tuibench.core.record import to_plain
from tuibench.core.spec import Limits
from tuibench.present.error.words import hint_words
from tuibench.runs.journal import read_error
from tuibench.runs.task import ChildDeath

FIRST: dict[str, dict[str, Any]] = {
    "cost": {"running": True},
    "layers": {"stage": "first", "done": 0, "of": 1},
    "loss": {"stage": "first"},
}
"""Each child's messages before its first run of the model."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own and a cache."""
    return Bench(tmp_path / "run", str(tmp_path / "cache"))


class Endless:
    """A child whose last message precedes its first inference."""

    def __init__(self, task: str) -> None:
        self.limits: list[float] = []
        self._line = FIRST[task]

    def __call__(self, request: dict[str, Any], say: Say) -> Any:
        """Act as `call_child`."""
        if request.get("static"):
            return to_plain(COSTS)
        limit = say(self._line)
        self.limits.append(limit)
        raise ChildDeath("timeout", because("no_answer", s=limit), None, "the profiler's last words")


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize(("task", "profile"), [("cost", None), ("cost", LOSSY), ("layers", None), ("loss", LOSSY)])
def test_first_inference_has_a_minute_and_is_tried_once(
    bench: Bench, task: str, profile: ProfileSpec | None, scale: float
) -> None:
    child = Endless(task)
    call = Scripted({task: child})
    spec = make_profile_spec(MODEL, profile=profile, limits=Limits(timeout_scale=scale))
    replayed = bench.run(spec, call)
    assert child.limits == pytest.approx([60 * scale], abs=0.1)
    assert call.tasks[-1] == task and call.tasks.count(task) == 1
    assert replayed.end["status"] == "failed" and replayed.end["error"]["exit_code"] == ExitCode.TIMEOUT
    failure = replayed.end["reason"].fields["why"].fields
    assert (failure["kind"], failure["phase"], failure["why"]) == (
        "timeout",
        "first",
        because("no_answer", s=60 * scale),
    )
    assert "--timeout" in hint_words(read_error(replayed.end["error"]))


def test_parts_without_a_run_are_made(bench: Bench) -> None:
    call = Scripted({"cost": Endless("cost")})
    spec = make_profile_spec(MODEL, profile=ProfileSpec(LOSS, approximate=True))
    assert bench.run(spec, call).end["status"] == "finished"
    assert call.tasks == ["inspect", "prepare", "cost", "cost", "weights"]


def test_steps_after_a_first_inference_have_their_own_limits(bench: Bench) -> None:
    limits: list[float] = []

    def slow(request: dict[str, Any], say: Say) -> Any:
        stages = ("loading", "first", "checking", "profiling")
        limits.extend(say({"stage": stage, "done": 0, "of": 1}) for stage in stages)
        limits.extend(say({"running": runs}) for runs in (True, False))
        raise ChildDeath("exit", error_text("enough"), None, None)

    bench.run(make_profile_spec(MODEL), Scripted({"layers": slow}))
    first, rest = limits[1], [limit for number, limit in enumerate(limits) if number not in (1, 4)]
    assert first == limits[4] == 60 and min(rest) >= 3 * 10 + 10

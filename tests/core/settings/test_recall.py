from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.core.settings.test_repeat import models, requests, spec_of
from tuibench.cli.arguments import parse
from tuibench.core.errors import UsageError
from tuibench.core.settings.request import BenchmarkRequest, RerunRequest, recall
from tuibench.core.spec import EFFORTS, BenchmarkSpec
from tuibench.present.error.words import message_words

__all__ = ["models"]


def typed(*flags: str) -> dict[str, Any]:
    parsed = parse(["rerun", "last", *flags])
    assert isinstance(parsed, RerunRequest)
    return dict(parsed.given)


def stored(*flags: str) -> BenchmarkSpec:
    return spec_of(parse(["benchmark", "plain.onnx", *flags]))


def repeated(spec: BenchmarkSpec, *flags: str) -> BenchmarkSpec:
    names = tuple(os.path.relpath(source.path) for source in spec.models)
    return spec_of(BenchmarkRequest(models=names, **recall(spec, typed(*flags))))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_recalled_settings_without_flags_are_unchanged(request: BenchmarkRequest) -> None:
    spec = spec_of(request)
    fields = recall(spec, {})
    assert spec_of(BenchmarkRequest(models=tuple(source.asked for source in spec.models), **fields)) == spec


def test_flag_replaces_one_setting_and_keeps_the_others() -> None:
    spec = stored("-b", "1,8", "-s", "sync", "-ncores", "2", "--seed", "5", "-w", "3", "--dim", "h=1,2", "--dim", "w=7")
    assert repeated(spec, "-b", "4").batches == (4,)
    assert repeated(spec, "-b4", "-b", "16").batches == (4, 16), "what was stored is not joined to what is given"
    changed = repeated(spec, "-ncores", "1", "--dim", "h=9")
    assert (changed.cores, changed.batches, changed.inputs.seed) == ((1,), (1, 8), 5)
    assert dict(changed.dims) == {"w": (7,), "h": (9,)}
    assert repeated(spec, "-w", "1").effort.warmup_s == 1


@pytest.mark.parametrize("before", [("-t", "10", "--executions", "2"), ("--target", "7"), ("--precise", "-w", "9"), ()])
def test_duration_setting_yields_to_a_conflicting_flag(before: tuple[str, ...]) -> None:
    spec = stored(*before)
    assert repeated(spec, "--quick").effort == EFFORTS["quick"]
    assert repeated(spec, "--precise").effort == EFFORTS["precise"]
    targeted = repeated(spec, "--target", "1").effort
    assert targeted.target == 0.01 and targeted.warmup_s == spec.effort.warmup_s
    fixed = repeated(spec, "--executions", "4", "-t", "2").effort
    assert (fixed.target, fixed.min_executions, fixed.max_executions, fixed.timed_s) == (None, 4, 4, 0.5)


def test_conflicting_flags_are_still_refused() -> None:
    for flags in (("--quick", "--precise"), ("-t", "1", "--target", "2")):
        with pytest.raises(UsageError):
            repeated(stored(), *flags)


def test_rerun_takes_one_id_and_its_own_flags() -> None:
    parsed = parse(["rerun", "4k2p", "--changed", "--model", "a", "--model=b", "-q"])
    assert parsed == RerunRequest("4k2p", True, ("a", "b"), {"quiet": True})
    for argv, message in (
        (["rerun"], "rerun needs the ID of a benchmark"),
        (["rerun", "a", "b"], "rerun accepts one ID"),
        (["rerun", "a", "--model"], "--model needs a value"),
        (["rerun", "a", "--frobnicate"], "unknown flag --frobnicate"),
        (["benchmark", "m", "--changed"], "unknown flag --changed"),
    ):
        with pytest.raises(UsageError) as caught:
            parse(argv)
        assert message_words(caught.value) == message

"""The headline of a profile and the facts it is built from."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.present.profile.sample_data import make_costs, make_loss
from tests.runs.profile_script import LOSSY, MODEL, Bench, Say, Scripted, make_profile_spec, say_losses
from tuibench.core.profile import ALREADY_INT8, LOSS, LossProfile, Profile
from tuibench.core.reason import Reason, legacy_text
from tuibench.core.result_headline import profile_headline
from tuibench.core.spec import InputSettings
from tuibench.present.headline import headline_sentence


def with_points(places: set[int], **changes: Any) -> LossProfile:
    """Return the stock profile with other points in these layers."""
    loss = make_loss()
    layers = (
        replace(layer, points=tuple(replace(point, **changes) for point in layer.points)) if n in places else layer
        for n, layer in enumerate(loss.layers)
    )
    return replace(loss, layers=tuple(layers))


def unchanged_but_first(reason: Reason) -> LossProfile:
    """Return a profile without changes, whose first layer is unknown."""
    loss = with_points(EVERY, sqnr_db=None)
    first = with_points({0}, sqnr_db=None, reason=reason).layers[0]
    return replace(loss, layers=(first, *loss.layers[1:]))


def cut_short(loss: LossProfile, measured: int) -> LossProfile:
    """Return a profile that ended before all layers were measured."""
    left = (replace(layer, points=()) for layer in loss.layers[measured:])
    return replace(loss, complete=False, layers=(*loss.layers[:measured], *left))


def with_weights(db: float | None, reason: Reason | None = None) -> LossProfile:
    """Return an approximated profile with one figure at all levels and a reason for the first layer."""
    loss = make_loss(measured=False)
    layers = [replace(layer, weight_sqnr_db=dict.fromkeys(loss.levels, db)) for layer in loss.layers]
    return replace(loss, layers=(replace(layers[0], reason=reason), *layers[1:]))


EVERY = set(range(7))
MATMUL, CONV = "stage0.block7.matmul.weight", "stage0.block5.conv.weight"


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (make_loss(), "most sensitive: stage0.block7.matmul.weight, 11.0 dB SQNR at pruned 0.95"),
        (
            with_points({5}, sqnr_db=None, reason=legacy_text("nan"), harm=True),
            f"harm beyond dB: {MATMUL} · most sensitive of the others: {CONV}, 14.0 dB SQNR at pruned 0.95",
        ),
        (
            with_points(EVERY, sqnr_db=None, reason=legacy_text("nan"), harm=True),
            "harm beyond dB: stage0.block0.conv.weight and 6 more layers",
        ),
        (
            with_points(EVERY, sqnr_db=None, reason=legacy_text("no output holds floats")),
            "unknown for all layers: no output holds floats",
        ),
        (with_points(EVERY, sqnr_db=None, reason=ALREADY_INT8), "unknown for all layers: already int8"),
        (with_points(EVERY, sqnr_db=None), "no layer loses anything"),
        (unchanged_but_first(ALREADY_INT8), "no layer loses anything"),
        (
            unchanged_but_first(legacy_text("no memory")),
            "no layer loses anything, where that is known",
        ),
        (cut_short(with_points(EVERY, sqnr_db=None), 4), "of 4 of 7 layers none loses anything"),
        (
            cut_short(make_loss(), 1),
            "of 1 of 7 layers most sensitive: stage0.block0.conv.weight, 26.0 dB SQNR at pruned 0.95",
        ),
        (
            cut_short(with_points(EVERY, sqnr_db=None, reason=legacy_text("nan"), harm=True), 2),
            "of 2 of 7 layers harm beyond dB: stage0.block0.conv.weight and 1 more layer",
        ),
        (with_weights(None), "no weights change · a proxy"),
        (with_weights(None, reason=Reason("weights_packed")), "no weights change, where that is known · a proxy"),
        (replace(with_weights(None), layers=()), "no change of weights is known · a proxy"),
        (
            make_loss(measured=False),
            "largest change of weights: stage0.block10.gemm.weight, 16.0 dB at pruned 0.95 · a proxy",
        ),
    ],
)
def test_loss_headline_names_harm_first_and_marks_proxies(loss: LossProfile, words: str) -> None:
    assert headline_sentence(profile_headline(Profile(LOSS, make_costs(), loss=loss))) == words


def test_data_is_named_with_its_number_of_run_samples(tmp_path: Path) -> None:
    def fewer(request: dict[str, Any], say: Say) -> Any:
        return say_losses(
            request, lambda line: say({"begin": line["begin"] | {"samples": 1}} if "begin" in line else line)
        )

    bench = Bench(tmp_path / "run", str(tmp_path / "cache"))
    spec = make_profile_spec(MODEL, profile=replace(LOSSY, samples=8))
    profile = bench.run(spec, Scripted({"loss": fewer})).result().profile
    assert profile is not None and profile.loss is not None
    assert profile.loss.data.startswith("1 sample of synthetic data") and profile.loss.samples == 1


def test_data_file_is_identified_by_its_content(tmp_path: Path) -> None:
    data = tmp_path / "calib.npz"
    data.write_bytes(b"as if")
    bench = Bench(tmp_path / "run", str(tmp_path / "cache"))
    spec = make_profile_spec(MODEL, profile=LOSSY, inputs=InputSettings(file=str(data)))
    profile = bench.run(spec, Scripted()).result().profile
    assert profile is not None and profile.loss is not None
    assert profile.loss.data == "2 samples from calib.npz"
    assert profile.loss.data_sha256 == hashlib.sha256(b"as if").hexdigest()

"""Machine roofs of a profile: measured in one child, cached if undisturbed, otherwise measured again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.profile_script import COSTS, MODEL, ROOFLINE, ZEROS, Bench, Scripted, make_profile_spec, make_run
from tuibench.core.cell import Estimate, Grade
from tuibench.core.model import Point, Reference
from tuibench.core.profile import PERFORMANCE, WHAT_IF, ProfileSpec, WhatIf
from tuibench.core.reason import legacy_text
from tuibench.core.record import to_plain
from tuibench.runs.profile.parts import Parts
from tuibench.runs.profile.result import assemble_performance

POINT = Point("m0p0", 0, 1, 1, {}, {}, (), "inputs.npz", 8, Reference(None, None, None, legacy_text("not made")))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A run directory of its own and a cache."""
    return Bench(tmp_path / "run", str(tmp_path / "cache"))


def test_cached_machine_roofs_are_not_measured_again(bench: Bench, tmp_path: Path) -> None:
    spec = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1))
    first = bench.run(spec, Scripted())
    call = Scripted()
    again = Bench(tmp_path / "again", bench.cache).run(spec, call)
    assert "roofline" not in call.tasks and "zeros" not in call.tasks
    assert again.parts.roofline == first.parts.roofline is not None
    assert again.parts.zeros == first.parts.zeros is not None
    call = Scripted()
    Bench(tmp_path / "more", bench.cache).run(replace(spec, cores=(2,)), call)
    assert call.tasks.count("roofline") == 1, "another core count has other roofs"


@pytest.mark.parametrize(("letter", "again"), [("A", []), ("B", []), ("C", ["roofline"]), ("D", ["roofline"])])
def test_roofs_of_a_disturbed_machine_are_used_once(
    bench: Bench, tmp_path: Path, letter: str, again: list[str]
) -> None:
    spec = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1))
    grade = Grade(letter, legacy_text("others were at work"), 0.3, 0.0, False)
    graded = {**to_plain(replace(ROOFLINE, grade=grade)), "zeros": to_plain(replace(ZEROS, grade=grade))}
    first = bench.run(spec, Scripted({"roofline": lambda request, say: dict(graded)})).parts
    assert first.roofline is not None and first.roofline.grade == grade
    assert first.zeros is not None and first.zeros.grade == grade
    call = Scripted()
    Bench(tmp_path / "again", bench.cache).run(spec, call)
    assert [task for task in call.tasks if task in ("roofline", "zeros")] == again


def test_single_missing_roof_is_measured_alone(bench: Bench, tmp_path: Path) -> None:
    spec = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1))
    unclear = to_plain(replace(ZEROS, exploits=None))
    bench.run(spec, Scripted({"roofline": lambda request, say: {**to_plain(ROOFLINE), "zeros": dict(unclear)}}))
    call = Scripted()
    replayed = Bench(tmp_path / "again", bench.cache).run(spec, call)
    assert call.tasks.count("zeros") == 1 and "roofline" not in call.tasks
    assert replayed.parts.zeros == ZEROS


def test_requested_fresh_roofs_replace_the_cached_ones(bench: Bench, tmp_path: Path) -> None:
    usual = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1))
    wanted = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1, fresh_roofs=True))
    bench.run(usual, Scripted())
    faster = to_plain(replace(ROOFLINE, dram_gb_s=20.0)) | {"zeros": to_plain(ZEROS)}
    call = Scripted({"roofline": lambda request, say: dict(faster)})
    Bench(tmp_path / "fresh", bench.cache).run(wanted, call)
    assert call.tasks.count("roofline") == 1
    replayed = Bench(tmp_path / "later", bench.cache).run(usual, call)
    assert call.tasks.count("roofline") == 1
    assert replayed.parts.roofline is not None and replayed.parts.roofline.dram_gb_s == 20.0
    disturbed = to_plain(replace(ROOFLINE, grade=None))
    Bench(tmp_path / "worse", bench.cache).run(wanted, Scripted({"roofline": lambda request, say: dict(disturbed)}))
    Bench(tmp_path / "last", bench.cache).run(usual, call)
    assert call.tasks.count("roofline") == 2, "what was found worse than what was kept takes its place"


@pytest.mark.parametrize("damage", [b"", b"{", b'{"key": "another", "result": {}}', b'{"result": 3}', b"[" * 100_000])
def test_damaged_cache_is_measured_again(bench: Bench, tmp_path: Path, damage: bytes) -> None:
    spec = make_profile_spec(MODEL, profile=ProfileSpec(PERFORMANCE, processes=1))
    bench.run(spec, Scripted())
    for path in Path(str(bench.cache)).rglob("*.kept"):
        path.write_bytes(damage)
    call = Scripted()
    replayed = Bench(tmp_path / "again", bench.cache).run(spec, call)
    assert call.tasks.count("roofline") == 1
    assert replayed.parts.roofline is not None and replayed.parts.zeros is not None


def test_alternative_forms_of_one_row_are_kept_apart() -> None:
    parts = Parts()
    for form, value in (("int8", 0.5), ("f16", 0.8)):
        parts.take({"part": WHAT_IF, "id": "conv_out", "result": to_plain(WhatIf(form, Estimate(value)))})
    assert {key: found.ratio.value for key, found in parts.what_if.items()} == {
        ("conv_out", "int8"): 0.5,
        ("conv_out", "f16"): 0.8,
    }
    profile = assemble_performance(
        spec=make_profile_spec(MODEL), point=POINT, costs=COSTS, runs=[make_run()], what_if=parts.what_if
    )
    assert [form.form for form in profile.layers[0].what_if] == ["int8", "f16"]

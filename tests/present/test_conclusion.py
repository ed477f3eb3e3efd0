from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.present import build
from tests.runs.execution_data import asked, execution, result
from tuibench.core.cell import CellResult
from tuibench.core.model import ModelSummary
from tuibench.core.reason import Failure, error_text
from tuibench.core.result import Comparison
from tuibench.core.result_headline import cells_headline
from tuibench.core.spec import ModelSource
from tuibench.present.headline import conclude, explain_missing, headline_sentence
from tuibench.runs.comparison import compare_cells

NAMES = {"a" * 64: "resnet.onnx", "b" * 64: "\x1b[2Jevil.onnx"}


def headline(cells: Sequence[CellResult], names: Mapping[str, str], found: Sequence[Comparison] = ()) -> str:
    return headline_sentence(cells_headline(cells, names, found))


def failed(message: str, phase: str = "load", **changes: int) -> CellResult:
    request = asked(**changes)
    return CellResult(request.key, request, "failed", failure=Failure("exception", phase, error_text(message)))


def test_headline_of_the_default_command_has_both_numbers() -> None:
    cells = [
        result(p50=2.5, per_second=4310.0, half=0.014, scenario="async", cores=16, streams=4),
        result(p50=1.92, per_second=520.0, half=0.007, cores=16),
    ]
    assert headline(cells, NAMES) == (
        "1.92 ms ±0.7 % (sync, 16 cores, batch 1) · 4310 items/s ±1.4 % (async, 4 streams) · grade A"
    )


def test_sweep_headline_has_the_best_cell_and_the_worse_grade() -> None:
    cells = [
        result(p50=4.0, cores=1),
        result(p50=2.0, cores=2, letter="B"),
        result(per_second=900.0, scenario="async", cores=1),
        result(per_second=1500.0, scenario="async", cores=2, letter="C"),
    ]
    assert headline(cells, NAMES) == (
        "2.00 ms ±1.0 % (sync, 2 cores, batch 1) · 1500 items/s ±1.0 % (async, 2 cores, 1 stream) · grade C"
    )


def test_headline_names_used_streams_and_not_requested_ones() -> None:
    cell = result(scenario="async", streams=8)
    assert cell.used is not None
    cell = replace(cell, used=replace(cell.used, streams=3))
    assert "3 streams" in headline([cell], NAMES)


def test_wrong_outputs_and_grade_d_never_beat_a_clean_cell() -> None:
    slow = result(p50=9.0, cores=1)
    wrong, disturbed = result(p50=1.0, cores=2, state="differs"), result(p50=2.0, cores=3, letter="D")
    assert headline([wrong, disturbed, slow], NAMES).startswith("9.00 ms")
    assert conclude([wrong, disturbed, slow], NAMES)[0].sentence.startswith("Least latency: 9.00 ms")
    assert headline([wrong, disturbed], NAMES) == "2.00 ms ±1.0 % (sync, 3 cores, batch 1) · grade D"
    assert conclude([wrong, disturbed], NAMES)[0].text.startswith("2.00 ms")
    both = [wrong, result(p50=3.0, cores=4, state="differs")]
    assert headline(both, NAMES) == "1.00 ms ±1.0 % (sync, 2 cores, batch 1) · grade A · outputs differ"
    assert "outputs differ, and no cell is clean" in conclude(both, NAMES)[0].text


def test_failed_cell_shows_its_reason_and_others_are_counted() -> None:
    assert headline([failed("worker died of SIGSEGV\n\x1b[31m")], NAMES) == (
        "failed in load: worker died of SIGSEGV\\n\\e[31m"
    )
    assert headline([failed("no"), failed("no", cores=4)], NAMES) == "failed in load: no (and 1 more)"
    assert headline([result(), failed("no", cores=4)], NAMES).endswith("grade A · 1 of 2 cells failed")
    assert headline([replace(failed("x"), failure=None, status="skipped")], NAMES) == (
        "nothing measured: 1 cell skipped"
    )
    assert headline([], NAMES) == "nothing measured"


def test_missing_interval_is_not_claimed() -> None:
    assert headline([result(half=None)], NAMES) == "1.00 ms (sync, 2 cores, batch 1) · grade A"


def test_only_comparison_ends_the_headline() -> None:
    comparison = build.comparison("a", "b", "p50 latency", 0.8, 0.7, 0.9, 5, True, "faster", None, "b is faster")
    assert headline([result()], NAMES, [comparison]).endswith("grade A · b is faster")
    assert headline([result()], NAMES, [comparison, comparison]).endswith("grade A")


def test_sweep_ends_with_one_sentence_per_question() -> None:
    cells = [
        result(p50=4.0, per_second=250.0, cores=1),
        result(p50=2.5, per_second=400.0, cores=2, letter="B"),
        result(p50=24.0, per_second=333.0, cores=1, batch=8),
        result(p50=13.0, per_second=610.0, cores=2, batch=8),
    ]
    assert tuple(found.sentence for found in conclude(cells, NAMES)) == (
        "Least latency: 2.50 ms ±1.0 % (sync, 2 cores, batch 1), grade B.",
        "Most items/s: 610 items/s ±1.0 % (sync, 2 cores, batch 8), grade A.",
        "Most items/s per core: 333 items/s per core ±1.0 % (sync, 1 core, batch 8), grade A.",
    )


def test_overlapping_intervals_are_a_tie() -> None:
    cells = [
        result(p50=2.00, per_second=1.0, engine="onnxruntime"),
        result(p50=2.03, per_second=2.0, engine="openvino"),
        result(p50=2.05, per_second=3.0, engine="tract"),
    ]
    assert conclude(cells, NAMES)[0].sentence == (
        "Least latency: 2.00 ms ±1.0 % (onnxruntime, sync, 2 cores, batch 1), grade A"
        "; tied with openvino, sync, 2 cores, batch 1."
    )
    assert "tied" not in conclude(cells, NAMES)[1].text


def test_long_tie_is_truncated() -> None:
    cells = [result(p50=2.0, batch=size) for size in range(1, 7)]
    tie = conclude(cells, NAMES)[0].text.split("tied with ")[1]
    assert tie == "sync, 2 cores, batch 2 / sync, 2 cores, batch 3 / sync, 2 cores, batch 4 and 2 more."


def test_single_cell_and_single_core_count_have_no_choice() -> None:
    assert conclude([result()], NAMES) == ()
    assert len(conclude([result(), result(batch=2)], NAMES)) == 2


def test_latency_is_chosen_among_single_streams() -> None:
    cells = [result(p50=1.0, scenario="async"), result(p50=5.0), result(p50=6.0, batch=2)]
    assert conclude(cells, NAMES)[0].sentence.startswith("Least latency: 5.00 ms")


def test_model_names_cannot_drive_the_terminal() -> None:
    cells = [result(p50=5.0), result(p50=1.0, model_sha256="b" * 64)]
    for text in (headline(cells, NAMES), *(found.text for found in conclude(cells, NAMES))):
        assert "\x1b" not in text
    assert "\\e[2Jevil.onnx" in headline(cells, NAMES)
    assert "bbbbbbbbbbbb, sync" in headline(cells, {})


def test_less_work_is_no_better_choice() -> None:
    cells = [result(p50=float(seq) / cores, cores=cores, dims={"seq": seq}) for seq in (32, 512) for cores in (1, 4)]
    least = [found.text for found in conclude(cells, NAMES) if found.title == "Least latency"]
    assert len(least) == 2
    assert "8.00 ms" in least[0] and "seq=32" in least[0] and "128 ms" in least[1] and "seq=512" in least[1]


def said(*cells: CellResult, letters: str = "ab") -> tuple[str, ...]:
    """Return the sentences about models named by letters, with every cell measured in the same rounds."""
    rounds = [(n, execution()) for n in range(1, 6)]
    return explain_missing(
        build.run(
            *cells,
            spec=build.spec(models=tuple(ModelSource(f"m{n}", f"/m{n}") for n in range(len(letters)))),
            models=tuple(ModelSummary(f"/{letter}.onnx", letter * 64, 1, 0, (), ()) for letter in letters),
            comparisons=compare_cells(cells, dict.fromkeys([c.key for c in cells], rounds), NAMES),
        )
    )


def test_models_that_are_not_compared_have_a_reason() -> None:
    base, other = result(), result(model_sha256="b" * 64, dims={"seq": 64})
    assert said(base, other) == ("m1 is not compared with m0: their dims differ (seq=64 against none).",)
    small, large = result(batch=1), result(model_sha256="b" * 64, batch=8)
    assert said(small, large) == ("m1 is not compared with m0: their batch sizes differ (8 against 1).",)
    apart = (
        result(batch=1),
        result(batch=8, dims={"n": 1}),
        *(result(model_sha256="b" * 64, batch=b, dims=d) for b, d in ((1, {"n": 1}), (8, {}))),
    )
    assert said(*apart) == ("m1 is not compared with m0: no round measured both with the same settings.",)


def test_compared_or_unmeasured_models_need_no_reason() -> None:
    base, other = result(), result(model_sha256="b" * 64)
    assert said(base, other) == ()
    assert said(base, replace(other, latency_ms={})) == ()


def test_one_content_under_two_paths_is_reported() -> None:
    assert said(result(), letters="aa") == ("m1 has the same content as m0: measured once.",)

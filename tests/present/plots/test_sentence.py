from __future__ import annotations

from dataclasses import replace

import pytest

from tests.present import build
from tests.present.plots import data
from tuibench.core.result import RunResult
from tuibench.present.plots.scaling import scaling
from tuibench.present.plots.selection import Selection
from tuibench.present.plots.sentences import of_the_work, point_words, serial_share


def said(run: RunResult, selection: Selection | None = None) -> dict[str, str]:
    return {
        sentence.kind: sentence.text for sentence in scaling(run, selection or Selection(fixed={"batch": 32})).sentences
    }


def test_sketched_run_has_its_sentences() -> None:
    assert said(data.cores_run()) == {
        "best": "16 cores  588 items/s ±1.9 %",
        "worst": "1 core  67.6 items/s ±1.1 %",
        "knee": "8 cores  efficiency 87 %",
        "Amdahl": "3.3 % serial part [2.8, 3.7], yet 16 cores give 19 % less",
        "step": "8 → 16 cores: items/s +25 % [+22, +27]",
    }


def test_less_time_is_better() -> None:
    words = said(data.cores_run(), Selection(fixed={"batch": 32}, metric="batch-time"))
    assert words["best"].startswith("16 cores  54.4 ms/batch") and words["worst"].startswith("1 core  473 ms/batch")


def test_cells_with_zero_cores_do_not_change_the_sentences() -> None:
    run = data.cores_run()
    nought = [data.rated_cell(10.0, cores=0, batch=32), data.rated_cell(9.0, cores=0, batch=1)]
    words = said(build.run(*nought, *run.cells))
    assert words["knee"].startswith("8 cores") and words["Amdahl"] == said(run)["Amdahl"]


@pytest.mark.parametrize("serial", [0.0, 0.05, 0.5])
def test_serial_share_of_an_exact_amdahl_line_is_found(serial: float) -> None:
    speedups = [(float(n), 1 / (serial + (1 - serial) / n)) for n in (1, 2, 4, 8, 16)]
    assert serial_share(speedups) == pytest.approx(serial, abs=1e-12)
    assert serial_share([(1.0, 1.0)]) is None and serial_share([]) is None


@pytest.mark.parametrize("serial", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("base", [1, 2, 8])
def test_serial_share_does_not_depend_on_the_first_core_count(serial: float, base: int) -> None:
    def time(n: int) -> float:
        return serial + (1 - serial) / n

    speedups = [(n / base, time(base) / time(n)) for n in (base, 2 * base, 4 * base)]
    found = serial_share(speedups)
    assert found is not None and of_the_work(found, base) == pytest.approx(serial, abs=1e-12)


def test_line_starting_at_two_cores_has_the_same_serial_part() -> None:
    rates = {n: 1000 / (0.1 + 0.9 / n) for n in (1, 2, 4, 8, 16)}
    assert said(data.cores_run(rates=rates))["Amdahl"].startswith("10 % serial part [")
    del rates[1]
    assert said(data.cores_run(rates=rates))["Amdahl"].startswith("10 % serial part [")


def test_line_that_follows_amdahl_has_no_exception() -> None:
    rates = {n: 100 / (0.1 + 0.9 / n) for n in (1, 2, 4, 8)}
    assert said(data.cores_run(rates=rates))["Amdahl"].startswith("10 % serial part [")
    assert "yet" not in said(data.cores_run(rates=rates))["Amdahl"]
    faster = {n: 100.0 * n**1.1 for n in (1, 2, 4)}
    assert said(data.cores_run(rates=faster))["Amdahl"] == "no serial part: at least in proportion to the cores"
    assert "knee" not in said(data.cores_run(rates=faster))


def test_no_serial_part_is_given_if_more_cores_are_slower() -> None:
    slower = {1: 100.0, 2: 48.0}
    assert said(data.cores_run(rates=slower))["Amdahl"] == "does not apply: more cores are no faster"
    unsure = [data.rated_cell(100.0, 0.3, cores=1), data.rated_cell(103.0, 0.3, cores=2)]
    words = said(build.run(*unsure)).get("Amdahl", "")
    low, high = words.partition("[")[2].partition("]")[0].split(", ") if "[" in words else ("0", "100.0")
    assert 0 <= float(low) <= float(words.split()[0] if words else 0) <= float(high) <= 100


def test_knee_is_the_last_point_with_half_the_first_gain_per_core() -> None:
    # The second core adds 100 %, the next two 51 % each, the next four 49 % each.
    just = {1: 100.0, 2: 200.0, 4: 302.0, 8: 498.0}
    assert said(data.cores_run(rates=just))["knee"].startswith("4 cores")
    assert "knee" not in said(data.cores_run(rates={**just, 8: 510.0}))
    assert "knee" not in said(data.cores_run(rates={1: 100.0, 2: 110.0})), "two points have no bend"


def test_uncertain_values_give_no_sentence_about_the_form() -> None:
    cells = [
        data.rated_cell(100.0, cores=1),
        data.rated_cell(150.0, 0.4, cores=2),
        data.rated_cell(290.0, 0.4, cores=4),
    ]
    assert set(said(build.run(*cells))) == {"best", "worst", "step"}


def test_values_without_an_interval_are_given_alone() -> None:
    cells = [data.without_interval(data.rated_cell(rate, cores=n)) for n, rate in ((1, 100.0), (2, 180.0))]
    assert said(build.run(*cells)) == {
        "best": "2 cores  180 items/s", "worst": "1 core  100 items/s", "Amdahl": "11 % serial part",
        "step": "1 → 2 cores: items/s +80 %",
    }  # fmt: skip


def test_sentence_over_batches_names_the_smallest_sufficient_one() -> None:
    words = said(data.batches_run())
    assert words["enough"] == "batch 8  99 % of the highest items/s"
    assert words["step"] == "batch 8 → 32: items/s +1 % [±0, +2]" and "knee" not in words


def test_sentence_over_shapes_gives_the_growth_of_time() -> None:
    words = said(data.shapes_run())
    assert words["growth"] == "time grows as seq^1.29, 64 to 256"  # log(6) / log(4)
    assert words["step"].startswith("seq 128 → 256: time +173 %")


def test_wrong_and_disturbed_cells_are_never_the_best() -> None:
    words = said(build.sweep_run(), Selection("batch", fixed={"cores": 2}))
    assert words["best"].startswith("batch 8") and words["note"].startswith("onnxruntime, batch 16: grade D")
    only = build.run(build.noisy_cell(cores=1), build.noisy_cell(cores=2))
    assert said(only)["best"].endswith(", tied with 2")


def test_cells_with_overlapping_intervals_are_tied_with_the_best() -> None:
    rates = {1: 100.0, 2: 199.0, 4: 200.0, 8: 198.0}
    assert said(data.cores_run(rates=rates))["best"].endswith(", tied with 2, 8")


def test_two_series_are_compared_at_their_best_shared_point() -> None:
    words = said(data.two_engines())
    assert words["ratio"] == "8 cores: openvino 513 items/s ±1.0 %, 1.09 [1.08, 1.10] × onnxruntime"
    assert words["missing"].startswith("openvino, 16 cores: died by SIGSEGV")


def test_verdict_of_an_interleaved_comparison_replaces_the_ratio() -> None:
    run = data.two_engines()
    best = next(c for c in run.cells if c.asked.cores == 8 and c.asked.batch == 32)
    twin = next(c for c in run.cells if c.asked.cores == 8 and c.asked.engine == "openvino")
    verdict = build.comparison(
        best.key, twin.key, "p50", 0.92, 0.9, 0.94, 5, True, "faster", None, "openvino is\x1b faster"
    )
    assert said(replace(run, comparisons=(verdict,)))["ratio"] == "8 cores: openvino is\\e faster"


def test_point_words_contain_all_known_values() -> None:
    selection = Selection(fixed={"batch": 32})
    points = scaling(data.cores_run(build.failed_cell({"cores": 32, "batch": 32})), selection).lines[0].points
    rate, time = "588 items/s ±1.9 %", "54.4 ms/batch ±1.9 %"
    assert point_words(points[4], "throughput") == f"16 cores: {rate}, {time}, efficiency 54 %, grade A"
    assert point_words(points[5], "throughput") == "32 cores: died by SIGSEGV in load: the worker died"
    share = scaling(data.cores_run(), replace(selection, metric="efficiency")).lines[0].points[4]
    assert point_words(share, "efficiency") == f"16 cores: 54.4 % ±2.2 %, {rate}, {time}, grade A"


def test_grade_is_given_once_with_its_cause() -> None:
    points = scaling(build.run(build.noisy_cell(cores=1), build.noisy_cell(cores=2)), Selection()).lines[0].points
    words = point_words(points[0], "throughput")
    assert words.count("grade D") == 1 and "grade D: " in words

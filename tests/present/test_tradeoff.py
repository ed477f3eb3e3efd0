from __future__ import annotations

from tests.present import build
from tests.present.test_stored import page
from tests.tui.sample_data import sweep
from tuibench.present import markdown_export
from tuibench.present.summary import TITLE, tradeoff_lines


def test_sweep_names_the_best_choices() -> None:
    # By Amdahl and the gain from batches only 16 cores pay off; batch 32 gives 610 against 606 of batch 8.
    assert tradeoff_lines(sweep(faster=1.06)) == [
        "ms/batch  items/s",
        "    1.76      569  sync, 16 cores, batch 1",
        "    13.2      606  sync, 16 cores, batch 8",
        "    52.4      610  sync, 16 cores, batch 32 (no sure gain)",
    ]


def test_one_cell_can_be_best_at_both() -> None:
    cells = [build.ok_cell(8.0 / n, 100.0 * n, {"cores": n}) for n in (1, 2, 4)]
    assert tradeoff_lines(build.run(*cells)) == ["sync, 4 cores, batch 1 is best at both"]


def test_result_without_a_tradeoff_prints_nothing() -> None:
    assert tradeoff_lines(build.default_run()) == []
    assert tradeoff_lines(build.run(*(build.failed_cell({"cores": n}) for n in (1, 2, 4)))) == []


def test_page_and_markdown_contain_the_tradeoff() -> None:
    assert f"\n\n{TITLE}\nms/batch  items/s\n    1.76      569  sync, 16 cores, batch 1\n" in page(sweep(faster=1.06))
    assert f"\n\n## {TITLE}\n\n    ms/batch  items/s\n" in markdown_export.dumps(sweep())


def test_hostile_names_stay_text() -> None:
    cells = [
        build.ok_cell(8.0 * n / cores, 100.0 * n * cores, {"dims": {build.HOSTILE: n}, "cores": cores})
        for n in (1, 2, 4)
        for cores in (1, 2)
    ]
    text = "".join(tradeoff_lines(build.run(*cells)))
    assert len(tradeoff_lines(build.run(*cells))) == 4 and text.isprintable() and "\x1b" not in text


def test_shorter_sequence_is_less_work_and_no_better_choice() -> None:
    times = [(n, seq) for seq in (32, 512) for n in (1, 4)]
    cells = [build.ok_cell(seq / n, 1000.0 * n / seq, {"cores": n, "dims": {"seq": seq}}) for n, seq in times]
    lines = tradeoff_lines(build.run(*cells))
    assert [line.split("  ")[-1] for line in lines[1:]] == [
        "sync, 4 cores, batch 1, seq=32", "sync, 4 cores, batch 1, seq=512",
    ]  # fmt: skip

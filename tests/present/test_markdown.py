from __future__ import annotations

import re

from tests.present import build
from tests.present.plots import data
from tuibench.present.command import command_of
from tuibench.present.markdown_export import dumps, escape


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\)\|", line.strip("| ")) for line in lines]


def test_every_row_has_as_many_cells_as_the_header() -> None:
    for run in (build.sweep_run(), build.hostile_run(), build.default_run(), build.run(build.failed_cell())):
        rows = table_rows(dumps(run))
        assert len(rows) == len(run.cells) + 2
        assert {len(row) for row in rows} == {len(rows[0])}


def test_markup_and_control_characters_are_escaped() -> None:
    assert escape("a|b <i> & *x* [y](z) `c`") == r"a\|b &lt;i&gt; &amp; \*x\* \[y\](z) \`c\`"
    text = dumps(build.hostile_run())
    # An indented block is literal, so figures and the command need no escapes.
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert "<b>" not in outside and "\x1b" not in text and "\u202e" not in text
    assert "\udcff" not in text


def test_engine_with_a_release_is_not_followed_by_its_version() -> None:
    text = dumps(build.run(build.ok_cell(), versions={"onnxruntime": "1.31.1", "onnxruntime@1.20.1": "1.20.1"}))
    assert "onnxruntime 1.31.1, onnxruntime@1.20.1\n" in text


def test_facts_missing_from_the_table_follow_as_text() -> None:
    text = dumps(build.sweep_run())
    assert dumps(build.default_run()).startswith("# tuibench benchmark\n\n1.92 ms ±0.7 %")
    assert "## Conclusions" in text and "openvino is 1.04× faster" in text
    assert "grade D: another process took 40 % of the CPUs" in text
    assert "## Warnings\n\n- the governor is powersave" in text
    assert text.endswith(f"Again:\n\n    {command_of(build.sweep_run())}\n")


def test_figures_are_in_separate_code_blocks() -> None:
    text = dumps(data.cores_run())
    _, _, after = text.partition("## Core scaling, batch 1\n\n")
    block, _, words = after.partition("\n\n")
    assert block.count("●") == 6 and all(line.startswith("    ") for line in block.splitlines())
    assert words.startswith("- Best: 16 cores  529 items/s ±1.0 %\n") and "## Batch scaling, 16 cores" in words

"""The comparison of two results without matching cells."""

from __future__ import annotations

import re

from tests.present import build
from tuibench.runs.comparison import compare_results
from tuibench.tui.screens.comparison.pair import pairs_of_sides
from tuibench.tui.screens.comparison.view import ComparisonData, missing_lines


def lines(shas: tuple[str, str]) -> tuple[str, ...]:
    dims = ({"seq": 64}, {"x": 48})
    old, new = (
        build.run(
            build.ok_cell(asks={"model_sha256": sha * 32, "dims": size}), models=(build.model(sha256=sha * 32),), id=one
        )
        for sha, size, one in zip(shas, dims, ("01J0000000000000000000K3F9", "01J000000000000000000077ZZ"), strict=True)
    )
    side = compare_results(old, new)
    return missing_lines(ComparisonData(old, new, pairs_of_sides(side), side), "R")


def test_no_matching_cells_different_models_listed_first() -> None:
    said = lines(("aa", "bb"))
    assert said[1].startswith("model: ") and re.findall(r"(\w{8}) in (\w{4})", said[1]) == [
        ("aaaaaaaa", "k3f9"),
        ("bbbbbbbb", "77zz"),
    ]
    assert not any(line.startswith("model") for line in lines(("aa", "aa")))
    assert any(line.startswith("shapes: seq=64 in k3f9; x=48") for line in lines(("aa", "aa")))

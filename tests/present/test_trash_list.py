from __future__ import annotations

import json
from typing import Any

from tests.present.build import HOSTILE
from tests.present.test_listing import NOW
from tuibench.core.stored import TrashEntry
from tuibench.core.text import show, width_of
from tuibench.present.listing import trash_json, trash_list


def entry(**changes: Any) -> TrashEntry:
    base: dict[str, Any] = {
        "id": "01J0000000000000000000K3F9", "removed_utc": "2026-01-01T03:04:05Z", "kind": "benchmark",
        "names": ("77zz mine",), "benchmarks": ("01J000000000000000000077ZZ",), "projects": (), "size_bytes": 61_500,
    }  # fmt: skip
    return TrashEntry(**{**base, **changes})


def test_removal_is_a_line_and_the_total_is_below() -> None:
    other = entry(id="01J0000000000000000000ABCD", kind="project", names=(), size_bytes=1_000_000)
    assert trash_list([entry(), other], NOW).splitlines() == [
        "id    removed  kind          size  held",
        "k3f9       1d  benchmark  61.5 kB  77zz mine",
        "abcd       1d  project    1.00 MB  1 benchmark",
        "2 removals, 1.06 MB; tuibench undo restores the newest",
    ]
    assert trash_list([], NOW) == ""


def test_hostile_names_are_safe_and_json_is_complete() -> None:
    hostile = HOSTILE + "\x9b" + "x" * 1000
    strange = entry(names=(hostile, hostile), kind=hostile, removed_utc=hostile, id=hostile)
    lines = trash_list([strange, entry(names=("n" * 500,))], NOW).splitlines()
    assert len(lines) == 4
    for line in lines:
        assert show(line, 10_000) == line
    assert max(map(width_of, trash_list([entry(names=("n" * 500,))], NOW).splitlines())) <= 80
    assert trash_list([strange], NOW, ascii_only=True).isascii()
    assert json.loads(trash_json([strange]))["trash"][0]["names"] == [hostile, hostile]

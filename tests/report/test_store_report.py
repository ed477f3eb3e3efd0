from __future__ import annotations

import json

from tests.report.build import HOSTILE
from tuibench.core.text import show
from tuibench.core.trash import Problem, StoreReport
from tuibench.report.store_report import store_json, store_report


def test_a_sound_store_is_one_line() -> None:
    assert store_report(StoreReport(12, 3)) == "12 files looked at, 3 read and verified: nothing is wrong\n"
    assert store_report(StoreReport(1, 1, migrated=1)) == (
        "1 file looked at, 1 read and verified, 1 migrated: nothing is wrong\n"
    )


def test_what_is_left_comes_before_what_was_repaired() -> None:
    problems = (Problem("unlisted", "records/k3/a.json", "", True), Problem("damaged", "records/k3/b.json", "crc"))
    assert store_report(StoreReport(9, 9, problems)).splitlines() == [
        "PROBLEM records/k3/b.json: not what was written: crc",
        "repaired records/k3/a.json: not in the index",
        "9 files looked at, 9 read and verified: 1 problem left, 1 repaired",
    ]
    assert store_report(StoreReport(9, 9, problems[:1])).endswith("1 problem repaired, none left\n")


def test_what_a_repair_would_mend_is_said() -> None:
    text = store_report(StoreReport(2, 0, (Problem("leftover", "x.tmp", ""),)))
    assert text.splitlines()[-1] == "What can be repaired is by: tuibench store check --repair"
    assert "--repair" not in store_report(StoreReport(2, 0, (Problem("newer", "x.json", ""),)))


def test_hostile_names_and_json() -> None:
    report = StoreReport(1, 0, (Problem(HOSTILE, HOSTILE, HOSTILE + "x" * 5000),))
    for line in store_report(report).splitlines():
        assert show(line, 10_000) == line
    assert store_report(report, ascii_only=True).isascii()
    loaded = json.loads(store_json(report))
    assert loaded["problems"][0]["path"] == HOSTILE and loaded["exit_code"] == 6


def test_the_exit_code_is_that_of_every_command() -> None:
    mended, left = Problem("unlisted", "a", "", True), Problem("damaged", "b", "")
    codes = [StoreReport(1, 1, problems).exit_code for problems in ((), (mended,), (mended, left), (left,))]
    assert codes == [0, 0, 6, 6]
    assert StoreReport(1, 1, (Problem("newer", "c", ""),)).exit_code == 0

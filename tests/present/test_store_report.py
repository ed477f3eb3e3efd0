from __future__ import annotations

import json

from tests.present.build import HOSTILE
from tuibench.core.reason import because, error_text
from tuibench.core.stored import Problem, StoreReport
from tuibench.core.text import show
from tuibench.present.doctor import store_json, store_report


def test_sound_store_is_one_line() -> None:
    assert store_report(StoreReport(12, 3)) == "12 files checked, 3 read and verified: nothing is wrong\n"
    assert store_report(StoreReport(1, 1, migrated=1)) == (
        "1 file checked, 1 read and verified, 1 migrated: nothing is wrong\n"
    )


def test_remaining_problems_precede_repaired_ones() -> None:
    problems = (
        Problem("unlisted", "records/k3/a.json", None, True),
        Problem("damaged", "records/k3/b.json", error_text("crc")),
    )
    assert store_report(StoreReport(9, 9, problems)).splitlines() == [
        "PROBLEM records/k3/b.json: damaged: crc",
        "repaired records/k3/a.json: not listed",
        "9 files checked, 9 read and verified: 1 problem left, 1 repaired",
    ]
    assert store_report(StoreReport(9, 9, problems[:1])).endswith("1 problem repaired, none left\n")


def test_repairable_problems_are_reported() -> None:
    found = (Problem("damaged", "hosts/h/tuibench.json", error_text("not JSON"), mendable=True),)
    ending = "repairs the rest; no saved data is deleted."
    last = store_report(StoreReport(2, 2, found)).splitlines()[-1]
    assert last == f"tuibench store check --read-data --repair {ending}"
    last = store_report(StoreReport(2, 0, found, partial=True)).splitlines()[-1]
    assert last == f"tuibench store check --repair {ending}"
    for kind in ("newer", "damaged"):
        assert "--repair" not in store_report(StoreReport(2, 0, (Problem(kind, "x.json", None),)))


def test_unread_part_is_not_called_sound() -> None:
    within = "in what was read (--read-data reads all)\n"
    assert store_report(StoreReport(9, 3, partial=True)).endswith(f": nothing is wrong {within}")
    mended = (Problem("unlisted", "a.json", None, True),)
    assert store_report(StoreReport(9, 3, mended, partial=True)).endswith(f": 1 problem repaired, none left {within}")


def test_files_of_a_newer_version_are_no_problem() -> None:
    lines = store_report(StoreReport(9, 9, (Problem("newer", "a.json", because("left_to_newer")),))).splitlines()
    assert lines == [
        "newer a.json: left to a newer version: written by a newer version: it is left as it is",
        "9 files checked, 9 read and verified, 1 left to a newer version: nothing is wrong",
    ]


def test_terminal_gets_short_lines_with_whole_paths() -> None:
    path = f"hosts/{'0' * 16}/records/ab/{'A' * 26}.json"
    kept = f"hosts/{'0' * 16}/quarantine/{'A' * 26}.json.20260921T141320Z"
    found = (
        Problem(
            "damaged",
            path,
            because("damaged_file", why=because("not_json"), kept=kept, has_previous=False, run="", repaired=True),
        ),
        Problem("stale", "b", None),
    )
    report = StoreReport(9, 9, found, partial=True)
    lines = store_report(report, width=80).splitlines()
    assert lines == [
        f"PROBLEM {path}",
        "    damaged: not JSON; kept as",
        f"    {kept};",
        "    it has no previous version",
        "PROBLEM b: out of date",
        "9 files checked, 9 read and verified: 2 problems left",
    ]
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)
    assert len(store_report(report).splitlines()) == 3
    assert store_report(StoreReport(9, 3, partial=True), width=80).splitlines() == [
        "9 files checked, 3 read and verified: nothing is wrong in what was read",
        "(--read-data reads all)",
    ]


def test_hostile_names_are_safe_and_json_is_complete() -> None:
    report = StoreReport(1, 0, (Problem(HOSTILE, HOSTILE, error_text(HOSTILE + "x" * 5000)),))
    for line in store_report(report).splitlines():
        assert show(line, 10_000) == line
    assert store_report(report, ascii_only=True).isascii()
    loaded = json.loads(store_json(report))
    assert loaded["problems"][0]["path"] == HOSTILE and loaded["exit_code"] == 6


def test_exit_code_follows_the_common_table() -> None:
    mended, left = Problem("unlisted", "a", None, True), Problem("damaged", "b", None)
    codes = [StoreReport(1, 1, problems).exit_code for problems in ((), (mended,), (mended, left), (left,))]
    assert codes == [0, 0, 6, 6]
    assert StoreReport(1, 1, (Problem("newer", "c", None),)).exit_code == 0

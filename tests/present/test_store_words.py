"""Notices, findings and errors of the store in words: the file is named once, and private places can be left out."""

from __future__ import annotations

import pytest

from tuibench.core.errors import StoreBusy, StoreReadOnly
from tuibench.core.reason import Reason, because, error_text
from tuibench.present.error.words import hint_words, message_words
from tuibench.present.reason import reason_words
from tuibench.store.disk import cannot_show, damaged, drop_name, refuse_newer

FILE = "projects/a.json"
AGAIN = "tuibench resume mz0n --finish saves it again from the journal of its run"
LATER = "; the next change keeps a copy of it in quarantine"
LOST = {"has_previous": False, "run": "01M3250VZ80009WDVSQ5ZMMZ0N"}


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (because("previous_used", name=FILE, why=because("not_json")),
         "projects/a.json is damaged (not JSON): its previous version is used"),
        (because("index_missing", name="tuibench.json", records=4),
         "tuibench.json is not there: the index is made from the 4 records themselves"),
        (because("index_damaged", name="tuibench.json", records=4),
         "tuibench.json is not as it was written: the index is made from the 4 records themselves" + LATER),
        (because("damaged_file", why=because("not_json"), kept="", repaired=False, has_previous=True, run=""),
         "not JSON; its previous version is intact"),
        (because("damaged_file", why=because("not_json"), kept="quarantine/a", repaired=True, **LOST),
         "not JSON; kept as quarantine/a; it has no previous version; " + AGAIN),
        (because("record_not_found", repaired=False, run=LOST["run"]),
         "in the index, but the record is missing; after a repair " + AGAIN),
        (because("record_not_found", repaired=True, run=""), "in the index, but the record is missing"),
        (because("moved_aside", why=because("without_record"), kept="quarantine/a"),
         "without a record: kept as quarantine/a"),
        (because("moved_aside", why=because("without_record"), kept=""), "without a record"),
        (because("index_row_invalid", why=because("column_invalid", column="cells", is_number=True)),
         "it contains an invalid row: cells of a row is not a number"),
        (because("little_room", bytes=1_000_000, needed_bytes=32 << 20),
         "only 1.00 MB left on the store's disk, of 33.6 MB that a sweep may need"),
        (because("store_read_only", root=""), "the store is read-only: the data directory"),
        (because("store_path_blocked", name=".", why=because("not_directory")),
         "the directory of the store: not a directory"),
        (because("store_call_failed", name="/elsewhere/a", why=error_text("Input/output error")),
         "/elsewhere/a: Input/output error"),
    ],
)  # fmt: skip
def test_words_of_the_store(reason: Reason, words: str) -> None:
    assert reason_words(reason) == words


@pytest.mark.parametrize(
    ("reason", "whole", "alone"),
    [
        (damaged(FILE, because("not_json")).reason, "projects/a.json of the store is damaged: not JSON", "not JSON"),
        (refuse_newer(FILE, 9, "9.9").reason,
         "projects/a.json of the store was written by tuibench 9.9 (schema 9): this version can read but not change it",
         "written by tuibench 9.9 (schema 9): this version can read but not change it"),
        (cannot_show(FILE, 9, "").reason,
         "projects/a.json of the store was written by a newer tuibench (schema 9): this version cannot show it",
         "written by a newer tuibench (schema 9): this version cannot show it"),
    ],
)  # fmt: skip
def test_report_of_a_file_does_not_name_it_twice(reason: Reason, whole: str, alone: str) -> None:
    assert reason_words(reason) == whole
    assert reason_words(drop_name(reason, FILE)) == alone
    assert drop_name(reason, "projects/b.json") == reason


def test_lock_owner_on_another_machine_is_named() -> None:
    busy = StoreBusy("store_busy", pid=7, host="far\x1b[2J", command="tuibench", s=14.2, since="14:13:16")
    assert message_words(busy) == "the store is busy: pid 7 on far\\e[2J, tuibench, for 14 s, since 14:13:16 UTC"
    stopped = StoreBusy("store_holder_suspended", pid=7, host="", command="tuibench", s=14.2, since="14:13:16")
    assert message_words(stopped).endswith("since 14:13:16 UTC; it is suspended") and "-CONT 7" in hint_words(stopped)


def test_place_without_a_store_is_named_with_its_cause() -> None:
    refused = StoreReadOnly("no_place_for_store", root="/x", why=error_text("Permission denied"))
    assert message_words(refused) == "no store can be made in /x: Permission denied"

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.refusal import refused
from tests.store.data import make_id
from tuibench.core.errors import UnknownId
from tuibench.core.stored import BenchmarkRow
from tuibench.present.error.words import hint_words, message_words
from tuibench.services.library import find_row


def row(number: int, name: str = "", rerun_of: str = "") -> BenchmarkRow:
    return BenchmarkRow(
        id=make_id(number), host="", started_utc="", status="finished", models="", model_sha256="", engines="",
        scenarios="", cores="", batches="", cells=1, measured=1, headline="", grade="", foreign="", name=name,
        rerun_of=rerun_of,
    )  # fmt: skip


ROWS = (
    row(7, "café"),
    row(5, "night", rerun_of=make_id(3)),
    row(3, "day"),
    row(4, "night"),
    row(2, "last"),
    row(1, "0007"),
)


@pytest.mark.parametrize(
    ("token", "number"),
    [
        (make_id(3), 3),
        (make_id(3).lower(), 3),
        ("0003", 3),
        ("003", 3),
        (make_id(5)[:11], 5),
        ("last", 7),
        ("LAST~1", 5),
        ("0005~", 3),
        ("last~1~", 3),
        (" 0002 ", 2),
        ("café", 7),
        ("cafe\u0301", 7),
    ],
)
def test_every_id_form_and_unique_name_resolves(token: str, number: int) -> None:
    assert find_row(token, ROWS).id == make_id(number)


def test_displayed_short_id_wins_over_an_equal_name() -> None:
    assert find_row("0007", ROWS).id == make_id(7)
    assert find_row("0007", ROWS[1:]).id == make_id(1), "nothing else has that id, so it is the name"


def test_ambiguous_name_lists_the_ids() -> None:
    with refused(UnknownId, "several_called", given="night", count=2, names=["0005", "0004"]):
        find_row("night", ROWS)
    many = [replace(ROWS[3], id=make_id(n)) for n in range(30, 20, -1)]
    with refused(UnknownId, "several_called", count=10) as caught:
        find_row("night", many)
    assert hint_words(caught.value).endswith(" and 2 more")


def test_name_inherited_by_reruns_means_the_newest() -> None:
    first, second, third = row(1, "night"), row(2, "night", make_id(1)), row(3, "other", make_id(2))
    fourth = row(4, "night", make_id(3))
    assert find_row("night", (fourth, third, second, first)).id == make_id(4)
    assert find_row("night", (second, first)).id == make_id(2)
    assert find_row("night", (fourth, third, second)).id == make_id(4), "though the first was removed"
    with pytest.raises(UnknownId):
        find_row("night", (fourth, third, second, first, row(0, "night")))
    circle = (row(2, "night", make_id(1)), row(1, "night", make_id(2)))
    with pytest.raises(UnknownId):
        find_row("night", circle)


@pytest.mark.parametrize("token", ["zzzz", "nigh", "", "last~9", "0007~", "\x1b[31m"])
def test_unknown_or_ambiguous_id_error_is_printable(token: str) -> None:
    with pytest.raises(UnknownId) as caught:
        find_row(token, ROWS)
    assert message_words(caught.value).isprintable() and caught.value.exit_code == 2


def test_rerun_of_a_removed_benchmark_reports_the_removal() -> None:
    with refused(UnknownId, "original_removed", given="0005~"):
        find_row("0005~", [one for one in ROWS if one.id != make_id(3)])

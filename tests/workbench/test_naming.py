from __future__ import annotations

from dataclasses import replace

import pytest

from tests.store.data import make_id
from tuibench.core.card import BenchmarkRow
from tuibench.core.errors import UnknownId
from tuibench.workbench.naming import find_row


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
def test_every_form_of_an_id_and_a_name_of_one_alone(token: str, number: int) -> None:
    assert find_row(token, ROWS).id == make_id(number)


def test_what_stands_on_screen_as_an_id_is_one_whatever_is_called_so() -> None:
    assert find_row("0007", ROWS).id == make_id(7)
    assert find_row("0007", ROWS[1:]).id == make_id(1), "nothing else has that id, so it is the name"


def test_a_name_of_several_lists_their_ids() -> None:
    with pytest.raises(UnknownId) as caught:
        find_row("night", ROWS)
    assert caught.value.message == "2 benchmarks are called night"
    assert caught.value.hint == "Type the id of one: 0005, 0004"
    many = [replace(ROWS[3], id=make_id(n)) for n in range(30, 20, -1)]
    with pytest.raises(UnknownId, match="10 benchmarks") as caught:
        find_row("night", many)
    assert caught.value.hint.endswith(" and 2 more")


def test_a_name_that_re_runs_have_inherited_means_the_newest_of_them() -> None:
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
def test_nothing_or_too_much_is_refused_in_printable_words(token: str) -> None:
    with pytest.raises(UnknownId) as caught:
        find_row(token, ROWS)
    assert caught.value.message.isprintable() and caught.value.exit_code == 2


def test_a_re_run_of_what_was_removed_says_so() -> None:
    with pytest.raises(UnknownId, match="was removed"):
        find_row("0005~", [one for one in ROWS if one.id != make_id(3)])

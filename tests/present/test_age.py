from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuibench.present.ages import age, moment_words

THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        ({"seconds": -500}, "now"), ({"seconds": 59}, "now"), ({"seconds": 60}, "1m"), ({"minutes": 59}, "59m"),
        ({"minutes": 60}, "1h"), ({"hours": 23}, "23h"), ({"hours": 24}, "1d"), ({"days": 99}, "99d"),
        ({"days": 100}, "2026-01"),
    ],
)  # fmt: skip
def test_age_uses_the_largest_unit_that_fits(passed: dict[str, int], words: str) -> None:
    assert age("2026-01-02T03:04:05Z", (THEN + timedelta(**passed)).timestamp()) == words


def test_page_shows_timestamp_and_age() -> None:
    now = THEN.timestamp()
    assert moment_words("2026-01-02T03:04:05Z", now + 7200) == "2026-01-02 03:04:05 UTC (2h ago)"
    assert moment_words("2026-01-02T03:04:05Z", now) == "2026-01-02 03:04:05 UTC (just now)"
    assert moment_words("2026-01-02T04:04:05+01:00", now + 9e7) == "2026-01-02 03:04:05 UTC"


@given(st.text() | st.sampled_from(["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-13-01"]))
def test_age_of_any_text_raises_nothing(text: str) -> None:
    assert age(text, 1.8e9).isprintable()
    assert moment_words(text, 1.8e9).isprintable()


def test_invalid_time_has_no_age() -> None:
    assert (age("", 0.0), age("soon\x1b[31m", 0.0), moment_words("soon", 0.0)) == ("-", "-", "")

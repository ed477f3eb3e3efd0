from __future__ import annotations

import pytest

from tests.refusal import refused
from tuibench.core.errors import UsageError
from tuibench.core.settings import kinds as value
from tuibench.present.error.words import message_words


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("[1,3,224,224]", ((1, 3, 224, 224),)),
        ("[1,2],[3]", ((1, 2), (3,))),
        ("[1, 2], [3]", ((1, 2), (3,))),
        ("[]", ((),)),
        ("[],[2]", ((), (2,))),
    ],
)
def test_shapes_are_read(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    assert value.shapes("-shapes", text) == shapes


@pytest.mark.parametrize(
    "text", ["", "1,2", "[1,2", "[1][2]", "[1,-2]", "[a]", "[1,]", "x[1]", "[1],", "[99999999999]"]
)
def test_wrong_shapes_are_refused_with_an_example(text: str) -> None:
    with refused(UsageError, "not_shapes", subject="-shapes", given=text) as caught:
        value.shapes("-shapes", text)
    assert "one shape per input such as [1,3,224,224]" in message_words(caught.value)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("8GB", 8_000_000_000),
        ("512MiB", 512 * 2**20),
        ("1.5g", 1_500_000_000),
        ("2000000", 2_000_000),
        ("2 Gi", 2**31),
        (str(2**60), 2**60),
        (str(10**18), 10**18),
    ],
)
def test_sizes_are_read(text: str, count: int) -> None:
    assert value.size("--memory-limit", text) == count


@pytest.mark.parametrize("text", ["", "0", "-1", "8 apples", "1kB", "nan", "GB"])
def test_wrong_sizes_are_refused(text: str) -> None:
    with refused(UsageError, "not_a_size", subject="--memory-limit", given=text):
        value.size("--memory-limit", text)


def test_percent_takes_the_sign_and_becomes_a_fraction() -> None:
    assert value.percent("--target", "2%") == value.percent("--target", "2") == 0.02
    for bad in ("0", "101", "nan", "-1", "%", "two"):
        with refused(UsageError, "not_in_range", unit="percent", low=0.01, high=100.0, given=bad):
            value.percent("--target", bad)


@pytest.mark.parametrize("text", ["inf", "nan", "-1", "1_0", "", "１", "0", "1e9", "ten"])
def test_wrong_seconds_name_the_range(text: str) -> None:
    with refused(UsageError, "not_in_range", subject="-t", unit="seconds", low=0.001, high=86_400, given=text):
        value.Decimal(0.001, 86_400, "seconds")("-t", text)


def test_seconds_take_fractions() -> None:
    assert value.Decimal(0.001, 86_400, "seconds")("-t", ".5") == 0.5

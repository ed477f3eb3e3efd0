from __future__ import annotations

from typing import Any

import pytest

from tests.runs.profile_script import COSTS, LOSSES, ROOFLINE, ZEROS, make_run
from tuibench.core.profile import Roofline
from tuibench.core.record import fits, from_plain, strictly, to_plain


@pytest.mark.parametrize("value", [COSTS, ROOFLINE, ZEROS, make_run(), *LOSSES])
def test_own_values_pass_the_strict_check(value: Any) -> None:
    assert strictly(type(value))(to_plain(value)) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cores", "2"),
        ("cores", None),
        ("cores", True),
        ("cores", 2.0),
        ("f32_gflops", "x"),
        ("f32_gflops", float("inf")),
        ("f32_gflops", float("nan")),
        ("dram_gb_s", [1.0]),
        ("cache_gb_s", [["a", 1.0]]),
        ("cache_gb_s", [[1, None]]),
        ("cpu", None),
    ],
)
def test_value_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match="no Roofline"):
        strictly(Roofline)(to_plain(ROOFLINE) | {name: value})
    assert strictly(Roofline)(to_plain(ROOFLINE) | {"f32_gflops": 3}).f32_gflops == 3.0


def test_strict_check_covers_every_level() -> None:
    assert fits(dict[str, tuple[int, str]], {"a": (1, "b")}) and fits(Any, object())
    assert not fits(dict[str, tuple[int, str]], {"a": (1, 2)}) and not fits(dict[str, int], {1: 1})
    assert not fits(tuple[int, str], (1, "b", 2)) and not fits(tuple[int, ...], [1])
    assert not fits(Roofline, ZEROS) and fits(Roofline | None, from_plain(Roofline, to_plain(ROOFLINE)))

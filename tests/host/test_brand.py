from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tuibench.host.brand import Brand, ask_cpuinfo, read_brand


@pytest.mark.parametrize(
    ("answer", "brand"),
    [
        (
            {"brand_raw": "Neoverse-N1", "flags": ["asimddp", "fp", "sve"], "l3_cache_size": 1},
            Brand("Neoverse-N1", ("asimddp", "sve")),
        ),
        ({"brand_raw": 7, "flags": "sve"}, Brand(None, ())),
        ({}, Brand(None, ())),
        ([], Brand(None, ())),
    ],
)
def test_brand_and_flags_are_taken_where_they_have_the_form(answer: Any, brand: Brand) -> None:
    assert read_brand(lambda: answer) == brand


def test_whatever_py_cpuinfo_raises_the_brand_is_only_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = types.ModuleType("cpuinfo")

    def explode() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(broken, "get_cpu_info", explode, raising=False)
    monkeypatch.setitem(sys.modules, "cpuinfo", broken)
    assert ask_cpuinfo() == {}

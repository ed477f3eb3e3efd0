from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tuibench.host.cpu import Brand, ask_cpuinfo, read_brand

BOOT = "5b1d9a4e-0000-4000-8000-000000000001"
ANSWER = {"brand_raw": "Neoverse-N1", "flags": ["asimddp", "fp", "sve"], "l3_cache_size": 1}


class Asked:
    """Counts calls of the slow lookup."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> Mapping[str, Any]:
        self.times += 1
        return self.answer


def test_brand_is_cached_until_the_next_boot(tmp_path: Path) -> None:
    asked = Asked(ANSWER)
    for _ in range(2):
        assert read_brand(BOOT, tmp_path / "c", asked) == Brand("Neoverse-N1", ("asimddp", "sve"))
    assert asked.times == 1
    read_brand(BOOT.replace("1", "2"), tmp_path / "c", asked)
    assert asked.times == 2


@pytest.mark.parametrize("damage", [b"", b"[1]", b"{", b'{"brand_raw": 7}', b"\xff", b"[" * 100_000])
def test_damaged_brand_cache_is_replaced(tmp_path: Path, damage: bytes) -> None:
    asked = Asked(ANSWER)
    read_brand(BOOT, tmp_path, asked)
    (tmp_path / f"cpu-{BOOT}.json").write_bytes(damage)
    for _ in range(2):
        assert read_brand(BOOT, tmp_path, asked).brand == "Neoverse-N1"
    assert asked.times == 2


def test_brand_cache_that_cannot_be_written_is_harmless(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = Asked(ANSWER)
    assert read_brand(BOOT, tmp_path / "file" / "below", asked).brand == "Neoverse-N1"
    assert read_brand(BOOT, None, asked).brand == "Neoverse-N1"
    assert read_brand(None, tmp_path, asked).brand == "Neoverse-N1"
    assert read_brand("../../etc/x", tmp_path, asked).brand == "Neoverse-N1"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_empty_brand_is_not_cached(tmp_path: Path) -> None:
    asked = Asked({})
    assert read_brand(BOOT, tmp_path, asked) == Brand(None, ())
    assert list(tmp_path.iterdir()) == []


def test_failed_brand_cache_write_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / f"cpu-{BOOT}.json").mkdir()
    assert read_brand(BOOT, tmp_path, Asked(ANSWER)).brand == "Neoverse-N1"
    assert [path.name for path in tmp_path.iterdir()] == [f"cpu-{BOOT}.json"]


def test_any_py_cpuinfo_error_leaves_the_brand_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = types.ModuleType("cpuinfo")

    def explode() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(broken, "get_cpu_info", explode, raising=False)
    monkeypatch.setitem(sys.modules, "cpuinfo", broken)
    assert ask_cpuinfo() == {}

"""Machine roofs are cached for a week and returned only for the matching machine and request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.profile_script import ZEROS
from tuibench.core.profile import Roofline, ZeroEffect
from tuibench.runs.profile.cache import MachineCache, has_roofs

FOUND = Roofline(2, 100.0, None, 12.5, ((1 << 20, 80.0),))
WEEK_S = 7 * 24 * 3600.0


def test_cached_roofs_are_found_for_a_week(tmp_path: Path) -> None:
    now = [0.0]
    cache = MachineCache(str(tmp_path), "a CPU, engine 1", lambda: now[0])
    cache.put("roofline", 2, FOUND)
    (file,) = (tmp_path / "roofs").iterdir()
    now[0] = file.stat().st_mtime + WEEK_S - 60
    assert cache.get("roofline", 2, Roofline) == FOUND
    now[0] += 120
    assert cache.get("roofline", 2, Roofline) is None


def test_forgotten_roofs_are_measured_again(tmp_path: Path) -> None:
    cache = MachineCache(str(tmp_path), "a CPU")
    cache.put("roofline", 2, FOUND)
    cache.put("zeros", 2, ZEROS)
    cache.forget("roofline", 2)
    cache.forget("roofline", 8)
    assert cache.get("roofline", 2, Roofline) is None and cache.get("zeros", 2, ZeroEffect) == ZEROS


@pytest.mark.parametrize(
    ("part", "cores", "machine"), [("zeros", 2, "a CPU"), ("roofline", 1, "a CPU"), ("roofline", 2, "b")]
)
def test_other_requests_find_no_roofs(tmp_path: Path, part: str, cores: int, machine: str) -> None:
    MachineCache(str(tmp_path), "a CPU").put("roofline", 2, FOUND)
    assert MachineCache(str(tmp_path), machine).get(part, cores, Roofline) is None
    assert MachineCache(str(tmp_path), "a CPU").get("roofline", 2, Roofline) == FOUND


def test_estimates_know_if_roofs_are_valid_for_a_core_count(tmp_path: Path) -> None:
    assert not has_roofs(str(tmp_path), 2)
    MachineCache(str(tmp_path), "a CPU").put("roofline", 2, FOUND)
    MachineCache(str(tmp_path), "a CPU").put("zeros", 4, ZEROS)
    (file,) = (tmp_path / "roofs").glob("roofline-*")
    at = file.stat().st_mtime
    assert has_roofs(str(tmp_path), 2, lambda: at + 60) and not has_roofs(str(tmp_path), 4, lambda: at + 60)
    assert not has_roofs(str(tmp_path), 2, lambda: at + WEEK_S + 60)


def test_roofs_of_another_kind_are_not_found(tmp_path: Path) -> None:
    cache = MachineCache(str(tmp_path), "a CPU")
    cache.put("zeros", 2, FOUND)
    assert cache.get("zeros", 2, ZeroEffect) is None
    cache.put("roofline", 2, replace(FOUND, f32_gflops="x"))  # type: ignore[arg-type] # as somebody else may have
    assert cache.get("roofline", 2, Roofline) is None


def test_nothing_is_kept_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = MachineCache(None, "a CPU")
    cache.put("roofline", 2, FOUND)
    cache.forget("roofline", 2)
    assert cache.get("roofline", 2, Roofline) is None and not list(tmp_path.iterdir())

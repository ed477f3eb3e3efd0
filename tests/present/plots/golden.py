"""Reviewed figures, kept as text."""

from __future__ import annotations

import os
from pathlib import Path

GOLDENS = Path(__file__).resolve().parents[2] / "goldens" / "plots"


def check(name: str, seen: str) -> None:
    """Compare a figure with the kept one; with UPDATE_GOLDENS=1, keep the new one for review and commit."""
    path = GOLDENS / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDENS") == "1":
        assert not os.environ.get("CI"), "figures are kept by somebody who has looked at them"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(seen + "\n", encoding="utf-8")
    assert path.exists(), f"no figure is kept as {path.name}: UPDATE_GOLDENS=1 keeps this one\n{seen}"
    assert seen + "\n" == path.read_text(encoding="utf-8"), f"{path.name} is another\n{seen}"

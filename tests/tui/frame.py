"""The screen as plain text, and the comparison of a screen with its kept frame."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from textual.app import App

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "tui"


def frame(app: App[Any]) -> str:
    """Return the whole terminal, one line per row, without trailing blanks."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


def rows(app: App[Any]) -> list[str]:
    """Return the terminal's rows as a list."""
    return frame(app).splitlines()


def check_frame(app: App[Any], name: str) -> None:
    """Compare the terminal with the kept frame `name`, such as home-80x24.

    UPDATE_GOLDENS=1 replaces the kept frame, except on a build machine, where nobody reviews it.
    """
    path = GOLDENS / f"{name}.txt"
    seen = frame(app)
    if os.environ.get("UPDATE_GOLDENS") == "1":
        assert not os.environ.get("CI"), "frames are kept by somebody who has looked at them"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    assert path.exists(), f"no frame is kept as {path.name}: UPDATE_GOLDENS=1 keeps this one\n{seen}"
    kept = path.read_text(encoding="utf-8")
    assert seen == kept, f"{path.name} is another\n{seen}"

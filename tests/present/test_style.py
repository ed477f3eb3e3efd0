from __future__ import annotations

from tuibench.core.text import to_ascii


def test_ascii_keeps_the_meaning() -> None:
    assert to_ascii("1.9 µs ±2 % · 2×8 é") == "1.9 us +-2 % | 2x8 \\xe9"

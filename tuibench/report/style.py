"""ASCII replacements for plain text, and the width functions of reports."""

from __future__ import annotations

from tuibench.core.width import fit, fit_apart, fit_end, fit_middle, pad, width_of

__all__ = ["fit", "fit_apart", "fit_end", "fit_middle", "pad", "to_ascii", "width_of"]

_ASCII = str.maketrans(
    {
        "µ": "u",
        "±": "+-",
        "·": "|",
        "×": "x",
        "…": "...",
        "–": "-",
        "—": "-",
        "→": "->",
        "✓": "ok",
        "✗": "x",
        "≤": "<=",
        "≥": ">=",
        "Δ": "d",
        "█": "#",
    }
)


def to_ascii(text: str) -> str:
    """Return `text` for terminals and logs limited to ASCII; characters without a replacement are escaped."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")

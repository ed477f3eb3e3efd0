"""Key names: converts between the config file's spelling, Textual's spelling and the displayed one."""

from __future__ import annotations

import string
import unicodedata

_MODIFIERS = ("alt", "ctrl", "shift")
"""In Textual's order."""
_NAMED = frozenset(
    {
        *("enter", "tab", "space", "escape", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
        *("left", "right", "up", "down"),
        *(f"f{number}" for number in range(1, 25)),
    }
)
_EDITING = frozenset({"space", "backspace", "delete", "left", "right", "home", "end", "ctrl+d", "ctrl+u"})
_ALSO = {"esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown"}
_SHORTER = {
    "SOLIDUS": "slash", "REVERSE SOLIDUS": "backslash", "COMMERCIAL AT": "at", "HYPHEN-MINUS": "minus",
    "PLUS SIGN": "plus", "LOW LINE": "underscore",
}  # fmt: skip
_SAME = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+j": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
"""A terminal sends the same byte for both."""
_WRITTEN = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}


def _name_of(sign: str) -> str:
    name = unicodedata.name(sign)
    return _SHORTER.get(name, name.lower().replace("-", "_").replace(" ", "_"))


_SIGNS = {_name_of(sign): sign for sign in string.punctuation}


def spelled(typed: str) -> str:
    """Return a key in Textual's spelling; '' if there is no such key."""
    *modifiers, key = _split(typed.strip())
    modifiers = sorted(word.lower() for word in modifiers)
    if len(set(modifiers)) < len(modifiers) or not set(modifiers) <= set(_MODIFIERS):
        return ""
    if len(key) == 1:
        if modifiers == ["shift"] and key.isalpha():
            return key.upper()
        key = (key.lower() if modifiers else key) if key.isalnum() else _name_of(key) if key in _SIGNS.values() else ""
    else:
        key = _ALSO.get(key.lower(), key.lower())
        key = key if key in _NAMED or key in _SIGNS else ""
    full = "+".join([*modifiers, key]) if key else ""
    return _SAME.get(full, full)


def _split(typed: str) -> list[str]:
    """Split at each plus, except a plus that is the key itself."""
    if typed == "+" or typed.endswith("++"):
        return [*typed[:-2].split("+"), "+"] if typed != "+" else ["+"]
    return typed.split("+")


def written(name: str, *, arrows: bool = True) -> str:
    """Return a key as displayed."""
    before, plus, key = name.rpartition("+")
    if arrows and not before and key in _ARROWS:
        return _ARROWS[key]
    return f"{before}{plus}{_WRITTEN.get(key, _SIGNS.get(key, key))}"


_ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}


def is_typed(name: str) -> bool:
    """Return whether the key can be part of typing into a field."""
    modified = name.startswith(("ctrl+", "alt+"))
    function = name[:1] == "f" and name[1:].isdigit()
    return not modified and not function


def is_text(name: str) -> bool:
    """Return whether a focused text field consumes the key."""
    return len(name) == 1 or name in _SIGNS or name in _EDITING

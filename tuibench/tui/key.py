"""Registry of all keys of the dashboard; bindings, footer, help, palette and docs are generated from it.

A key's id is its name in the config file; its action is `action_` plus the id, with underscores for dashes.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuibench.core import formats

if TYPE_CHECKING:
    from textual.binding import BindingType


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


@dataclass(frozen=True, slots=True)
class Key:
    """One action that keys are bound to."""

    id: str
    keys: str
    """In Textual's spelling, joined by commas."""
    word: str
    """Label for the footer."""
    text: str
    """Description in a sentence, for help and docs."""
    priority: bool = False
    """True if it takes precedence over the focused widget; for keys that are not typed into fields."""


GROUPS: dict[str, tuple[Key, ...]] = {
    "everywhere": (
        Key(
            "back",
            "escape",
            "back",
            "Close a dialog, clear the filter or the marks, or go one screen back. Never quits.",
        ),
        Key("leave", "q", "back", "Go one screen back; at home, quit. Runs continue."),
        Key("quit-now", "ctrl+q", "quit", "Quit now. Runs continue.", priority=True),
        Key("palette", "colon,ctrl+p", "palette", "Find any action by typing a part of its name."),
        Key("help", "question_mark,f1", "help", "Show the keys of this screen, and what it shows."),
        Key("undo", "u", "undo", "Restore the last removal; those of this session come first."),
        Key("system", "f2", "system", "Show this machine, its engines and its noise."),
        Key("trash", "f3", "trash", "Show what was removed and can be restored."),
    ),
    "focus": (
        Key("focus-next", "tab", "next", "Focus the next part of the screen."),
        Key("focus-previous", "shift+tab", "previous", "Focus the previous part of the screen."),
    ),
    "tab": (
        Key("tab-next", "right_square_bracket", "tab", "The next tab."),
        Key("tab-previous", "left_square_bracket", "tab", "The previous tab."),
        *(Key(f"tab-{n}", str(n), str(n), f"Tab {n}.") for n in range(1, 10)),
    ),
    "move": (
        Key("up", "up,k", "up", "One line up."),
        Key("down", "down,j", "down", "One line down."),
        Key("first", "g,home", "first", "Go to the first line."),
        Key("last", "G,end", "last", "Go to the last line."),
        Key("page-up", "pageup", "page up", "One page up."),
        Key("page-down", "pagedown", "page down", "One page down."),
        Key("half-up", "ctrl+u", "half up", "Half a page up."),
        Key("half-down", "ctrl+d", "half down", "Half a page down."),
    ),
    "open": (Key("open", "enter", "open", "Open the line under the cursor."),),
    "wide": (
        Key("wide", "w", "wide", "Show all columns, or those that fit."),
        Key("scroll-left", "left", "left", "Scroll a wide table to the left."),
        Key("scroll-right", "right", "right", "Scroll a wide table to the right."),
    ),
    "list": (
        Key("filter", "slash", "filter", "Show only lines with all of these words."),
        Key("sort", "s", "sort", "Sort by the next column."),
        Key("reverse", "S", "reverse", "Reverse the order."),
        Key("mark", "space", "mark", "Mark the line under the cursor, and go to the next."),
        Key("mark-all", "a", "mark all", "Mark all lines shown, or none."),
    ),
    "project": (
        Key("new", "n", "new", "Create a project at home, a benchmark in a project."),
        Key("copy-project", "D", "duplicate", "Create a second project with the same model."),
        Key("empty-trash", "E", "empty", "Delete everything in the trash permanently; asks for a typed word."),
    ),
    "benchmark": (
        Key("rerun", "r", "re-run", "Measure again with the same settings; asks first."),
        Key("rerun-changed", "R", "re-run+edit", "Open the form with these settings."),
        Key(
            "compare",
            "c",
            "compare",
            "Compare marked records, or a re-run with its original.",
        ),
        Key("remove", "d", "remove", "Move to the trash; a running one is cancelled first."),
        Key("edit", "e", "edit", "Change name and note."),
        Key("export", "x", "export", f"Write {formats.titles()} to a file."),
        Key("copy-command", "y", "copy command", "Copy the equivalent shell command to the clipboard and a file."),
        Key("log", "L", "log", "Show the events of the run and the output of its processes."),
    ),
    "run": (
        Key("cancel", "X", "cancel", "Cancel the run and keep what is measured; asks first."),
        Key(
            "finish",
            "p",
            "finish",
            "Finish the run after the current execution, a profile as soon as it has results.",
        ),
        Key("extend", "plus", "more time", "Extend the time limit of cells that are not precise enough yet."),
        Key("resume", "o", "resume", "Resume an interrupted run."),
    ),
    "figure": (
        Key("previous-value", "left", "value", "The previous value of the fixed axis."),
        Key("next-value", "right", "value", "The next value of the fixed axis."),
        Key("metric", "m", "metric", "The next metric: ms/item, items/s, ms/batch, efficiency."),
        Key("statistic", "t", "statistic", "The next statistic: p50, mean, floor."),
        Key("side", "f", "series", "The next series: engine, version or scenario; in a comparison, swap base and new."),
        Key("figure", "h", "figure", "The next figure."),
    ),
    "profile": (
        Key("summary-type", "m", "type", "The next type of value per layer: time, potential, FLOPs, bytes, loss."),
        Key(
            "value-display",
            "t",
            "values",
            "Show values as they are, as logarithms, or as shares of the total.",
        ),
        Key("type-previous", "left", "type", "The previous type of value per layer."),
        Key("type-next", "right", "type", "The next type of value per layer."),
    ),
    "form": (
        Key("run-form", "ctrl+r", "RUN", "Start the run, from any field.", priority=True),
        Key("complete", "tab", "complete", "Complete the typed path.", priority=True),
        Key("set-up-profiles", "ctrl+t", "profiles", "Create the project and set up its profiles.", priority=True),
        Key("next-field", "enter,down", "next", "The next field."),
        Key("previous-field", "up", "previous", "The previous field."),
    ),
    "engine": (
        Key("install-engine", "i", "install", "Install the engine under the cursor, or another release; asks first."),
        Key("cancel-install", "X", "cancel", "Cancel the installation of an engine."),
    ),
    "machine": (
        Key("look-again", "r,f5", "refresh", "Examine the machine and its noise again."),
        Key("remove-engine", "d", "remove", "Remove the engine under the cursor; asks first."),
    ),
}
KEYS = {key.id: key for group in GROUPS.values() for key in group}
ONE_WORD = {"scroll-left": "scroll", "scroll-right": "scroll"}
"""Labels for pairs of keys that the footer shows together."""

_TOGETHER = (
    ("everywhere", "focus", "tab", "move", "open", "wide", "list", "project", "benchmark", "run"),
    ("everywhere", "focus", "tab", "move", "open", "figure", "benchmark", "run"),
    ("everywhere", "focus", "tab", "move", "open", "profile", "benchmark"),
    ("everywhere", "focus", "form", "engine"),
    ("everywhere", "focus", "move", "engine", "machine"),
)
"""Groups whose keys are active on one screen at the same time."""


def bindings(*groups: str, only: Iterable[str] = ()) -> list[BindingType]:
    """Return bindings for a class's BINDINGS: those of some groups, and with `only` those of single ids."""
    from textual.binding import Binding  # deferred: the shell and the docs read the registry without Textual (130 ms)

    keys = [key for group in groups for key in GROUPS[group]] + [KEYS[each] for each in only]
    return [
        Binding(
            key.keys, key.id.replace("-", "_"), key.word,
            tooltip=key.text, id=key.id, priority=key.priority, show=False,
        )
        for key in keys
    ]  # fmt: skip


def shown(key_id: str, keymap: Mapping[str, str], ascii_only: bool = False, typing: bool = False) -> str:
    """Return the first key of an action as displayed, with the user's binding.

    While the user is `typing`, return the first key that is not text; '' if all are.
    """
    names = [name for name in _names(KEYS[key_id], keymap) if not (typing and is_text(name))]
    return written(names[0], arrows=not ascii_only) if names else ""


def all_shown(key_id: str, keymap: Mapping[str, str], ascii_only: bool = False) -> str:
    """Return all keys of an action, for help and docs."""
    return " ".join(written(name, arrows=not ascii_only) for name in _names(KEYS[key_id], keymap))


def clashes(keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return errors in the user's bindings: unknown actions, unknown keys, keys bound to two actions."""
    wrong = [f"there is no action {each}" for each in keymap if each not in KEYS]
    for key in KEYS.values():
        if key.id in keymap:
            wrong += _misspelled(key, keymap)
    for groups in _TOGETHER:
        keys = [key for group in groups for key in GROUPS[group]]
        for number, one in enumerate(keys):
            for other in keys[number + 1 :]:
                wrong += _shared(one, other, keymap)
    return tuple(dict.fromkeys(wrong))


def _misspelled(key: Key, keymap: Mapping[str, str]) -> Iterator[str]:
    for typed, name in zip(keymap[key.id].split(","), _names(key, keymap), strict=True):
        if not name:
            yield f"{key.id}: there is no key {typed.strip() or 'without a name'}"
        elif key.priority and is_typed(name) and name not in _names(key, {}):
            # A priority key would reach its action before the focused field, which could then not be typed into.
            yield f"{key.id}: {written(name, arrows=False)} is typed into fields; take one with ctrl or alt, or f1"


def _shared(one: Key, other: Key, keymap: Mapping[str, str]) -> list[str]:
    """Return errors for keys bound to both actions; keys that both have by default are decided by the focus."""
    both = set(_names(one, keymap)) & set(_names(other, keymap)) - {""}
    meant = set(_names(one, {})) & set(_names(other, {}))
    return [f"{written(name, arrows=False)} means both {one.id} and {other.id}" for name in sorted(both - meant)]


def _names(key: Key, keymap: Mapping[str, str]) -> list[str]:
    return [spelled(each) for each in (keymap.get(key.id) or key.keys).split(",")]

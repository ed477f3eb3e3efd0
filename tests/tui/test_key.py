from __future__ import annotations

import asyncio
import itertools

import pytest
from textual.app import App
from textual.binding import Binding

from tuibench.tui import key


def test_key_ids_are_unique_and_defaults_are_valid_keys() -> None:
    assert len(key.KEYS) == sum(len(group) for group in key.GROUPS.values())
    assert key.clashes({each.id: each.keys for each in key.KEYS.values()}) == ()


def test_every_key_group_is_checked_for_conflicts() -> None:
    assert {name for groups in key._TOGETHER for name in groups} == set(key.GROUPS)
    assert all("everywhere" in groups for groups in key._TOGETHER)


def test_default_keys_of_screen_are_unique_unless_focus_decides() -> None:
    shared = set()
    for groups in key._TOGETHER:
        keys = [(name, one) for group in groups for one in key.GROUPS[group] for name in one.keys.split(",")]
        shared |= {(a.id, b.id) for (m, a), (n, b) in itertools.combinations(keys, 2) if m == n and a.id != b.id}
    # Only the form knows the path being typed, and only it takes the key.
    assert shared == {("focus-next", "complete")}


def test_key_texts_are_sentences_and_labels_are_short() -> None:
    for each in key.KEYS.values():
        assert each.text[0].isupper() and each.text.endswith("."), each.id
        assert 0 < len(each.word) <= 12 and each.word.isascii() and each.text.isascii(), each.id


def test_bindings_carry_id_action_and_tooltip() -> None:
    found = [each for each in key.bindings("open", only=("help", "run-form")) if isinstance(each, Binding)]
    assert [(each.id, each.action, each.priority) for each in found] == [
        ("open", "open", False),
        ("help", "help", False),
        ("run-form", "run_form", True),
    ]
    assert found[1].tooltip == key.KEYS["help"].text and not any(each.show for each in found)


def test_keys_are_displayed_as_bound_by_user() -> None:
    assert key.shown("help", {}) == "?"
    assert key.all_shown("help", {}) == "? f1"
    assert key.all_shown("help", {"help": "ctrl+h,f1"}).split() == ["backspace", "f1"]
    assert key.shown("next-value", {}) == "→" and key.shown("next-value", {}, ascii_only=True) == "right"
    assert key.all_shown("up", {}, ascii_only=True).split() == ["up", "k"]


@pytest.mark.parametrize(
    ("keymap", "words"),
    [
        ({"frobnicate": "x"}, "there is no action frobnicate"),
        ({"remove": "frob"}, "remove: there is no key frob"),
        ({"remove": "d,"}, "remove: there is no key without a name"),
        # Two groups that a list of benchmarks has at the same time.
        ({"remove": "n"}, "n means both new and remove"),
        ({"remove": "N", "export": "N"}, "N means both remove and export"),
        ({"remove": "?"}, "? means both help and remove"),
        ({"help": "question_mark", "remove": "?"}, "? means both help and remove"),
        ({"metric": "f"}, "f means both metric and side"),
        ({"next-field": "ctrl+r"}, "ctrl+r means both run-form and next-field"),
        ({"run-form": "enter"}, "run-form: enter is typed into fields; take one with ctrl or alt, or f1"),
        ({"quit-now": "Q"}, "quit-now: Q is typed into fields; take one with ctrl or alt, or f1"),
        ({"mark": "ctrl+i"}, "tab means both focus-next and mark"),
    ],
)
def test_invalid_user_keys_are_reported(keymap: dict[str, str], words: str) -> None:
    assert words in key.clashes(keymap)


@pytest.mark.parametrize(
    "keymap",
    [
        {"remove": "ctrl+x"},
        {"remove": "n", "new": "d"},
        # Two screens that are never the same one.
        {"metric": "n"},
        {"mark": "m"},
        # Keys that both have by default may repeat.
        {"scroll-left": "left", "previous-value": "left"},
        {"run-form": "f5,ctrl+r"},
    ],
)
def test_resolvable_user_keys_are_used(keymap: dict[str, str]) -> None:
    assert key.clashes(keymap) == ()


class _Bound(App[None]):
    BINDINGS = key.bindings("benchmark", "project")

    def __init__(self, keymap: dict[str, str]) -> None:
        super().__init__()
        self.done: list[str] = []
        self.set_keymap(keymap)

    def action_remove(self) -> None:
        self.done.append("remove")

    def action_new(self) -> None:
        self.done.append("new")

    def action_copy_command(self) -> None:
        self.done.append("copy-command")


def test_user_keys_reach_bindings() -> None:
    async def press(keymap: dict[str, str], *keys: str) -> list[str]:
        app = _Bound(keymap)
        async with app.run_test() as pilot:
            await pilot.press(*keys)
        return app.done

    keymap = {"remove": "n,question_mark", "new": "d"}
    assert key.clashes(keymap | {"help": "f1"}) == ()
    assert asyncio.run(press(keymap, "d", "n", "question_mark", "y")) == ["new", "remove", "remove", "copy-command"]
    assert asyncio.run(press({}, "d", "n")) == ["remove", "new"]

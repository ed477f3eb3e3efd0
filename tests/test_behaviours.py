"""Every user-visible behaviour (commands, keys, JSON keys, config keys) is listed in tests/behaviours.txt."""

from __future__ import annotations

from tests.behaviours import LIST, list_behaviours


def test_every_behaviour_is_listed_and_every_listed_one_exists() -> None:
    listed = LIST.read_text(encoding="utf-8").splitlines()
    found = list_behaviours().splitlines()
    lost, new = sorted(set(listed) - set(found)), sorted(set(found) - set(listed))
    assert (lost, new) == ([], []), "python -m tests.behaviours writes the list anew, where a change is meant"
    assert listed == found

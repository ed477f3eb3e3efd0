from __future__ import annotations

from tests.present.build import run
from tuibench.tui.screens.detail.facts import environment_facts
from tuibench.tui.widgets.painted import UNICODE


def test_named_lists_are_written_in_full() -> None:
    caches = [{"name": "L1d", "bytes": 49152, "shared_by": 1}, {"name": "L2", "bytes": None}]
    facts = environment_facts(run(environment={"cpu": {"caches": caches, "flags": ["a", "b"], "none": []}}), UNICODE)
    said = {fact.label.strip(): fact.text for fact in facts}
    first, second = (dict(pair.split() for pair in one.split(", ")) for one in said["caches"].split("; "))
    assert first == {"name": "L1d", "bytes": "49152", "shared_by": "1"} and second == {"name": "L2", "bytes": "-"}
    assert (said["flags"].split(", "), said["none"]) == (["a", "b"], "-")

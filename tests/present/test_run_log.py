from __future__ import annotations

import pytest

from tuibench.present.progress import RunLog


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"status": "finished", "saved": True}, "finished; saved"),
        ({"status": "finished", "reason": "finished on request", "saved": True}, "finished on request; saved"),
        ({"status": "cancelled", "reason": "cancelled on request"}, "cancelled on request"),
        ({"status": "interrupted", "reason": "its runner died"}, "interrupted: its runner died"),
        ({"status": "finished", "saved": False, "why": "the store is busy"}, "finished; not saved: the store is busy"),
    ],
)
def test_end_of_a_run_is_logged_once(end: dict[str, object], words: str) -> None:
    log = RunLog(lambda _: "", lambda _: "")
    assert log.words({"ev": "run_end", **end}) == words

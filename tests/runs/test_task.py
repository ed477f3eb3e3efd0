"""Results of a child's end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tuibench.core.reason import because
from tuibench.runs import task
from tuibench.runs.task import ChildDeath, StopSwitch, call_child


@pytest.fixture
def switch() -> Iterator[StopSwitch]:
    made = StopSwitch()
    yield made
    made.close()


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (40, "signal 40")])
def test_death_by_any_signal_is_reported(
    switch: StopSwitch, monkeypatch: pytest.MonkeyPatch, number: int, name: str
) -> None:
    monkeypatch.setattr(task, "python_command", lambda *_: ["sh", "-c", f"kill -{number} $$"])
    with pytest.raises(ChildDeath) as caught:
        call_child("inspect", {}, timeout_s=60, stop=switch)
    assert (caught.value.kind, caught.value.reason, caught.value.signal) == (
        "signal",
        because("died", signal=name),
        name,
    )

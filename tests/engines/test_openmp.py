from __future__ import annotations

from typing import Any

import pytest

from tests.engines.probe import setting
from tuibench.engines.apart import read_pinning
from tuibench.engines.openmp import pool_pinning, pool_variables

NODES = ((0, 1, 4, 5), (2, 3, 6, 7))


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"pin": "core", "cpus": (2, 3, 6), "threads": 2}, "{2},{3}"),
        ({"pin": "core", "cpus": (2,), "threads": 2}, None),
        ({"pin": "numa", "cpus": (1, 2), "threads": 2, "nodes": NODES}, "{0,1,4,5},{2,3,6,7}"),
        ({"pin": "numa", "cpus": (6,), "threads": 1, "nodes": NODES}, "{2,3,6,7}"),
        ({"pin": "none", "cpus": (1, 2), "threads": 2, "nodes": NODES}, None),
    ],
)
def test_threads_are_bound_to_cores_nodes_or_nothing(changes: dict[str, Any], places: str | None) -> None:
    made = setting("m.onnx", **changes)
    found = pool_variables(made)
    assert (found.get("OMP_PLACES"), found["OMP_PROC_BIND"]) == (places, "close" if places else "false")
    assert places or pool_pinning(made) == "none"


@pytest.mark.parametrize(
    ("pin", "threads", "masks", "pinned"),
    [
        ("core", 2, [{0}], "core"),
        ("core", 3, [{0, 1, 4}, {0}, {1}], "core"),
        ("core", 4, [{0, 1, 4}, {0}, {1}], "none"),
        ("core", 2, [{0, 1}], "none"),
        ("none", 2, [{0}, {1}, {0, 1}], "core"),
        ("none", 2, [{0, 1}], "none"),
        ("numa", 2, [{0, 1}], "numa"),
        ("numa", 2, [{0, 2}], "none"),
        ("core", 2, [], "core"),
    ],
)
def test_pinning_is_read_from_the_threads(
    monkeypatch: pytest.MonkeyPatch, pin: str, threads: int, masks: list[set[int]], pinned: str
) -> None:
    made = setting("m.onnx", pin=pin, cpus=(0, 1), threads=threads, nodes=NODES)
    monkeypatch.setattr("os.sched_getaffinity", masks.__getitem__)
    assert read_pinning(range(len(masks)), made) == pinned

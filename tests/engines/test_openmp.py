from __future__ import annotations

from typing import Any

import pytest

from tests.engines.probe import setting
from tuibench.engines.openmp import pool_pinning, pool_variables

NODES = ((0, 1, 4, 5), (2, 3, 6, 7))


@pytest.mark.parametrize(
    ("changes", "places", "pinned"),
    [
        ({"pin": "core", "cpus": (2, 3, 6), "threads": 2}, "{2},{3}", "core"),
        ({"pin": "core", "cpus": (2,), "threads": 2}, None, "none"),
        ({"pin": "numa", "cpus": (1, 2), "threads": 2, "nodes": NODES}, "{0,1,4,5},{2,3,6,7}", "numa"),
        ({"pin": "numa", "cpus": (6,), "threads": 1, "nodes": NODES}, "{2,3,6,7}", "numa"),
        ({"pin": "none", "cpus": (1, 2), "threads": 2, "nodes": NODES}, None, "none"),
    ],
)
def test_threads_are_bound_to_cores_nodes_or_nothing(changes: dict[str, Any], places: str | None, pinned: str) -> None:
    made = setting("m.onnx", **changes)
    found = pool_variables(made)
    assert (found.get("OMP_PLACES"), found["OMP_PROC_BIND"]) == (places, "close" if places else "false")
    assert pool_pinning(made) == pinned

from __future__ import annotations

from tuibench.core.profile import LayerLoss, LossPoint
from tuibench.insight.loss_assembly import assemble_loss

WEIGHTS = [
    LayerLoss("a", "Conv", "", "wa", (2, 2), 4, 0, weight_sqnr_db={"int8": 40.0, "pruned 0.5": 9.0}),
    LayerLoss("b", "Gemm", "", "wb", (2, 2), 4, 0, weight_sqnr_db={"int8": 41.0}),
]


def test_points_find_their_layers_in_the_order_of_levels() -> None:
    points = {(key, level): LossPoint(level, db, 1.0, samples=2) for key, level, db in (
        ("b", "int8", 30.0), ("a", "int8", 31.0), ("a", "pruned 0.5", 20.0), ("gone", "own", 1.0),
    )}  # fmt: skip
    told = {"classes": True, "float32_db": 120, "data": "seeded", "complete": True, "notes": ["n"]}
    found = assemble_loss(WEIGHTS, points, told)
    assert found.kind == "measured" and found.data == "seeded" and found.complete and found.samples == 2
    assert found.levels == ("pruned 0.5", "int8", "own") and found.classes and found.float32_db == 120
    assert [[p.level for p in layer.points] for layer in found.layers] == [["pruned 0.5", "int8"], ["int8"], ["own"]]
    assert found.layers[0].weight == "wa" and found.layers[2].id == "gone"


def test_without_points_it_is_approximated_and_whole() -> None:
    found = assemble_loss(WEIGHTS, {}, {})
    assert found.kind == "approximated" and found.data == "" and found.complete
    assert found.levels == ("pruned 0.5", "int8") and found.samples == 0


def test_a_child_that_said_no_end_leaves_it_incomplete() -> None:
    found = assemble_loss(WEIGHTS, {("a", "int8"): LossPoint("int8", 1.0, 1.0)}, {"classes": False})
    assert found.kind == "measured" and not found.complete

from __future__ import annotations

from dataclasses import replace

from tests.present import build
from tests.present.plots import data
from tuibench.core.result import RunResult
from tuibench.core.spec import ModelSource
from tuibench.present.plots.grid import dim_key, make_grid, settle
from tuibench.present.plots.selection import Selection


def labels(run: RunResult) -> list[str]:
    return [side.label for side in make_grid(run).sides]


def test_axes_are_those_with_several_values() -> None:
    assert make_grid(data.cores_run()).axes() == ("cores", "batch")
    assert make_grid(data.batches_run()).axes() == ("batch",)
    assert make_grid(data.shapes_run()).axes() == ("shape",)
    assert make_grid(build.default_run()).axes() == () == make_grid(build.run()).axes()


def test_dims_that_change_together_are_one() -> None:
    assert make_grid(data.shapes_run()).dims == ("seq",)
    free = [data.timed_cell(1.0, dims={"h": h, "w": w}) for h in (1, 2) for w in (1, 2)]
    assert make_grid(build.run(*free)).dims == ("h", "w")
    batch_too = [data.timed_cell(1.0, batch=b, dims={"N": b}) for b in (1, 2)]
    assert make_grid(build.run(*batch_too)).dims == ()


def test_series_names_contain_only_the_distinguishing_parts() -> None:
    assert labels(data.cores_run()) == ["onnxruntime"]
    assert labels(data.two_engines()) == ["onnxruntime", "openvino"]
    both = [data.timed_cell(1.0, scenario=s, precision=p) for s in ("sync", "async") for p in ("f32", "bf16")]
    assert labels(build.run(*both)) == [f"onnxruntime {s} {p}" for s in ("sync", "async") for p in ("f32", "bf16")]
    versions = [data.timed_cell(1.0, version=v) for v in ("original", "int8")]
    assert labels(build.run(*versions)) == ["onnxruntime original", "onnxruntime int8"]


def test_models_have_the_names_their_users_gave() -> None:
    cells = data.timed_cell(1.0), data.timed_cell(1.0, model_sha256=build.OTHER_SHA)
    spec = build.spec(models=(ModelSource("a.onnx", "/a.onnx"), ModelSource("b.onnx", "/b.onnx")))
    run = build.run(*cells, spec=spec, models=(build.model(), build.model(sha256=build.OTHER_SHA)))
    assert labels(run) == ["a.onnx onnxruntime", "b.onnx onnxruntime"]
    assert labels(replace(run, models=())) == ["abababab onnxruntime", "cdcdcdcd onnxruntime"]


def test_series_of_one_name_differ_and_hostile_names_are_escaped() -> None:
    seeds = [data.timed_cell(1.0, options={"seed": "1" * 80 + end}) for end in "ab"]
    one, two = labels(build.run(*seeds))
    assert one != two and one[:40] == two[:40]
    assert "\x1b" not in "".join(labels(build.run(data.timed_cell(1.0, engine=build.HOSTILE))))


def test_streams_make_a_series_only_if_their_number_was_requested() -> None:
    cells = [data.timed_cell(1.0, scenario="async", cores=n, streams=n) for n in (1, 2, 4)]
    assert len(make_grid(build.run(*cells)).sides) == 1
    assert len(make_grid(build.run(*cells, spec=build.spec(streams=4))).sides) == 3


def test_series_keys_are_equal_in_every_run() -> None:
    first, second = make_grid(data.cores_run()), make_grid(data.two_engines())
    assert first.sides[0].key == second.sides[0].key != second.sides[1].key
    # A default number of streams adds nothing to cores; models with the same content are the same.
    assert make_grid(data.batches_run()).sides[0].key == first.sides[0].key


def test_open_batch_of_a_failed_cell_is_that_of_its_neighbours() -> None:
    open_batch = {"batch": None}
    ok = replace(build.ok_cell(asks={"cores": 1, **open_batch}), used=build.used(batch=4), items=4)
    failed = build.failed_cell({"cores": 2, **open_batch})
    assert make_grid(build.run(ok, failed)).values("batch") == (4,)


def test_open_axis_is_fixed_at_the_value_with_most_measurements() -> None:
    cells = [data.timed_cell(1.0, cores=n, batch=8) for n in (1, 2, 4)] + [data.timed_cell(1.0, cores=1, batch=1)]
    cells += [build.failed_cell({"cores": n, "batch": 2}) for n in (1, 2, 4, 8)]
    grid = make_grid(build.run(*cells))
    assert settle(grid, Selection("cores")).fixed == {"batch": 8}
    assert settle(grid, Selection("cores", fixed={"batch": 1})).fixed == {"batch": 1}
    assert settle(grid, Selection("cores", fixed={"batch": 77})).fixed == {"batch": 8}
    even = make_grid(data.cores_run())
    assert settle(even, Selection("cores")).fixed == {"batch": 1}
    assert settle(even, Selection("batch")).fixed == {"cores": 16}


def test_unknown_choices_are_replaced_and_the_others_kept() -> None:
    grid = make_grid(data.two_engines())
    settled = settle(grid, Selection(axis="sideways", sides=("gone", grid.sides[1].key), metric="latency", dim="gone"))
    assert (settled.axis, settled.sides, settled.metric, settled.dim) == ("cores", (grid.sides[1].key,), "latency", "")
    assert settle(grid, Selection(sides=("gone",))).sides == tuple(side.key for side in grid.sides)
    assert settle(make_grid(build.run()), Selection()) == Selection("cores")


def test_dim_may_have_the_name_of_an_axis() -> None:
    cells = [data.timed_cell(1.0, cores=n, dims={"cores": d}) for n in (1, 2) for d in (10, 20, 30)]
    grid = make_grid(build.run(*cells))
    assert grid.values("cores") == (1, 2) and grid.values(dim_key("cores")) == (10, 20, 30)
    assert settle(grid, Selection("shape")).fixed == {"cores": 2, "batch": 1}
    assert settle(grid, Selection("cores")).fixed == {"batch": 1, dim_key("cores"): 10}


def test_dim_that_follows_another_can_be_the_axis() -> None:
    shown = settle(make_grid(data.shapes_run()), Selection("shape", dim="mask"))
    assert (shown.dim, shown.fixed) == ("mask", {"cores": 4, "batch": 1})
